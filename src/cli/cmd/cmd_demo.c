/* ringfence demo: run a loop on a small example project, with the script demo/run. */
#include "cli/cli.h"
#include "util/env.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/process.h"

#include <stdlib.h>
#include <unistd.h>

struct demo_options {
	bool live;
	bool keep;
};

static const struct cli_option options[] = {
	OPTION_FLAG("live", "use a real model, with a key from your environment or a local server",
		    struct demo_options, live),
	OPTION_FLAG("keep", "keep the folder; on a terminal it is always kept", struct demo_options,
		    keep),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES",
	  "  ringfence demo\n"
	  "  ringfence demo --live\n"
	  "  ringfence demo --live -- --agent claude --max-cost 1\n"
	  "  ringfence demo --live -- --upstream openai=local:http://127.0.0.1:11434\n" },
	{ 0 },
};

static int become_demo(const struct demo_options *opts, char **rest, struct error *err)
{
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);
	AUTO_FREE char *script = NULL;
	struct list words = { 0 };

	if (!self)
		return error_sys(err, "find the path of this program");
	if (process_beside("demo/run", &script, err) < 0)
		return -1;
	list_add(&words, script);
	list_add(&words, self);
	if (opts->live)
		list_add(&words, "--live");
	if (opts->keep)
		list_add(&words, "--keep");
	list_add(&words, "--");
	for (; *rest; rest++)
		list_add(&words, *rest);
	execve(script, words.items, env_all());
	return error_sys(err, "start '%s'", script);
}

static int run_demo(const struct cli_command *command, char **argv)
{
	struct demo_options opts = { 0 };
	struct error err;
	int code;
	char **rest = cli_parse(command, argv, &opts, &code);

	if (!rest)
		return code;
	become_demo(&opts, rest, &err);
	return cli_fail(&err);
}

const struct cli_command cmd_demo = {
	.name = "demo",
	.args = "[--live] [--keep] [-- RUN-OPTION...]",
	.max_args = CLI_ANY,
	.summary = "run a demo loop on a small project with a bug",
	.description =
		"Creates a small project in a temporary folder and runs the built-in agent on it, in the "
		"fence and through the gateway. The model's answers come from a tape, so neither a key nor "
		"a network is needed. The agent tries to read a secret and to reach the internet, claims "
		"too early that it is done, and finishes in the second iteration.",
	.options = options,
	.sections = sections,
	.run = run_demo,
};
