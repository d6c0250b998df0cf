/* ringfence tell: send a message to the agent of a loop. */
#include "cli/loops.h"
#include "cli/message.h"

#include "ops/op_tell.h"
#include "util/mem.h"

static const struct cli_option options[] = {
	OPTION_FLAG("now", "stop the agent, and begin its iteration again with the message",
		    struct loops_options, now),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence tell \"Use the standard library only\"\n"
		      "  ringfence tell --now 20261118-203052-vnjp \"Stop: keep the old API\"\n"
		      "  gh issue view 7 | ringfence tell -\n" },
	{ 0 },
};

/* Says what becomes of the message. The caller frees it. */
static char *sentence(const struct op_tell_result *result)
{
	const char *id = result->loop.id;

	if (result->fate == OP_TELL_AGAIN)
		return mem_format("the agent of loop %s is stopped, and begins its iteration again "
				  "with the message",
				  id);
	if (result->fate == OP_TELL_STOPPED)
		return mem_format("the agent of loop %s gets the message when the loop continues "
				  "(status: %s; to continue: ringfence resume %s)",
				  id, client_status(&result->loop), id);
	return mem_format("the agent of loop %s gets the message with its next prompt", id);
}

static int tell(struct loops_options *opts, struct error *err)
{
	struct op_tell_request request = { .now = opts->now };
	struct op_tell_result result;
	AUTO_FREE char *message = message_read(opts, "tell", &request.target, err);
	AUTO_FREE char *text = NULL;
	int code;

	if (!message)
		return cli_fail(err);
	request.text = message;
	if (op_failed(op_tell(&request, &result, err))) {
		code = cli_fail(err);
	} else {
		text = sentence(&result);
		code = loops_report(opts, &result.loop, text);
	}
	op_tell_release(&result);
	return code;
}

static int run_tell(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, tell);
}

const struct cli_command cmd_tell = {
	.name = "tell",
	.args = "[--now] [--json] [LOOP] TEXT|-",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "send a message to the agent of a loop",
	.description =
		"Adds a message to the agent's next prompt, as your own words; - reads it from stdin. It "
		"stays there until an iteration with it has counted, so an iteration that is repeated has "
		"it again. A loop is not completed while a message is unread. The message may have 16 KiB; "
		"control characters are removed.",
	.options = options,
	.sections = sections,
	.run = run_tell,
};
