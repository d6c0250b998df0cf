/* The agent's work: ask, do what is called for, tell, ask again, until the model has said its last word. */
#ifndef BUILTIN_TURN_H
#define BUILTIN_TURN_H

#include "builtin/model/completion.h"
#include "builtin/model/window.h"
#include "builtin/tool/tool.h"

enum {
	TURN_MOST = 200, /* questions to the model */
	TURN_TELL = 4, /* times the same call with the same result, after which the model is told */
	TURN_CIRCLE = 8,  /* and after which it ends */
	TURN_NUDGES = 3,  /* times in a row that it is asked to go on */
	TURN_SHRINKS = 6, /* times in a row that the conversation is cut for one question */
};

struct turn {
	struct completion *ask;
	struct tool_context *bench;
	struct window window;
	struct conversation talk;
	const char *system;
	const char *session;
	long most; /* questions */
};

/* Works to the end, and says everything on the way. Returns 0: the model has ended its turn. */
int turn_work(struct turn *turn);

#endif
