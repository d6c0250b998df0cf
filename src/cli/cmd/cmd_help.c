/* ringfence help: print the same text as --help, or a man page. */
#include "cli/cli.h"

struct help_options {
	bool man, all;
};

static const struct cli_option options[] = {
	OPTION_FLAG("man", "print a man page", struct help_options, man),
	OPTION_FLAG("all", "list all commands", struct help_options, all),
	{ 0 },
};

static int run_help(const struct cli_command *command, char **argv)
{
	struct help_options opts = { 0 };
	const struct cli_command *about = NULL;
	struct error err;
	int code;
	char **rest = cli_parse(command, argv, &opts, &code);

	if (!rest)
		return code;
	if (*rest && !(about = cli_find(*rest, &err)))
		return cli_fail(&err);
	if (opts.all)
		return cli_print_all_commands();
	return opts.man ? cli_print_man(about) : cli_print_help(about);
}

const struct cli_command cmd_help = {
	.name = "help",
	.args = "[--man | --all] [COMMAND]",
	.max_args = 1,
	.summary = "explain ringfence or one of its commands",
	.description = "Prints what ringfence or one of its commands does, and its options.",
	.options = options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run_help,
};
