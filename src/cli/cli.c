/* Parsing and describing commands: see cli.h. */
#include "cli/cli.h"

#include "cli/view/page.h"
#include "provider/provider.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct cli_command *const cli_commands[] = {
	&cmd_run,     &cmd_work,   &cmd_preflight,   &cmd_estimate, &cmd_status,
	&cmd_watch,   &cmd_attach, &cmd_logs,        &cmd_history,  &cmd_pause,
	&cmd_resume,  &cmd_tell,   &cmd_answer,      &cmd_abort,    &cmd_checkpoints,
	&cmd_diff,    &cmd_show,   &cmd_rollback,    &cmd_restore,  &cmd_apply,
	&cmd_land,    &cmd_clean,  &cmd_circuit,     &cmd_prompt,   &cmd_prompts,
	&cmd_exec,    &cmd_shell,  &cmd_drafts,      &cmd_discard,  &cmd_init,
	&cmd_policy,  &cmd_prices, &cmd_cost,        &cmd_report,   &cmd_serve,
	&cmd_metrics, &cmd_notify, &cmd_gateway,     &cmd_suggest,  &cmd_quarantine,
	&cmd_config,  &cmd_trust,  &cmd_untrust,     &cmd_agents,   &cmd_demo,
	&cmd_image,   &cmd_doctor, &cmd_completions, &cmd_help,     NULL,
};

/* Only ringfence itself and completions start these, so they are not listed. */
static const struct cli_command *const internal[] = { &cmd_adopt,    &cmd_complete,   &cmd_keep,
						      &cmd_notifier, &cmd_serve_part, NULL };

static const char description[] =
	"Runs commands in a fence they cannot leave: the project is writable, the rest of the system is "
	"read-only, your home and keys are absent, and there is no network. ringfence run starts a "
	"coding agent in the fence, again and again, until the work is done.";

/* Remembers the candidate most similar to a misspelled word, if it is similar enough. */
static void remember_nearest(const char *word, const char *candidate, const char **best,
			     size_t *distance)
{
	size_t d = text_distance(word, candidate);

	if (d < *distance && d <= 1 + strlen(candidate) / 3) {
		*distance = d;
		*best = candidate;
	}
}

const struct cli_command *cli_find(const char *name, struct error *err)
{
	const char *best = NULL;
	size_t distance = (size_t)-1;

	for (const struct cli_command *const *at = internal; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		if (strcmp((*at)->name, name) == 0)
			return *at;
		remember_nearest(name, (*at)->name, &best, &distance);
	}
	error_set(
		err,
		"unknown command '%s'%s%s%s (see: ringfence help --all; to run a program: ringfence exec -- "
		"%s)",
		name, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "", name);
	return NULL;
}

bool cli_has_setting(const struct cli_command *command, const struct setting *setting)
{
	return command->set &&
	       (command->has_setting ? command->has_setting(setting) : !setting->loop_only);
}

/* An option that was found: one of the command's own, or a setting. */
struct found {
	const struct cli_option *option;
	const struct setting *setting;
	const char *name;
	const char *value_name; /* NULL for a flag */
};

static int find_option(const struct cli_command *command, const char *text, size_t size,
		       struct found *ret_found, struct error *err)
{
	AUTO_FREE char *word = strndup(text, size);
	const char *best = NULL;
	size_t distance = (size_t)-1;

	for (const struct cli_option *at = command->options; at->name; at++) {
		if (strcmp(at->name, word) == 0) {
			*ret_found = (struct found){ at, NULL, at->name, at->value };
			return 0;
		}
		remember_nearest(word, at->name, &best, &distance);
	}
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		const struct setting *at = setting_at(i);

		if (!cli_has_setting(command, at))
			continue;
		if (strcmp(at->key, word) == 0) {
			*ret_found = (struct found){ NULL, at, at->key,
						     at->type == SETTING_SWITCH ? NULL
										: at->value };
			return 0;
		}
		remember_nearest(word, at->key, &best, &distance);
	}
	return error_set(err, "%s has no option --%s%s%s%s (ringfence %s --help)", command->name,
			 word, best ? "; did you mean --" : "", best ? best : "", best ? "?" : "",
			 command->name);
}

static int store_value(const struct cli_command *command, const struct found *found, void *options,
		       const char *value, struct error *err)
{
	char *member = (char *)options + (found->option ? found->option->offset : 0);

	if (!found->option)
		return command->set(options, found->setting, value ? value : "true", err);
	if (found->value_name)
		*(const char **)(void *)member = value;
	else
		*(bool *)(void *)member = true;
	return 0;
}

/* Returns the option that an argument is an alias of, or NULL. */
static const char *alias_of(const struct cli_command *command, const char *text)
{
	size_t size = strcspn(text, "=");

	for (const struct cli_alias *at = command->aliases; at && at->from; at++)
		if (strlen(at->from) == size && strncmp(at->from, text, size) == 0)
			return at->to;
	return NULL;
}

/* Parses the option at *argv, and advances *argv if the value is a separate word. */
static int parse_option(const struct cli_command *command, char ***argv, void *options,
			struct error *err)
{
	const char *alias = alias_of(command, **argv);
	const char *text = alias ? alias : **argv;
	size_t size = strcspn(text, "=");
	const char *value = strchr(text[size] ? text : **argv, '=');
	struct found found;

	if (text[1] != '-')
		return error_set(
			err,
			"%s has no option %s; options start with two dashes (ringfence %s --help)",
			command->name, text, command->name);
	value = value ? value + 1 : NULL;
	if (find_option(command, text + 2, size - 2, &found, err) < 0)
		return -1;
	if (found.option && !found.value_name && value)
		return error_set(err, "--%s takes no value", found.name);
	if (found.value_name && !value && !(value = *++*argv))
		return error_set(err, "--%s needs a value: --%s %s", found.name, found.name,
				 found.value_name);
	return store_value(command, &found, options, value, err);
}

static bool is_option(const char *text)
{
	return text[0] == '-' && text[1];
}

/* Parses all options. Returns the arguments, or NULL, as cli_parse() does. */
static char **parse_options(const struct cli_command *command, char **argv, void *options,
			    int *ret_code)
{
	char **const first = argv + 1;
	char **end = first; /* of the arguments collected so far, with options_anywhere */
	struct error err;

	for (argv++; *argv && (command->options_anywhere || is_option(*argv)); argv++) {
		if (strcmp(*argv, "--") == 0) {
			argv++;
			break;
		}
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0) {
			*ret_code = cli_print_help(command);
			return NULL;
		}
		if (!is_option(*argv)) {
			*end++ = *argv;
		} else if (parse_option(command, &argv, options, &err) < 0) {
			*ret_code = cli_fail(&err);
			return NULL;
		}
	}
	if (!command->options_anywhere)
		return argv;
	while ((*end++ = *argv))
		argv++;
	return first;
}

char **cli_parse(const struct cli_command *command, char **argv, void *options, int *ret_code)
{
	char **rest = parse_options(command, argv, options, ret_code);

	for (size_t i = 0; rest && rest[i]; i++) {
		if (i == command->max_args) {
			*ret_code = cli_fail_argument(command, rest[i]);
			return NULL;
		}
	}
	return rest;
}

/* Returns whether the setting is a switch that is on by default. */
static bool is_on_by_default(const struct setting *setting)
{
	return setting->type == SETTING_SWITCH && strcmp(setting->fallback, "true") == 0;
}

char *cli_setting_usage(const struct setting *setting)
{
	if (setting->type != SETTING_SWITCH)
		return mem_format("--%s %s", setting->key, setting->value);
	return mem_format("--%s%s", setting->key, is_on_by_default(setting) ? "=false" : "");
}

static char *setting_help(const struct setting *setting)
{
	return mem_format("%s%s", is_on_by_default(setting) ? "do not " : "", setting->help);
}

void cli_print_wrapped(const char *text, int indent)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);

	page_wrap(&out, text, indent, indent, PAGE_PROSE);
	puts(buffer_text(&out));
}

static void print_row(const char *left, const char *help)
{
	enum { COLUMN = 24 };

	printf("  %-*s", COLUMN - 3, left);
	if (strlen(left) > COLUMN - 4)
		printf("\n%*s", COLUMN, "");
	else
		printf(" ");
	cli_print_wrapped(help, COLUMN);
}

/* Returns whether the reader of stdout is gone, as in `ringfence config | head -1`. */
static bool reader_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

int cli_flush(void)
{
	enum { EXIT_PIPE = 128 + SIGPIPE };
	struct error err;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	if (reader_is_gone())
		return EXIT_PIPE;
	error_sys(&err, "write to stdout");
	return cli_fail(&err);
}

/* exec --help explains the settings of the fence, gateway --help those of models; other commands
 * that have them only list their names. */
static bool is_explained_elsewhere(const struct cli_command *command, const struct setting *setting)
{
	if (cli_has_setting(command, setting_at(SETTING_MAX_TIME)))
		return !setting->loop_only;
	return cli_has_setting(command, setting_at(SETTING_WRITE)) && setting->loop_only &&
	       setting->id != SETTING_MODELS;
}

static void print_settings(const struct cli_command *command)
{
	if (command->settings_of) {
		printf("\nand the settings of %s (ringfence %s --help).\n", command->settings_of,
		       command->settings_of);
		return;
	}

	AUTO_BUFFER struct buffer others = BUFFER_INIT(4096);
	bool for_loops = cli_has_setting(command, setting_at(SETTING_MAX_TIME));

	printf("\nSettings, also keys of ringfence.yml (ringfence config --explain):\n");
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		AUTO_FREE char *left = cli_setting_usage(setting_at(i));
		AUTO_FREE char *help = setting_help(setting_at(i));

		if (!cli_has_setting(command, setting_at(i)))
			continue;
		if (is_explained_elsewhere(command, setting_at(i)))
			buffer_printf(&others, "%s--%s", others.used ? ", " : "",
				      setting_at(i)->key);
		else
			print_row(left, help);
	}
	if (others.used) {
		printf("\nand settings of %s --help):\n  ",
		       for_loops ? "the fence (ringfence exec" : "models (ringfence gateway");
		cli_print_wrapped(buffer_text(&others), 2);
	}
}

/* The everyday commands, by task. */
static const struct {
	const char *task;
	const struct cli_command *commands[10]; /* ends with NULL */
} everyday[] = {
	{ "try it", { &cmd_demo, &cmd_doctor, &cmd_agents } },
	{ "prepare a project", { &cmd_init, &cmd_preflight, &cmd_policy } },
	{ "let an agent work", { &cmd_run, &cmd_work } },
	{ "watch and steer it",
	  { &cmd_watch, &cmd_serve, &cmd_status, &cmd_logs, &cmd_tell, &cmd_answer, &cmd_pause,
	    &cmd_resume, &cmd_abort } },
	{ "take over its result",
	  { &cmd_diff, &cmd_apply, &cmd_land, &cmd_rollback, &cmd_discard } },
	{ "run one command in the fence", { &cmd_exec, &cmd_suggest } },
};

int cli_print_all_commands(void)
{
	for (const struct cli_command *const *at = cli_commands; *at; at++)
		print_row((*at)->name, (*at)->summary);
	return cli_flush();
}

static int print_program_help(void)
{
	printf("usage: ringfence COMMAND [options]\n\n");
	cli_print_wrapped(description, 0);
	for (size_t i = 0; i < sizeof everyday / sizeof *everyday; i++) {
		printf("\n%s\n", everyday[i].task);
		for (const struct cli_command *const *at = everyday[i].commands; *at; at++)
			print_row((*at)->name, (*at)->summary);
	}
	printf("\n"
	       "ringfence COMMAND --help   show the options of a command\n"
	       "ringfence help --all       list all commands\n"
	       "ringfence --version        print the version\n");
	return cli_flush();
}

int cli_print_help(const struct cli_command *command)
{
	if (!command)
		return print_program_help();
	printf("usage: ringfence %s %s\n\n", command->name, command->args);
	cli_print_wrapped(command->description, 0);
	if (command->options[0].name)
		printf("\n");
	for (const struct cli_option *at = command->options; at->name; at++) {
		AUTO_FREE char *left = mem_format("--%s%s%s", at->name, at->value ? " " : "",
						  at->value ? at->value : "");

		print_row(left, at->help);
	}
	if (command->set)
		print_settings(command);
	for (const struct cli_section *at = command->sections; at && at->title; at++)
		printf("\n%s\n%s", at->title, at->text);
	return cli_flush();
}

/* Escapes text for roff, in which backslashes and leading dots are special, and - is a hyphen. */
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

static void print_man_options(const struct cli_command *command)
{
	if (command->options[0].name)
		printf("\n.SH OPTIONS\n");
	for (const struct cli_option *at = command->options; at->name; at++)
		print_man_option(at->name, at->value, at->help);
	if (!command->set)
		return;
	printf(".SH SETTINGS\nEach is also a key of ringfence.yml; ringfence config "
	       "\\-\\-explain describes it.\n");
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		const struct setting *at = setting_at(i);
		AUTO_FREE char *name = mem_format("%s%s", at->key,
						  is_on_by_default(at) ? "=false" : "");
		AUTO_FREE char *help = setting_help(at);

		if (cli_has_setting(command, at))
			print_man_option(name, at->type == SETTING_SWITCH ? NULL : at->value, help);
	}
}

static void print_man_title(const char *command)
{
	const char *dash = *command ? "\\-" : "";

	printf(".TH RINGFENCE%s", dash);
	for (const char *at = command; *at; at++)
		putchar(toupper((unsigned char)*at));
	printf(" 1 \"\" \"ringfence %s\" \"Ringfence\"\n.SH NAME\nringfence%s%s \\- ",
	       RINGFENCE_VERSION, dash, command);
}

/* Variables that change what commands do. */
static const struct {
	const char *name;
	const char *help;
	bool models; /* only commands that take settings */
} variables[] = {
	{ "RINGFENCE_STATE_DIR", "the folder of loops, drafts and checkpoints", false },
	{ "XDG_STATE_HOME",
	  "without the former, this folder contains it, as ringfence (default: ~/.local/state)",
	  false },
	{ "XDG_CONFIG_HOME", "the folder that contains ringfence/config.yml (default: ~/.config)",
	  false },
	{ "NO_COLOR", "if set, nothing is printed in colours", false },
	{ "PAGER", "shows long output on a terminal (default: less; cat or nothing: no pager)",
	  false },
	{ "HTTPS_PROXY", "a proxy through which the gateway reaches models", true },
};

static void print_man_variable(const char *name, const char *help)
{
	printf(".TP\n.B ");
	print_roff(name);
	printf("\n");
	print_roff(help);
	printf("\n");
}

static void print_man_environment(const struct cli_command *command)
{
	bool models = !command || command->set;

	printf(".SH ENVIRONMENT\n");
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (models || !variables[i].models)
			print_man_variable(variables[i].name, variables[i].help);
	for (int i = 0; models && i < PROVIDER_COUNT; i++) {
		const struct provider *provider = provider_at((enum provider_id)i);
		AUTO_FREE char *help =
			mem_format("a key for %s, which no command in the fence sees",
				   provider->name);

		for (const char *const *key = provider->keys; *key; key++)
			print_man_variable(*key, help);
	}
}

/* Is a command listed with this one as serving the same task? */
static bool is_related(const struct cli_command *command, const struct cli_command *other)
{
	for (size_t i = 0; i < sizeof everyday / sizeof *everyday; i++) {
		bool has_command = !command;
		bool has_other = false;

		for (const struct cli_command *const *at = everyday[i].commands; *at; at++) {
			has_command |= *at == command;
			has_other |= *at == other;
		}
		if (has_command && has_other)
			return command != other;
	}
	return false;
}

/* A command's page names those for the same task, and the page of the program the everyday ones. */
static void print_man_see_also(const struct cli_command *command)
{
	bool first = !command;

	printf(".SH SEE ALSO\n");
	if (command)
		printf(".BR ringfence (1)");
	for (const struct cli_command *const *at = cli_commands; *at; at++) {
		if (!is_related(command, *at))
			continue;
		printf("%s.BR ringfence\\-%s (1)", first ? "" : ",\n", (*at)->name);
		first = false;
	}
	printf("\n");
}

int cli_print_man(const struct cli_command *command)
{
	print_man_title(command ? command->name : "");
	print_roff(command ? command->summary
			   : "run commands and coding agents in a fence they cannot leave");
	printf("\n.SH SYNOPSIS\n.B ringfence %s\n", command ? command->name : "COMMAND");
	print_roff(command ? command->args : "[options]");
	printf("\n.SH DESCRIPTION\n");
	print_roff(command ? command->description : description);
	if (!command) {
		printf("\n.SH COMMANDS\n");
		for (const struct cli_command *const *at = cli_commands; *at; at++) {
			printf(".TP\n.B %s\n", (*at)->name);
			print_roff((*at)->summary);
			printf("\n");
		}
		print_man_environment(NULL);
		print_man_see_also(NULL);
		return cli_flush();
	}
	print_man_options(command);
	for (const struct cli_section *at = command->sections; at && at->title; at++) {
		printf(".SH ");
		print_roff(at->title);
		printf("\n.nf\n");
		print_roff(at->text);
		printf(".fi\n");
	}
	print_man_environment(command);
	print_man_see_also(command);
	return cli_flush();
}

int cli_fail_argument(const struct cli_command *command, const char *argument)
{
	struct error err;

	error_set(&err, "%s does not take the argument '%s' (ringfence %s --help)", command->name,
		  argument, command->name);
	return cli_fail(&err);
}

int cli_fail(const struct error *err)
{
	enum { EXIT_REFUSED = 125 };

	page_report("ringfence:", err->text);
	return EXIT_REFUSED;
}

int cli_fail_config(const struct config *config, const struct error *err)
{
	int code = 0;

	if (!config->problems.count)
		return cli_fail(err);
	for (size_t i = 0; i < config->problems.count; i++) {
		const char *text = config->problems.items[i];
		bool bare = strstr(text, "did not find expected") && text[strlen(text) - 1] != ')';
		struct error problem;

		error_set(&problem, "%s%s", text,
			  bare ? " (is a ] or a quote missing above?)" : "");
		code = cli_fail(&problem);
	}
	return code;
}
