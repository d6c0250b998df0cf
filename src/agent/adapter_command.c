/* Any command line of the user's, with whatever output it has (--agent-format). */
#include "agent/adapter.h"
#include "agent/agent_reader.h"

static const char *const none[] = { NULL };

ADAPTER_COMPLETE
const struct adapter agent_adapter_command = {
	/* name */ "command",
	/* title */ "a command line of yours",
	/* program */ NULL,
	/* install */ NULL,
	/* tested_from */ NULL,
	/* tested_below */ NULL,
	/* format */ &agent_format_plain,
	/* words */ none,
	/* bypass */ none,
	/* model */ NULL,
	/* resume */ NULL,
	/* last */ none,
	/* environment */ none,
	/* bypass_env */ none,
	/* keys */ none,
	/* passes */ none,
	/* credentials */ NULL,
	/* hides */ none,
	/* sessions */ none,
	/* setup */ NULL,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ false,
};
