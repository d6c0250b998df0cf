/*
 * The agent's main loop: send the conversation, run the tools that the model calls, add their
 * results, and repeat until the model ends its turn.
 */
#ifndef BUILTIN_TURN_H
#define BUILTIN_TURN_H

#include "builtin/model/completion.h"
#include "builtin/model/window.h"
#include "builtin/tool/tool.h"

enum {
	TURN_MOST = 200, /* most requests to the model */
	TURN_WARN_REPEATS =
		4, /* warn the model when a call with the same result is repeated this often */
	TURN_MAX_REPEATS = 8, /* end the turn when it is repeated this often */
	TURN_NUDGES = 3,      /* most requests in a row to continue or finish */
	TURN_SHRINKS = 6,     /* most times to shorten the conversation for one request */
};

struct turn {
	struct completion *completion;
	struct tool_context *ctx;
	struct window window;
	struct conversation conversation;
	const char *system;
	const char *session;
	long most; /* requests */
};

/*
 * Runs until the model ends its turn, printing events on the way. Returns 0, or -1 if the turn
 * failed, which has been printed.
 */
int turn_run(struct turn *turn);

#endif
