/* ringfence keep: the keeper of a loop or a batch. Internal: only ringfence itself starts it. */
#include "batch/batch_drive.h"
#include "batch/batch_folder.h"
#include "cli/cli.h"
#include "loop/supervise/drive.h"
#include "loop/supervise/keeper.h"

#include <stdlib.h>

static const struct cli_option options[] = { { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int run_keep(const struct cli_command *command, char **argv)
{
	struct error err;

	(void)command;
	if (!argv[1] || !argv[2]) {
		error_set(&err, "keep is an internal command; use ringfence run --detach");
		return cli_fail(&err);
	}
	return keeper_run(argv[1], (pid_t)strtol(argv[2], NULL, 10),
			  batch_folder_is(argv[1]) ? batch_drive_run : drive_run);
}

const struct cli_command cmd_keep = {
	.name = "keep",
	.args = "FOLDER PID",
	.max_args = 2,
	.summary = "keep the supervisor of a loop alive",
	.description = "An internal command that ringfence itself starts.",
	.options = options,
	.sections = sections,
	.run = run_keep,
};
