/* ringfence adopt: moves a process to this cgroup. Internal: only ringfence itself starts it. */
#include "cli/cli.h"
#include "fence/fence.h"

#include <stdint.h>
#include <stdlib.h>

static const struct cli_option options[] = { { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int run_adopt(const struct cli_command *command, char **argv)
{
	pid_t member = argv[1] ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	uint64_t started = member > 0 && argv[2] ? strtoull(argv[2], NULL, 10) : 0;
	struct error err;

	(void)command;
	if (started == 0) {
		error_set(&err, "adopt is an internal command; use ringfence exec");
		return cli_fail(&err);
	}
	return fence_adopt(member, started, &err) < 0 ? cli_fail(&err) : 0;
}

const struct cli_command cmd_adopt = {
	.name = "adopt",
	.args = "PID STARTED",
	.max_args = 2,
	.summary = "move a process to a new cgroup",
	.description = "An internal command that ringfence itself starts.",
	.options = options,
	.sections = sections,
	.run = run_adopt,
};
