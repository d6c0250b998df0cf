/*
 * What the events of a loop say to whoever looks on: plain lines for a person, or objects for a program, one in a line.
 */
#ifndef CLI_TALE_H
#define CLI_TALE_H

#include "cli/live.h"
#include "cli/paint.h"
#include "loop/client.h"

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct tale {
	struct client_loop *loop;
	bool json;
	time_t at;                       /* when something was said last */
	bool stops;                      /* somebody has asked for a pause or an end */
	bool hinted_checks, hinted_logs; /* where all that was printed is has been said */
	struct live live;
};

/* It does not move until its end: what the agent does is told in between. */
void tale_begin(struct tale *tale, struct client_loop *loop, bool json);
void tale_end(struct tale *tale);

/* Tells an event of the journal. */
void tale_event(struct tale *tale, const struct store_event *event);

/* Other words, for a person alone. */
void tale_paint(struct tale *tale, enum paint colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define tale_tell(tale, ...) tale_paint(tale, PAINT_PLAIN, __VA_ARGS__)

/* One object, for a program. Takes it over. */
void tale_object(struct tale *tale, json_t *object);

#endif
