/* ringfence help: the same texts as --help, and as man pages for the build. */
#include "cli/cli.h"

struct help_options {
	bool man;
};

static const struct cli_option options[] = {
	OPTION_FLAG("man", "print it as a man page", struct help_options, man),
	{ 0 },
};

static int run_help(const struct cli_command *command, char **argv)
{
	struct help_options asked = { 0 };
	const struct cli_command *about = NULL;
	struct error err;
	int code;
	char **rest = cli_begin(command, argv, &asked, &code);

	if (!rest)
		return code;
	if (*rest && !(about = cli_find(*rest, &err)))
		return cli_fail(&err);
	return asked.man ? cli_print_man(about) : cli_print_help(about);
}

const struct cli_command cmd_help = {
	.name = "help",
	.args = "[--man] [COMMAND]",
	.most = 1,
	.help = "explain the program or a command",
	.about = "Prints what the program or one of its commands does and takes.",
	.options = options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run_help,
};
