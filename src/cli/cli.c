/* Parsing and describing commands: see cli.h. */
#include "cli/cli.h"

#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

const struct command *const cli_commands[] = {
	&cmd_run,    &cmd_status,      &cmd_logs,    &cmd_history, &cmd_pause,
	&cmd_resume, &cmd_abort,       &cmd_circuit, &cmd_exec,    &cmd_init,
	&cmd_policy, &cmd_suggest,     &cmd_config,  &cmd_trust,   &cmd_untrust,
	&cmd_doctor, &cmd_completions, &cmd_help,    NULL,
};

static const char about[] =
	"Runs a command in a fence that it cannot leave: the project is writable, the rest of the system "
	"read-only, your home and keys are not there, and there is no network. ringfence run does that with an "
	"agent, again and again, until the work is done.";

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

	if (strcmp(name, cmd_keep.name) == 0) /* not for people, so in no list */
		return &cmd_keep;
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

bool cli_takes(const struct command *command, const struct setting *setting)
{
	return command->set && (command->loop || !setting->loop_only);
}

/* An option on its way: one of the command's own, or a setting. */
struct found {
	const struct option *option;
	const struct setting *setting;
	const char *name;
	const char *value_name; /* NULL: it needs none */
};

static int find_option(const struct command *command, const char *text, size_t size,
		       struct found *ret_found, struct error *err)
{
	AUTO_FREE char *word = strndup(text, size);
	AUTO_FREE char *shown = text_escaped(word);
	const char *best = NULL;
	size_t distance = (size_t)-1;

	for (const struct option *at = command->options; at->name; at++) {
		if (strcmp(at->name, word) == 0) {
			*ret_found = (struct found){ at, NULL, at->name, at->value };
			return 0;
		}
		nearer(word, at->name, &best, &distance);
	}
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		const struct setting *at = &settings[i];

		if (!cli_takes(command, at))
			continue;
		if (strcmp(at->key, word) == 0) {
			*ret_found = (struct found){ NULL, at, at->key,
						     at->type == SETTING_SWITCH ? NULL
										: at->value };
			return 0;
		}
		nearer(word, at->key, &best, &distance);
	}
	return error_set(err, "%s has no option --%s%s%s%s (ringfence %s --help)", command->name,
			 shown, best ? "; did you mean --" : "", best ? best : "", best ? "?" : "",
			 command->name);
}

static int take(const struct command *command, const struct found *found, void *options,
		const char *value, struct error *err)
{
	if (found->option)
		return found->option->take(options, value, err);
	return command->set(options, found->setting, value ? value : "true", err);
}

/* What an argument is an alias of, or NULL. */
static const char *alias_of(const struct command *command, const char *text)
{
	size_t size = strcspn(text, "=");

	for (const struct alias *at = command->aliases; at && at->from; at++)
		if (strlen(at->from) == size && strncmp(at->from, text, size) == 0)
			return at->to;
	return NULL;
}

/* One option, and its value from the next argument if it has none of its own. */
static int take_argument(const struct command *command, const char *text, const char *value,
			 char ***argv, void *options, struct error *err)
{
	size_t size = strcspn(text, "=");
	struct found found;

	if (text[size])
		value = text + size + 1;
	if (find_option(command, text, size, &found, err) < 0)
		return -1;
	if (found.option && !found.value_name && value)
		return error_set(err, "--%s takes no value", found.name);
	if (found.value_name && !value && !(value = *++*argv))
		return error_set(err, "--%s needs a value: --%s %s", found.name, found.name,
				 found.value_name);
	return take(command, &found, options, value, err);
}

char **cli_parse(const struct command *command, char **argv, void *options, bool *ret_help,
		 struct error *err)
{
	for (argv++; *argv; argv++) {
		const char *text = *argv;
		const char *alias = alias_of(command, text);
		const char *value = alias ? strchr(text, '=') : NULL;

		if (strcmp(text, "--") == 0)
			return argv + 1;
		if (text[0] != '-' || text[1] == '\0')
			return argv;
		if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
			*ret_help = true;
			return argv;
		}
		text = alias ? alias : text;
		if (text[1] != '-') {
			AUTO_FREE char *shown = text_escaped(text);

			error_set(
				err,
				"%s has no option %s; options are written with two dashes (ringfence %s --help)",
				command->name, shown, command->name);
			return NULL;
		}
		if (take_argument(command, text + 2, value ? value + 1 : NULL, &argv, options,
				  err) < 0)
			return NULL;
	}
	return argv;
}

int cli_parse_words(const struct command *command, char **argv, void *options,
		    struct list *ret_words, bool *ret_help, struct error *err)
{
	bool only_words = false;

	for (char **rest = argv;;) {
		rest = only_words ? rest + 1 : cli_parse(command, rest, options, ret_help, err);
		if (!rest)
			return -1;
		if (*ret_help || !*rest)
			return 0;
		only_words = only_words || (rest[-1] != argv[0] && strcmp(rest[-1], "--") == 0);
		list_add(ret_words, *rest);
	}
}

char *cli_setting_usage(const struct setting *setting)
{
	if (setting->type != SETTING_SWITCH)
		return mem_format("--%s %s", setting->key, setting->value);
	return mem_format("--%s%s", setting->key,
			  strcmp(setting->fallback, "true") == 0 ? "=false" : "");
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
	enum { COLUMN = 24, WIDTH = 96 };

	printf("  %-*s", COLUMN - 3, left);
	if (strlen(left) > COLUMN - 4)
		printf("\n%*s", COLUMN, "");
	else
		printf(" ");
	print_wrapped(help, COLUMN, WIDTH);
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
	if (command->set)
		printf("\nSettings, also of ringfence.yml (ringfence config --explain):\n");
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		AUTO_FREE char *left = cli_setting_usage(&settings[i]);

		if (cli_takes(command, &settings[i]))
			print_row(left, settings[i].help);
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

static void print_man_option(const char *name, const char *value, const char *help)
{
	printf(".TP\n.B \\-\\-");
	print_roff(name);
	if (value)
		printf(" \\fI%s\\fR", value);
	printf("\n");
	print_roff(help);
	printf("\n");
}

static void print_man_options(const struct command *command)
{
	if (command->options[0].name)
		printf("\n.SH OPTIONS\n");
	for (const struct option *at = command->options; at->name; at++)
		print_man_option(at->name, at->value, at->help);
	if (!command->set)
		return;
	printf(".SH SETTINGS\nEach is also a key of ringfence.yml; ringfence config "
	       "\\-\\-explain tells more.\n");
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		if (cli_takes(command, &settings[i]))
			print_man_option(settings[i].key,
					 settings[i].type == SETTING_SWITCH ? NULL
									    : settings[i].value,
					 settings[i].help);
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
	print_man_options(command);
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
