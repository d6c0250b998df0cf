/* ringfence abort: a loop ends, and nothing of it is left. */
#include "cli/loops.h"

#include "util/mem.h"

#include <stdio.h>

enum { MOST_MS = 60000 };

static const struct cli_option options[] = {
	OPTION_FLAG("now", "KILL at once, without TERM and the time to clean up",
		    struct loops_options, now),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = { { 0 } };

static int abort_loop(struct loops_options *asked, struct error *err)
{
	struct client_loop *loop = &asked->loop;

	if (loops_find(asked, err) < 0)
		return cli_fail(err);
	if (loop->state.phase == LOOP_PHASE_finished) {
		error_set(err, "the loop %s has ended: %s", loop->id, client_status(loop));
		return cli_fail(err);
	}
	if (client_ask(loop, "abort", asked->now, err) < 0)
		return cli_fail(err);
	if (!client_wait_gone(loop, MOST_MS)) {
		error_set(err, "the loop %s has not ended after %d s; process %d is its supervisor",
			  loop->id, MOST_MS / 1000, (int)loop->state.supervisor);
		return cli_fail(err);
	}

	AUTO_FREE char *text = mem_format("the loop %s is aborted; nothing of it is running",
					  loop->id);

	return loops_say(asked, text);
}

static int run_abort(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, abort_loop);
}

const struct cli_command cmd_abort = {
	.name = "abort",
	.args = "[--now] [--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "end a loop, and verify that nothing of it is left",
	.about =
		"Everything in the fence gets TERM and, after five seconds, KILL. The command returns when the supervisor is gone, "
		"which goes last.",
	.options = options,
	.sections = sections,
	.run = run_abort,
};
