/* ringfence pause: a loop stops when its iteration has ended. */
#include "cli/loops.h"

#include "util/mem.h"

#include <stdio.h>

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int pause_loop(struct loops_options *asked, struct error *err)
{
	if (loops_find(asked, err) < 0)
		return cli_fail(err);
	if (!asked->loop.alive) {
		error_set(err, "the loop %s is not running: %s", asked->loop.id,
			  client_status(&asked->loop));
		return cli_fail(err);
	}
	if (client_ask(&asked->loop, "pause", false, err) < 0)
		return cli_fail(err);

	AUTO_FREE char *text =
		mem_format("the loop %s pauses when its iteration has ended (ringfence resume %s)",
			   asked->loop.id, asked->loop.id);

	return loops_say(asked, text);
}

static int run_pause(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, pause_loop);
}

const struct cli_command cmd_pause = {
	.name = "pause",
	.args = "[--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "stop a loop after its present iteration",
	.about =
		"The iteration that is under way is finished and judged. Time in a pause does not count. ringfence resume goes on.",
	.options = options,
	.sections = sections,
	.run = run_pause,
};
