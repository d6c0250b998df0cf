/*
 * PatchPal, as documented; not run in our tests. Its program needs a terminal, so this uses its
 * Python interface, run by the interpreter named in the program's first line.
 */
#include "agent/adapter.h"
#include "agent/agent_reader.h"
#include "provider/provider.h"

static const char *const words[] = { NULL };
static const char *const bypass[] = { NULL };
static const char *const last[] = { NULL };
static const char *const environment[] = { NULL };
static const char *const bypass_env[] = { "PATCHPAL_REQUIRE_PERMISSION=false", NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_OPENAI_KEY,
				    "HOSTED_VLLM_API_KEY", NULL };
static const char *const passes[] = { "PATCHPAL_MODEL", "HOSTED_VLLM_API_BASE", NULL };
static const char *const login_hosts[] = { NULL };
static const char *const hides[] = { ".patchpal", NULL };
static const char *const sessions[] = { NULL };
static const char *const model[] = { "--model", NULL };

/* Replaces the program and its arguments with those of the interpreter. */
static const char launch[] = "if [ \"${2:-}\" = --model ]; then export PATCHPAL_MODEL=\"$3\"; fi\n"
			     "python=$(sed -n '1s/^#![[:space:]]*//p' \"$1\")\n"
			     "exec ${python:-python3} -c 'import sys\n"
			     "from patchpal.agent import create_agent\n"
			     "print(create_agent().run(sys.stdin.read()))'";

ADAPTER_COMPLETE
const struct adapter agent_adapter_patchpal = {
	/* name */ "patchpal",
	/* title */ "PatchPal",
	/* program */ "patchpal",
	/* install */ "pipx install patchpal",
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
	/* launch */ launch,
	/* caveat */ "written from its documentation; not covered by our tests",
	/* own */ false,
};
