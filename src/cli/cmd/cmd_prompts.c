/* ringfence prompts: list example prompts, or print one. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "settings/example.h"
#include "util/mem.h"

#include <stdio.h>

struct prompts_options {
	bool text;
	bool json;
};

static const struct cli_option options[] = {
	OPTION_FLAG("text", "print only the prompt, without the explanation",
		    struct prompts_options, text),
	OPTION_JSON(struct prompts_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence prompts\n"
		      "  ringfence prompts fix-tests\n"
		      "  ringfence prompts fix-tests --text >PROMPT.md\n"
		      "  ringfence run --example fix-tests --check \"npm test\"\n" },
	{ 0 },
};

static json_t *to_json(const struct example *example)
{
	AUTO_FREE char *title = example_title(example);

	return json_pack("{s:s, s:s, s:s, s:s}", "name", example->name, "title", title, "page",
			 example->page, "prompt", example_prompt(example));
}

static void list(bool json)
{
	const struct example *example;
	json_t *all = json_array();

	for (size_t i = 0; (example = example_at(i)); i++) {
		AUTO_FREE char *title = example_title(example);

		if (json)
			json_array_append_new(all, to_json(example));
		else
			printf("%-15s %s\n", example->name, title);
	}
	if (json)
		loops_print(json_pack("{s:O}", "prompts", all));
	else
		puts("\nringfence prompts NAME shows one, with the commands that run it.");
	json_decref(all);
}

static int show(const struct prompts_options *opts, const char *name, struct error *err)
{
	const struct example *example = example_find(name, err);

	if (!example)
		return cli_fail(err);
	if (opts->json)
		loops_print(to_json(example));
	else
		fputs(opts->text ? example_prompt(example) : example->page, stdout);
	return cli_flush();
}

static int run_prompts(const struct cli_command *command, char **argv)
{
	struct prompts_options opts = { 0 };
	struct error err;
	int code;
	char **rest = cli_parse(command, argv, &opts, &code);

	if (!rest)
		return code;
	if (*rest)
		return show(&opts, *rest, &err);
	list(opts.json);
	return cli_flush();
}

const struct cli_command cmd_prompts = {
	.name = "prompts",
	.args = "[NAME] [--text] [--json]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "list example prompts, or print one",
	.description =
		"Prints example prompts that are written so that a loop ends, each with its checks by "
		"language. ringfence run --example NAME uses one, and adds the objective to it.",
	.options = options,
	.sections = sections,
	.run = run_prompts,
};
