/* ringfence abort: end a loop and every process it started. */
#include "cli/loops.h"

#include "ops/op_abort.h"
#include "util/mem.h"

static const struct cli_option options[] = {
	OPTION_FLAG("now", "send KILL at once, without TERM and five seconds to clean up",
		    struct loops_options, now),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = { { 0 } };

static int abort_loop(struct loops_options *opts, struct error *err)
{
	struct op_abort_request request = { .now = opts->now };
	struct op_abort_result result = { 0 };
	AUTO_FREE char *text = NULL;
	int code;

	if (loops_target(opts, &request.target, err) < 0)
		return cli_fail(err);
	if (op_failed(op_abort(&request, &result, err))) {
		code = cli_fail(err);
	} else {
		text = mem_format("loop %s was aborted; none of its processes is left",
				  result.loop.id);
		code = loops_report(opts, &result.loop, text);
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
	.max_args = 1,
	.options_anywhere = true,
	.summary = "end a loop and everything it started",
	.description =
		"Sends TERM to everything in the fence and, after five seconds, KILL. Returns when the "
		"supervisor, which exits last, is gone.",
	.options = options,
	.sections = sections,
	.run = run_abort,
};
