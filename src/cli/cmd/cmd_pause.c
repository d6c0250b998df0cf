/* ringfence pause: a loop stops when its iteration has ended. */
#include "cli/loops.h"

#include "ops/op_pause.h"
#include "util/mem.h"

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = { { 0 } };

static int pause_loop(struct loops_options *asked, struct error *err)
{
	struct op_pause_request request = { 0 };
	struct op_pause_result result = { 0 };
	AUTO_FREE char *text = NULL;
	int code;

	if (loops_target(asked, &request.target, err) < 0)
		return cli_fail(err);
	if (op_failed(op_pause(&request, &result, err))) {
		code = cli_fail(err);
	} else {
		text = mem_format(
			"the loop %s pauses when its iteration has ended (ringfence resume %s)",
			result.loop.id, result.loop.id);
		code = loops_say(asked, &result.loop, text);
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
	.most = 1,
	.mixed = true,
	.help = "stop a loop after its present iteration",
	.about =
		"The iteration that is under way is finished and judged. Time in a pause does not count. ringfence resume goes on.",
	.options = options,
	.sections = sections,
	.run = run_pause,
};
