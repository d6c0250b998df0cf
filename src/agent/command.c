/* Any command line of the user's, with whatever output it has (--agent-format). */
#include "agent/adapter.h"
#include "agent/reader.h"

static const char *const none[] = { NULL };

ADAPTER_COMPLETE
const struct agent_adapter agent_adapter_command = {
	/* name, title */ "command",
	"a command line of yours",
	/* program, install */ NULL,
	NULL,
	/* tested */ NULL,
	NULL,
	/* format */ &agent_format_plain,
	/* words, bypass, model, resume, last */ none,
	none,
	NULL,
	NULL,
	none,
	/* environment, bypass_env */ none,
	none,
	/* keys, passes, credentials */ none,
	none,
	NULL,
	/* hides, sessions */ none,
	none,
	/* setup, launch, caveat */ NULL,
	NULL,
	NULL,
};
