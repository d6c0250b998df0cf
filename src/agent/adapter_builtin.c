/* The built-in agent, ringfence-agent (src/builtin). It needs no installation. */
#include "agent/adapter.h"
#include "agent/agent_reader.h"
#include "provider/provider.h"

static const char *const words[] = { NULL };
static const char *const bypass[] = { NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "--resume", NULL };
static const char *const last[] = { NULL };
static const char *const environment[] = { NULL };
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_OPENAI_KEY, NULL };
static const char *const passes[] = { PROVIDER_ANTHROPIC_BASE, PROVIDER_OPENAI_BASE, NULL };
static const char *const login_hosts[] = { NULL };
static const char *const hides[] = { NULL };
static const char *const sessions[] = { ".ringfence-agent", NULL };

ADAPTER_COMPLETE
const struct adapter agent_adapter_builtin = {
	/* name */ "builtin",
	/* title */ "the built-in agent",
	/* program */ "ringfence-agent",
	/* install */ "included with Ringfence",
	/* tested_from */ RINGFENCE_VERSION,
	/* tested_below */ RINGFENCE_VERSION,
	/* format */ &agent_format_events,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ resume,
	/* last */ last,
	/* environment */ environment,
	/* bypass_env */ bypass_env,
	/* keys */ keys,
	/* passes */ passes,
	/* credentials */ NULL,
	/* login_hosts */ login_hosts,
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ NULL,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ true,
};
