/* ringfence help: the same texts as --help, and as man pages for the build. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

struct help_options {
	bool man;
};

static int take_man(void *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	((struct help_options *)options)->man = true;
	return 0;
}

static const struct option options[] = {
	{ "man", NULL, "print it as a man page", take_man },
	{ 0 },
};

static int run_help(const struct command *command, char **argv)
{
	struct help_options asked = { 0 };
	const struct command *about = NULL;
	struct error err;
	bool help = false;
	char **rest = cli_parse(command, argv, &asked, &help, &err);

	if (!rest || (!help && *rest && !(about = cli_find(*rest, &err))))
		return cli_fail(&err);
	if (help)
		about = command;
	return asked.man ? cli_print_man(about) : cli_print_help(about);
}

const struct command cmd_help = {
	.name = "help",
	.args = "[--man] [COMMAND]",
	.help = "explain the program or a command",
	.about = "Prints what the program or one of its commands does and takes.",
	.options = options,
	.sections = (const struct section[]){ { 0 } },
	.run = run_help,
};
