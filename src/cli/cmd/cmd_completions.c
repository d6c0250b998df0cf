/* ringfence completions: scripts for bash, zsh and fish, made from the command and setting tables.
 * */
#include "cli/candidates.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

typedef void each_fn(const struct cli_command *command, const char *name, const char *value,
		     const char *const *choices, const char *help);

/* Calls print for every option of a command. */
static void each_option(const struct cli_command *command, each_fn *print)
{
	for (const struct cli_option *at = command->options; at->name; at++)
		print(command, at->name, at->value, NULL, at->help);
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		if (cli_has_setting(command, setting_at(i)))
			print(command, setting_at(i)->key,
			      setting_at(i)->type == SETTING_SWITCH ? NULL : setting_at(i)->value,
			      setting_at(i)->choices, setting_at(i)->help);
	print(command, "help", NULL, NULL, "explain this command");
}

/* Returns whether an option's placeholder means a path. */
static bool is_path(const char *value)
{
	return value && (strcmp(value, "PATH") == 0 || strcmp(value, "DIR") == 0 ||
			 strcmp(value, "FILE") == 0);
}

static void print_words(const char *const *words)
{
	for (; *words; words++)
		printf("%s%s", *words, words[1] ? " " : "");
}

static void bash_name(const struct cli_command *command, const char *name, const char *value,
		      const char *const *choices, const char *help)
{
	(void)command;
	(void)value;
	(void)choices;
	(void)help;
	printf(" --%s", name);
}

static void bash_value(const struct cli_command *command, const char *name, const char *value,
		       const char *const *choices, const char *help)
{
	(void)help;
	if (!value)
		return;
	printf("\t%s,--%s)\n", command->name, name);
	if (candidates_kinds(command, name)) {
		printf("\t\tCOMPREPLY=($(compgen -W \"$(ringfence complete %s --%s 2>/dev/null)\" "
		       "-- \"$word\"))\n",
		       command->name, name);
	} else if (choices) {
		printf("\t\tCOMPREPLY=($(compgen -W '");
		print_words(choices);
		printf("' -- \"$word\"))\n");
	} else if (is_path(value)) {
		printf("\t\tcompopt -o filenames\n\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n");
	}
	printf("\t\treturn ;;\n");
}

/* Completes the arguments of a command that takes loops and the like; `work` also takes files. */
static void bash_argument(const struct cli_command *command)
{
	if (candidates_kinds(command, NULL))
		printf("\t%s,*)\n"
		       "\t\tCOMPREPLY=($(compgen -W \"$(ringfence complete %s 2>/dev/null)\" "
		       "%s-- \"$word\"))\n"
		       "\t\treturn ;;\n",
		       command->name, command->name, command == &cmd_work ? "-f " : "");
}

static void print_bash(void)
{
	printf("# bash completion for ringfence, printed by: ringfence completions bash\n"
	       "# shellcheck shell=bash disable=SC2207\n"
	       "_ringfence() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	       "\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '");
	for (const struct cli_command *const *at = cli_commands; *at; at++)
		printf("%s ", (*at)->name);
	printf("--help --version' -- \"$word\"))\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	       "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	       "\t\t\tcompopt -o filenames\n"
	       "\t\t\tCOMPREPLY=($(compgen -cf -- \"$word\"))\n"
	       "\t\t\treturn\n"
	       "\t\tfi\n"
	       "\tdone\n"
	       "\tcase ${COMP_WORDS[1]},$before in\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++)
		each_option(*at, bash_value);
	printf("\tconfig,config | config,--explain)\n\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		printf("%s%s", i ? " " : "", setting_at(i)->key);
	printf("' -- \"$word\"))\n\t\treturn ;;\n"
	       "\tcompletions,completions)\n"
	       "\t\tCOMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\"))\n\t\treturn ;;\n"
	       "\tesac\n\tcase ${COMP_WORDS[1]},$word in\n\t*,-*) ;;\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++)
		bash_argument(*at);
	printf("\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		printf("\t%s) COMPREPLY=($(compgen -W '", (*at)->name);
		each_option(*at, bash_name);
		printf("' -- \"$word\")) ;;\n");
	}
	printf("\tesac\n}\ncomplete -F _ringfence ringfence\n");
}

/* Escapes text for single quotes in a shell. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else
			putchar(*text);
	}
}

/* The same for a description in zsh, where brackets and colons are special. */
static void print_zsh(const char *text)
{
	for (; *text; text++) {
		if (*text == '[' || *text == ']' || *text == ':')
			putchar('\\');
		if (*text == '\'')
			printf("'\\''");
		else
			putchar(*text);
	}
}

static void zsh_option(const struct cli_command *command, const char *name, const char *value,
		       const char *const *choices, const char *help)
{
	printf(" \\\n\t\t\t'*--%s[", name);
	print_zsh(help);
	printf("]");
	if (value) {
		printf(":");
		print_zsh(value);
		printf(":");
	}
	if (candidates_kinds(command, name)) {
		printf("{_ringfence_words %s --%s}", command->name, name);
	} else if (choices) {
		printf("(");
		print_words(choices);
		printf(")");
	} else if (is_path(value)) {
		printf("_files");
	}
	printf("'");
}

static void print_zsh_all(void)
{
	printf("#compdef ringfence\n"
	       "# zsh completion for ringfence, printed by: ringfence completions zsh\n"
	       "_ringfence_words() {\n"
	       "\tcompadd -- ${(f)\"$(ringfence complete \"$@\" 2>/dev/null)\"}\n"
	       "}\n"
	       "_ringfence() {\n"
	       "\tlocal -a commands=(\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		printf("\t\t'%s:", (*at)->name);
		print_zsh((*at)->summary);
		printf("'\n");
	}
	printf("\t)\n"
	       "\tif ((CURRENT == 2)); then\n"
	       "\t\t_describe command commands\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tlocal command=$words[2]\n"
	       "\tshift words\n"
	       "\t((CURRENT--))\n"
	       "\tcase $command in\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		printf("\t%s)\n\t\t_arguments -S", (*at)->name);
		each_option(*at, zsh_option);
		if (*at == &cmd_work)
			printf(" \\\n\t\t\t'*:list of tasks:_files'");
		else if (candidates_kinds(*at, NULL))
			printf(" \\\n\t\t\t'*:argument:{_ringfence_words %s}'", (*at)->name);
		else if ((*at)->set)
			printf(" \\\n\t\t\t'*::command:_normal'");
		printf(" ;;\n");
	}
	printf("\tesac\n}\n_ringfence \"$@\"\n");
}

static void fish_option(const struct cli_command *command, const char *name, const char *value,
			const char *const *choices, const char *help)
{
	printf("complete -c ringfence -n '__fish_seen_subcommand_from %s' -l %s", command->name,
	       name);
	if (value)
		printf(is_path(value) ? " -rF" : " -x");
	if (candidates_kinds(command, name)) {
		printf(" -a '(ringfence complete %s --%s 2>/dev/null)'", command->name, name);
	} else if (choices) {
		printf(" -a '");
		print_words(choices);
		printf("'");
	}
	printf(" -d '");
	print_quoted(help);
	printf("'\n");
}

static void print_fish(void)
{
	printf("# fish completion for ringfence, printed by: ringfence completions fish\n"
	       "complete -c ringfence -n __fish_use_subcommand -f\n");
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		printf("complete -c ringfence -n __fish_use_subcommand -a %s -d '", (*at)->name);
		print_quoted((*at)->summary);
		printf("'\n");
	}
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		if (candidates_kinds(*at, NULL))
			printf("complete -c ringfence -n '__fish_seen_subcommand_from %s' %s-a "
			       "'(ringfence complete %s 2>/dev/null)'\n",
			       (*at)->name, *at == &cmd_work ? "" : "-f ", (*at)->name);
		each_option(*at, fish_option);
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = { { "bash", print_bash }, { "zsh", print_zsh_all }, { "fish", print_fish } };

static int run_completions(const struct cli_command *command, char **argv)
{
	struct error err;
	int code;
	char **rest = cli_parse(command, argv, NULL, &code);

	if (!rest)
		return code;
	for (size_t i = 0; rest[0] && i < sizeof shells / sizeof *shells; i++) {
		if (strcmp(rest[0], shells[i].name) == 0) {
			shells[i].print();
			return cli_flush();
		}
	}
	error_set(&err,
		  "completions needs a shell: bash, zsh or fish (ringfence completions bash)");
	return cli_fail(&err);
}

static const struct cli_section sections[] = {
	{ "WHERE TO PUT THE SCRIPT",
	  "  bash  ~/.local/share/bash-completion/completions/ringfence\n"
	  "  zsh   _ringfence, in a folder in $fpath\n"
	  "  fish  ~/.config/fish/completions/ringfence.fish\n" },
	{ "EXAMPLES",
	  "  ringfence completions fish > ~/.config/fish/completions/ringfence.fish\n" },
	{ 0 },
};

const struct cli_command cmd_completions = {
	.name = "completions",
	.args = "bash|zsh|fish",
	.max_args = 1,
	.summary = "print completions for a shell",
	.description =
		"Prints a script that completes commands, options and their values in bash, zsh or fish. "
		"make install installs all three.",
	.options = (const struct cli_option[]){ { 0 } },
	.sections = sections,
	.run = run_completions,
};
