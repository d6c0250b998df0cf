/* ringfence notifier: tells people about a loop or a batch. Internal: only ringfence itself starts
 * it. */
#include "cli/cli.h"
#include "notify/notify_run.h"

static const struct cli_option options[] = { { 0 } };

static int run_notifier(const struct cli_command *command, char **argv)
{
	struct error err;

	(void)command;
	if (!argv[1]) {
		error_set(&err, "notifier is an internal command; use ringfence notify");
		return cli_fail(&err);
	}
	return notify_run(argv[1]);
}

const struct cli_command cmd_notifier = {
	.name = "notifier",
	.args = "FOLDER",
	.max_args = 1,
	.summary = "notify people of what happens in a loop",
	.description = "An internal command that ringfence itself starts.",
	.options = options,
	.run = run_notifier,
};
