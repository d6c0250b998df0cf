/* ringfence abort: a loop ends, and nothing of it is left. */
#include "cli/loops.h"

#include "ops/op_abort.h"
#include "util/mem.h"

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
	struct op_abort_request request = { .now = asked->now };
	struct op_abort_result result = { 0 };
	AUTO_FREE char *text = NULL;
	int code;

	if (loops_target(asked, &request.target, err) < 0)
		return cli_fail(err);
	if (op_failed(op_abort(&request, &result, err))) {
		code = cli_fail(err);
	} else {
		text = mem_format("the loop %s is aborted; nothing of it is running",
				  result.loop.id);
		code = loops_say(asked, &result.loop, text);
	}
	op_abort_release(&result);
	return code;
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
