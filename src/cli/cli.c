/* Parsing and describing commands: see cli.h. */
#include "cli/cli.h"

#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

const struct command *const cli_commands[] = { &cmd_exec, &cmd_init, &cmd_doctor, &cmd_help, NULL };

static const char about[] =
	"Runs a command in a fence that it cannot leave: the project is writable, the rest of the system "
	"read-only, your home and keys are not there, and there is no network.";

/* Remembers the candidate that is nearest to a wrong word, if it is near at all. */
static void nearer(const char *word, const char *candidate, const char **best, size_t *distance)
{
	size_t d = text_distance(word, candidate);

	if (d < *distance && d <= 1 + strlen(candidate) / 3) {
		*distance = d;
		*best = candidate;
	}
}

const struct command *cli_find(const char *name, struct error *err)
{
	const char *best = NULL;
	size_t distance = (size_t)-1;
	AUTO_FREE char *shown = text_escaped(name);

	for (const struct command *const *at = cli_commands; *at; at++) {
		if (strcmp((*at)->name, name) == 0)
			return *at;
		nearer(name, (*at)->name, &best, &distance);
	}
	error_set(
		err,
		"there is no command '%s'%s%s%s (ringfence --help lists them; to run a program: ringfence exec -- %s)",
		shown, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "", shown);
	return NULL;
}

static const struct option *find_option(const struct command *command, const char *text,
					size_t size, struct error *err)
{
	AUTO_FREE char *word = strndup(text, size);
	AUTO_FREE char *shown = text_escaped(word);
	const char *best = NULL;
	size_t distance = (size_t)-1;

	for (const struct option *at = command->options; at->name; at++) {
		if (strcmp(at->name, word) == 0)
			return at;
		nearer(word, at->name, &best, &distance);
	}
	error_set(err, "%s has no option --%s%s%s%s (ringfence %s --help)", command->name, shown,
		  best ? "; did you mean --" : "", best ? best : "", best ? "?" : "",
		  command->name);
	return NULL;
}

char **cli_parse(const struct command *command, char **argv, void *options, bool *ret_help,
		 struct error *err)
{
	for (argv++; *argv; argv++) {
		const char *text = *argv;

		if (strcmp(text, "--") == 0)
			return argv + 1;
		if (text[0] != '-' || text[1] == '\0')
			return argv;
		if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
			*ret_help = true;
			return argv;
		}
		if (text[1] != '-') {
			AUTO_FREE char *shown = text_escaped(text);

			error_set(
				err,
				"%s has no option %s; options are written with two dashes (ringfence %s --help)",
				command->name, shown, command->name);
			return NULL;
		}
		text += 2;

		size_t size = strcspn(text, "=");
		const struct option *option = find_option(command, text, size, err);
		const char *value = text[size] ? text + size + 1 : NULL;

		if (!option)
			return NULL;
		if (!option->value && value) {
			error_set(err, "--%s takes no value", option->name);
			return NULL;
		}
		if (option->value && !value && !(value = *++argv)) {
			error_set(err, "--%s needs a value: --%s %s", option->name, option->name,
				  option->value);
			return NULL;
		}
		if (option->take(options, value, err) < 0)
			return NULL;
	}
	return argv;
}

/* Prints text in lines of at most `width`, each after `indent` spaces; the first one goes on where
 * the cursor is. */
static void print_wrapped(const char *text, int indent, int width)
{
	int column = indent;

	while (*text) {
		int size = (int)strcspn(text, " ");

		if (column > indent && column + 1 + size > width) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", size, text);
		text += size;
		text += *text == ' ';
	}
	printf("\n");
}

static void print_row(const char *left, const char *help)
{
	enum { COLUMN = 24 };

	printf("  %-*s", COLUMN - 3, left);
	if (strlen(left) > COLUMN - 4)
		printf("\n%*s", COLUMN, "");
	else
		printf(" ");
	print_wrapped(help, COLUMN, 80);
}

int cli_no_more(const struct command *command, char *const *rest, struct error *err)
{
	if (!*rest)
		return 0;

	AUTO_FREE char *shown = text_escaped(*rest);

	return error_set(err, "%s takes no '%s' (ringfence %s --help)", command->name, shown,
			 command->name);
}

int cli_printed(void)
{
	struct error err;

	if (fflush(stdout) == 0)
		return 0;
	error_sys(&err, "write to stdout");
	return cli_fail(&err);
}

int cli_print_help(const struct command *command)
{
	if (!command) {
		printf("usage: ringfence COMMAND [options]\n\n");
		print_wrapped(about, 0, 80);
		printf("\n");
		for (const struct command *const *at = cli_commands; *at; at++)
			print_row((*at)->name, (*at)->help);
		printf("\n  ringfence COMMAND --help   what a command takes\n  ringfence --version\n");
		return cli_printed();
	}
	printf("usage: ringfence %s %s\n\n", command->name, command->args);
	print_wrapped(command->about, 0, 80);
	if (command->options[0].name)
		printf("\n");
	for (const struct option *at = command->options; at->name; at++) {
		AUTO_FREE char *left = mem_format("--%s%s%s", at->name, at->value ? " " : "",
						  at->value ? at->value : "");

		print_row(left, at->help);
	}
	for (const struct section *at = command->sections; at->title; at++)
		printf("\n%s\n%s", at->title, at->text);
	return cli_printed();
}

/* Text as roff: backslashes and leading dots mean something there, and a dash must stay one. */
static void print_roff(const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			printf("\\&");
		if (*text == '\\')
			printf("\\e");
		else if (*text == '-')
			printf("\\-");
		else
			putchar(*text);
		start = *text == '\n';
	}
}

int cli_print_man(const struct command *command)
{
	printf(".TH RINGFENCE%s%s 1 \"\" \"ringfence %s\" \"Ringfence\"\n.SH NAME\nringfence%s%s \\- ",
	       command ? "\\-" : "", command ? command->name : "", RINGFENCE_VERSION,
	       command ? "\\-" : "", command ? command->name : "");
	print_roff(command ? command->help : "run a command in a fence that it cannot leave");
	printf("\n.SH SYNOPSIS\n.B ringfence %s\n", command ? command->name : "COMMAND");
	print_roff(command ? command->args : "[options]");
	printf("\n.SH DESCRIPTION\n");
	print_roff(command ? command->about : about);
	if (!command) {
		printf("\n.SH COMMANDS\n");
		for (const struct command *const *at = cli_commands; *at; at++) {
			printf(".TP\n.B %s\n", (*at)->name);
			print_roff((*at)->help);
			printf("\n");
		}
		return cli_printed();
	}
	if (command->options[0].name)
		printf("\n.SH OPTIONS\n");
	for (const struct option *at = command->options; at->name; at++) {
		printf(".TP\n.B \\-\\-");
		print_roff(at->name);
		if (at->value)
			printf(" \\fI%s\\fR", at->value);
		printf("\n");
		print_roff(at->help);
		printf("\n");
	}
	for (const struct section *at = command->sections; at->title; at++) {
		printf(".SH ");
		print_roff(at->title);
		printf("\n.nf\n");
		print_roff(at->text);
		printf(".fi\n");
	}
	return cli_printed();
}

int cli_fail(const struct error *err)
{
	enum { EXIT_REFUSED = 125 };
	AUTO_FREE char *shown = text_escaped(err->text);

	fprintf(stderr, "ringfence: %s\n", shown);
	return EXIT_REFUSED;
}
