/*
 * What the events of a loop say to whoever looks on: plain lines for a person, or objects for a program, one in a line.
 */
#ifndef CLI_VIEW_EVENT_TEXT_H
#define CLI_VIEW_EVENT_TEXT_H

#include "cli/view/agent_text.h"
#include "cli/view/color.h"
#include "loop/client.h"

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct event_text {
	struct client_loop *loop;
	bool json;
	time_t at;                       /* when something was said last */
	bool stops;                      /* somebody has asked for a pause or an end */
	bool hinted_checks, hinted_logs; /* where all that was printed is has been said */
	struct agent_text live;
};

/* It does not move until its end: what the agent does is told in between. */
void event_text_begin(struct event_text *tale, struct client_loop *loop, bool json);
void event_text_end(struct event_text *tale);

/* Tells an event of the journal. */
void event_text_event(struct event_text *tale, const struct journal_event *event);

/* Other words, for a person alone. */
void event_text_paint(struct event_text *tale, enum color colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define event_text_tell(tale, ...) event_text_paint(tale, COLOR_PLAIN, __VA_ARGS__)

/* One object, for a program. Takes it over. */
void event_text_object(struct event_text *tale, json_t *object);

#endif
