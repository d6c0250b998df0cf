/* ringfence prompt: show the next prompt of a loop, and the size of each part. */
#include "cli/loops.h"
#include "cli/view/prompt_text.h"

#include <stdio.h>

static const struct cli_option options[] = {
	OPTION_FLAG("sizes", "print only the sizes", struct loops_options, sizes),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence prompt --sizes\n"
		      "  ringfence run -p PROMPT.md --check \"make test\" --dry-run\n" },
	{ 0 },
};

static void print(const struct loops_options *opts, struct prompt *prompt)
{
	const struct loop_state *state = &opts->loop.state;
	bool runs = state->step == LOOP_STEP_agent;
	uint32_t unread = runs ? loop_state_unread(state) : 0;

	if (!opts->sizes)
		printf("%s\n", buffer_text(&prompt->text));
	printf("# The prompt of iteration %u%s\n\n", state->used + 1,
	       runs ? ", which is running" : "");
	prompt_text_print_sizes(prompt);
	if (unread)
		printf("\n%u message%s of yours will be in the prompt after this one (ringfence "
		       "history)\n",
		       unread, unread == 1 ? "" : "s");
}

static json_t *to_json(const struct loops_options *opts, struct prompt *prompt)
{
	json_t *object = json_pack("{s:s, s:i, s:I, s:I, s:o}", "id", opts->loop.id, "iteration",
				   (int)opts->loop.state.used + 1, "bytes",
				   (json_int_t)prompt->text.used, "tokens",
				   (json_int_t)prompt_tokens(prompt->text.used), "parts",
				   prompt_text_sizes(prompt));

	if (!opts->sizes)
		json_object_set_new(object, "prompt", client_text(buffer_text(&prompt->text)));
	return object;
}

static int show(struct loops_options *opts, struct error *err)
{
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;

	if (loops_find_readable(opts, err) < 0)
		return cli_fail(err);
	client_prompt(&opts->loop, &prompt);
	if (opts->json)
		loops_print(to_json(opts, &prompt));
	else
		print(opts, &prompt);
	return cli_flush();
}

static int run_prompt(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_prompt = {
	.name = "prompt",
	.args = "[--sizes] [--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show the next prompt of a loop, and its size",
	.description =
		"Prints the prompt that the agent gets next, as things stand, and how many bytes and "
		"roughly how many tokens each part has. If the agent is running, this is the prompt that "
		"it got. For a loop that has not begun, use ringfence run --dry-run. The prompts of "
		"earlier iterations are in the loop's folder.",
	.options = options,
	.sections = sections,
	.run = run_prompt,
};
