/* ringfence pause: stop a loop after its current iteration. */
#include "cli/loops.h"

#include "ops/op_pause.h"
#include "util/mem.h"

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int pause_loop(struct loops_options *opts, struct error *err)
{
	struct op_pause_request request = { 0 };
	struct op_pause_result result = { 0 };
	AUTO_FREE char *text = NULL;
	int code;

	if (loops_target(opts, &request.target, err) < 0)
		return cli_fail(err);
	if (op_failed(op_pause(&request, &result, err))) {
		code = cli_fail(err);
	} else {
		text = mem_format(
			"loop %s will pause after its current iteration (to continue: ringfence resume %s)",
			result.loop.id, result.loop.id);
		code = loops_report(opts, &result.loop, text);
	}
	op_pause_release(&result);
	return code;
}

static int run_pause(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, pause_loop);
}

const struct cli_command cmd_pause = {
	.name = "pause",
	.args = "[--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "stop a loop after its current iteration",
	.description =
		"Stops a loop when its current iteration has been finished and judged. Time in a pause "
		"does not count. Continue with ringfence resume.",
	.options = options,
	.sections = sections,
	.run = run_pause,
};
