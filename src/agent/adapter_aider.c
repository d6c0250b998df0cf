/*
 * aider, as documented; not run in our tests. It prints text for people and its sessions have no
 * ids.
 */
#include "agent/adapter.h"
#include "agent/agent_reader.h"
#include "provider/provider.h"

static const char *const words[] = { "--message-file",    "/dev/stdin",          "--no-pretty",
				     "--no-stream",       "--no-auto-commits",   "--no-gitignore",
				     "--no-check-update", "--analytics-disable", NULL };
static const char *const bypass[] = { "--yes-always", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const last[] = { NULL };
/* Keeps its history files out of the project. */
static const char *const environment[] = { "AIDER_CHAT_HISTORY_FILE=/tmp/aider.chat.history.md",
					   "AIDER_INPUT_HISTORY_FILE=/tmp/aider.input.history",
					   NULL };
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_OPENAI_KEY,
				    PROVIDER_GEMINI_KEY, "OPENROUTER_API_KEY", NULL };
static const char *const passes[] = { "OPENAI_API_BASE", "ANTHROPIC_API_BASE", NULL };
static const char *const login_hosts[] = { NULL };
static const char *const hides[] = { ".aider.conf.yml", ".aider.model.settings.yml", NULL };
static const char *const sessions[] = { NULL };

ADAPTER_COMPLETE
const struct adapter agent_adapter_aider = {
	/* name */ "aider",
	/* title */ "aider",
	/* program */ "aider",
	/* install */ "pipx install aider-chat",
	/* tested_from */ NULL,
	/* tested_below */ NULL,
	/* format */ &agent_format_plain,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ NULL,
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
	/* caveat */ "written from its documentation; not covered by our tests",
	/* own */ false,
};
