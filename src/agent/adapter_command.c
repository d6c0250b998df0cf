/* A command line from the user, with the output format given by --agent-format. */
#include "agent/adapter.h"
#include "agent/agent_reader.h"

static const char *const none[] = { NULL };

ADAPTER_COMPLETE
const struct adapter agent_adapter_command = {
	/* name */ "command",
	/* title */ "your own command line",
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
	/* login_hosts */ none,
	/* hides */ none,
	/* sessions */ none,
	/* setup */ NULL,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ false,
};
