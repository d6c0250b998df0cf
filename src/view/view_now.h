/*
 * The present of a loop: its step, and in it the agent's tool call, the check and the last line
 * that it printed, or what the loop waits for.
 */
#ifndef VIEW_VIEW_NOW_H
#define VIEW_VIEW_NOW_H

#include "loop/client.h"

#include <stddef.h>
#include <stdint.h>

/* The texts come from agents and checks: they are untrusted, and not escaped. */
struct view_now {
	enum loop_step step;
	const char *status;  /* client_status() */
	enum loop_wish wish; /* a pause or an abort was requested */
	int64_t since_ms;    /* when this step began */
	uint32_t iteration;  /* 0 before the first one */
	uint32_t attempt;    /* from 1 */
	const char *agent;   /* that works in this step: its name; NULL: none, or a command */
	char *doing; /* its last tool call or message, or the last line of its output; or NULL */
	const char *check;      /* the command of the check that runs, or NULL */
	const char *check_file; /* its logs: iterations/N/FILE-NUMBER.stdout.log */
	size_t check_number;    /* from 1; in the step `mutants`, of the change that is tried */
	size_t check_count;
	char *line;       /* the last line that the check has printed, or NULL */
	int64_t until_ms; /* of a wait, or 0 */
	char *reason;     /* of a wait, a pause or the end; or NULL */
};

/* Reads what happens in a loop whose journal could be read. Names in it belong to the loop. */
void view_now_read(const struct client_loop *loop, struct view_now *ret_now);
void view_now_release(struct view_now *now);

#endif
