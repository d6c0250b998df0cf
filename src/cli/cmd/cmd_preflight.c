/* ringfence preflight: examine a loop before it starts. */
#include "cli/intended.h"
#include "cli/view/preflight_text.h"

#include <stddef.h>

struct preflight_options {
	struct intended intended;
};

static const struct cli_option options[] = {
	INTENDED_OPTIONS(struct preflight_options),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    nothing failed; there may be warnings\n"
			 "  1    the loop would fail; how to fix it is printed\n"
			 "  125  the options or settings are invalid\n" },
	{ "EXAMPLES",
	  "  ringfence preflight --check \"npm test\" --agent claude\n"
	  "  ringfence preflight --json | jq '.items[] | select(.state != \"pass\")'\n" },
	{ 0 },
};

static int examine(const struct intended *intended)
{
	const struct preflight_loop loop = intended_loop(intended);
	struct preflight_items items = { 0 };
	bool failed;
	int printed;

	preflight_loop_examine(&loop, &preflight_loop_thorough, &items);
	if (intended->json)
		preflight_text_print_json(&items);
	else
		preflight_text_print(&items);
	failed = preflight_items_have(&items, PREFLIGHT_FAIL);
	preflight_items_release(&items);
	printed = cli_flush();
	return printed ? printed : failed;
}

static int run_preflight(const struct cli_command *command, char **argv)
{
	struct preflight_options opts;
	char **rest;
	int code = 0;

	intended_init(&opts.intended);
	rest = cli_parse(command, argv, &opts, &code);
	return intended_finish(&opts.intended, command->name, rest, code, examine);
}

const struct cli_command cmd_preflight = {
	.name = "preflight",
	.args = "[OBJECTIVE | -p FILE] [options of run]",
	.summary = "examine a loop before it starts",
	.description =
		"Examines what ringfence run with the same options would need: the state of git, the agent "
		"and its login, the checks, secrets that the agent could read (in files, and in recent "
		"commits), disk, fence, limits, other loops, and where prompts are sent. Each item passes, "
		"warns or fails. Starts no agent, and sends nothing. Secrets are shown masked.",
	.options = options,
	INTENDED_COMMAND,
	.sections = sections,
	.run = run_preflight,
};
