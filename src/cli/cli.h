/*
 * Commands of the program, and their options. Parsing, --help, man pages and completions are all
 * derived from a command's struct cli_command.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "config/config.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* An option with a text value, or a flag without one. */
struct cli_option {
	const char *name;  /* without the dashes */
	const char *value; /* the placeholder for its value, or NULL for a flag */
	const char *help;
	size_t offset; /* of a const char * or bool in the command's options struct */
};

/* Rows of an option table. A member of the wrong type does not compile. */
#define OPTION_TEXT(name, value, help, type, member)                               \
	{                                                                          \
		name, value, help, _Generic(((type *)NULL)->member, const char * \
					    : offsetof(type, member)) \
	}
#define OPTION_FLAG(name, help, type, member)                                                     \
	{                                                                                         \
		name, NULL, help, _Generic(((type *)NULL)->member, bool : offsetof(type, member)) \
	}
#define OPTION_PROJECT(type, member)                                                           \
	OPTION_TEXT("project", "DIR", "the project's folder (default: the current one)", type, \
		    member)
#define OPTION_JSON(type, member) OPTION_FLAG("json", "print JSON", type, member)

enum { CLI_ANY = 1 << 30 };

/* Another name for an option: "-p" for "--prompt-file", "--no-x" for "--x=false". */
struct cli_alias {
	const char *from;
	const char *to;
};

struct cli_section {
	const char *title;
	const char *text; /* printed verbatim, without wrapping */
};

struct cli_command {
	const char *name;
	const char *args;
	size_t max_args;                  /* or CLI_ANY */
	bool options_anywhere;            /* options may also follow arguments */
	const char *summary;              /* one line, imperative */
	const char *description;          /* a paragraph */
	const struct cli_option *options; /* ends with a NULL name */
	const struct cli_alias *aliases;  /* ends with a NULL from; may be NULL */
	/* Stores a setting's value in the command's options struct. NULL if the command has no
	 * settings as options. */
	int (*set)(void *options, const struct setting *setting, const char *value,
		   struct error *err);
	/* Selects the settings that are options. NULL selects those that are not only for loops. */
	bool (*has_setting)(const struct setting *setting);
	const char *settings_of; /* the command whose help describes the settings; NULL: this one */
	const struct cli_section *sections; /* NULL, or ends with a NULL title */
	/* Runs the command. argv[0] is its name. Returns the exit status. */
	int (*run)(const struct cli_command *command, char **argv);
};

extern const struct cli_command cmd_abort;
extern const struct cli_command cmd_adopt;
extern const struct cli_command cmd_agents;
extern const struct cli_command cmd_answer;
extern const struct cli_command cmd_apply;
extern const struct cli_command cmd_checkpoints;
extern const struct cli_command cmd_circuit;
extern const struct cli_command cmd_clean;
extern const struct cli_command cmd_complete;
extern const struct cli_command cmd_completions;
extern const struct cli_command cmd_config;
extern const struct cli_command cmd_cost;
extern const struct cli_command cmd_diff;
extern const struct cli_command cmd_demo;
extern const struct cli_command cmd_discard;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_drafts;
extern const struct cli_command cmd_estimate;
extern const struct cli_command cmd_exec;
extern const struct cli_command cmd_shell;
extern const struct cli_command cmd_gateway;
extern const struct cli_command cmd_help;
extern const struct cli_command cmd_history;
extern const struct cli_command cmd_image;
extern const struct cli_command cmd_init;
extern const struct cli_command cmd_keep;
extern const struct cli_command cmd_land;
extern const struct cli_command cmd_logs;
extern const struct cli_command cmd_notifier;
extern const struct cli_command cmd_notify;
extern const struct cli_command cmd_pause;
extern const struct cli_command cmd_policy;
extern const struct cli_command cmd_preflight;
extern const struct cli_command cmd_prices;
extern const struct cli_command cmd_prompt;
extern const struct cli_command cmd_prompts;
extern const struct cli_command cmd_metrics;
extern const struct cli_command cmd_quarantine;
extern const struct cli_command cmd_report;
extern const struct cli_command cmd_restore;
extern const struct cli_command cmd_resume;
extern const struct cli_command cmd_rollback;
extern const struct cli_command cmd_run;
extern const struct cli_command cmd_serve;
extern const struct cli_command cmd_serve_part;
extern const struct cli_command cmd_show;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_suggest;
extern const struct cli_command cmd_tell;
extern const struct cli_command cmd_trust;
extern const struct cli_command cmd_untrust;
extern const struct cli_command cmd_watch;
extern const struct cli_command cmd_attach;
extern const struct cli_command cmd_work;

/* All public commands, in the order of --help; ends with NULL. */
extern const struct cli_command *const cli_commands[];

/* Returns the command with this name, or NULL with err set and a similar name suggested. */
const struct cli_command *cli_find(const char *name, struct error *err);

/*
 * Parses the options in argv[1..] into `options` and returns the arguments: everything after "--"
 * or from the first word that is not an option. With options_anywhere, argv is rearranged so that
 * the arguments follow each other. Returns NULL, with the exit status in *ret_code, if --help was
 * printed or an error was reported.
 */
char **cli_parse(const struct cli_command *command, char **argv, void *options, int *ret_code);

/* Print the help or the man page of a command, or of the program if command is NULL: its everyday
 * commands by task. Return the exit status. */
int cli_print_help(const struct cli_command *command);
int cli_print_man(const struct cli_command *command);

/* Prints the name and the summary of every command. Returns the exit status of printing. */
int cli_print_all_commands(void);

/* Reports an unexpected argument, and returns the exit status. */
int cli_fail_argument(const struct cli_command *command, const char *argument);

/* Returns whether a setting is an option of this command. */
bool cli_has_setting(const struct cli_command *command, const struct setting *setting);

/* Returns a setting's usage as an option, such as "--net none|open". The caller frees it. */
char *cli_setting_usage(const struct setting *setting);

/* Prints text wrapped at 80 columns. The cursor is at column `indent`; later lines start there. */
void cli_print_wrapped(const char *text, int indent);

/* Flushes stdout and returns the exit status. A full disk is reported; a closed pipe is an error
 * without a message. */
int cli_flush(void);

/* Prints "ringfence: ERROR" on stderr and returns 125, the exit status for refusals. */
int cli_fail(const struct error *err);

/* The same for settings that failed to load: prints every problem of theirs, or else the error. */
int cli_fail_config(const struct config *config, const struct error *err);

#endif
