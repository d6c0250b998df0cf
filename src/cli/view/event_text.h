/*
 * The lines and objects that a user who follows a loop sees, and the agent's output between them.
 * event_print.h makes them of events.
 */
#ifndef CLI_VIEW_EVENT_TEXT_H
#define CLI_VIEW_EVENT_TEXT_H

#include "cli/view/agent_lines.h"
#include "cli/view/agent_text.h"
#include "cli/view/color.h"
#include "cli/view/live.h"
#include "loop/client.h"

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct event_text {
	struct client_loop *loop;
	bool json;
	bool quiet;                      /* only how the loop ends is printed */
	bool verbose;                    /* every denial is named */
	struct live *live;               /* is hidden before a line is printed; or NULL */
	uint64_t printed;                /* lines */
	unsigned int iteration, attempt; /* whose events are printed; 0 before the first */
	time_t at;                       /* of the last line printed */
	bool stops;                      /* a pause or an abort was requested */
	bool closes;                     /* the loop is over: leftovers are committed */
	bool hinted_checks, hinted_logs,
		hinted_denials; /* the command that shows more was printed */
	struct agent_text agent;
	struct agent_lines lines; /* of an agent that prints plain text */
};

/* The struct must not move between begin and end: the agent's output is printed through it. */
void event_text_begin(struct event_text *view, struct client_loop *loop, bool json);
void event_text_end(struct event_text *view);

/* Begins in the middle of an iteration: prints the agent's output from now on. */
void event_text_join(struct event_text *view);

/* Ends in the middle of an iteration: prints nothing that the agent has put out since the last
 * event_text_poll(). */
void event_text_leave(struct event_text *view);

/* Prints new output of the agent. Returns whether there was any. */
bool event_text_poll(struct event_text *view);

/* Is there an agent whose output is being printed? */
bool event_text_has_agent(const struct event_text *view);

/* An attempt begins: from now on, its agent's output is printed, until it ends. */
void event_text_begin_agent(struct event_text *view, unsigned int iteration, unsigned int attempt);
void event_text_end_agent(struct event_text *view);

/* Prints a line for people; does nothing in JSON mode. */
void event_text_paint(struct event_text *view, enum color colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define event_text_print(view, ...) event_text_paint(view, COLOR_PLAIN, __VA_ARGS__)

/* Prints an object for programs. Takes ownership of the object. */
void event_text_object(struct event_text *view, json_t *object);

#endif
