/*
 * Commands describe themselves: parsing, --help and the man pages come from one entry.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "config/setting.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* An option: a text, or a flag where it takes no value. */
struct cli_option {
	const char *name;  /* without the dashes */
	const char *value; /* what its value is called; NULL: it takes none */
	const char *help;
	size_t offset; /* in the command's own options: of a const char *, or of a bool */
};

/* Rows of a table of options. A member of another type than these does not compile. */
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
#define OPTION_JSON(type, member) OPTION_FLAG("json", "as JSON", type, member)

enum { CLI_ANY = 1 << 30 };

/* Another name for an option: "-p" for "--prompt-file", "--no-x" for "--x=false". */
struct cli_alias {
	const char *from;
	const char *to;
};

struct cli_section {
	const char *title;
	const char *text; /* lines; kept as they are */
};

struct cli_command {
	const char *name;
	const char *args;
	size_t most;                      /* so many arguments, or CLI_ANY */
	bool mixed;                       /* options may stand behind arguments, too */
	const char *help;                 /* one line */
	const char *about;                /* a paragraph */
	const struct cli_option *options; /* ends with a NULL name */
	const struct cli_alias *aliases;  /* ends with a NULL from; NULL: there are none */
	/* Takes a setting into the command's own options. NULL: none is an option. */
	int (*set)(void *options, const struct setting *setting, const char *value,
		   struct error *err);
	/* Which settings are options, then. NULL: those that are not only for loops. */
	bool (*takes)(const struct setting *setting);
	const struct cli_section *sections; /* ends with a NULL title */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(const struct cli_command *command, char **argv);
};

extern const struct cli_command cmd_abort;
extern const struct cli_command cmd_agents;
extern const struct cli_command cmd_apply;
extern const struct cli_command cmd_checkpoints;
extern const struct cli_command cmd_circuit;
extern const struct cli_command cmd_clean;
extern const struct cli_command cmd_completions;
extern const struct cli_command cmd_config;
extern const struct cli_command cmd_cost;
extern const struct cli_command cmd_diff;
extern const struct cli_command cmd_demo;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_exec;
extern const struct cli_command cmd_gateway;
extern const struct cli_command cmd_help;
extern const struct cli_command cmd_history;
extern const struct cli_command cmd_init;
extern const struct cli_command cmd_keep;
extern const struct cli_command cmd_logs;
extern const struct cli_command cmd_pause;
extern const struct cli_command cmd_policy;
extern const struct cli_command cmd_prices;
extern const struct cli_command cmd_restore;
extern const struct cli_command cmd_resume;
extern const struct cli_command cmd_rollback;
extern const struct cli_command cmd_run;
extern const struct cli_command cmd_show;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_suggest;
extern const struct cli_command cmd_trust;
extern const struct cli_command cmd_untrust;

/* All commands; ends with NULL. */
extern const struct cli_command *const cli_commands[];

/* The command with this name, or NULL with err set (and the nearest name in it). */
const struct cli_command *cli_find(const char *name, struct error *err);

/*
 * How each command begins: takes the options in front of argv[1..] and returns the arguments (after
 * "--", or from the first one that is no option). Those of a mixed command are brought together in
 * argv. NULL: there is nothing left to do, because --help was answered or something is wrong and was
 * said; *ret_code is the exit status then.
 */
char **cli_begin(const struct cli_command *command, char **argv, void *options, int *ret_code);

/* For people, and for man, on stdout. command NULL: the program as a whole. Returns the exit
 * status. */
int cli_print_help(const struct cli_command *command);
int cli_print_man(const struct cli_command *command);

/* Says that an argument is superfluous, and returns the exit status. */
int cli_fail_argument(const struct cli_command *command, const char *argument);

/* Is a setting an option of this command? */
bool cli_takes(const struct cli_command *command, const struct setting *setting);

/* A setting as an option, "--net none|open", and what it does then. The caller frees. */
char *cli_setting_usage(const struct setting *setting);
char *cli_setting_help(const struct setting *setting);

/* Prints text in lines of 80 columns: the first goes on at column `indent`, the others begin there. */
void cli_print_wrapped(const char *text, int indent);

/* Writes out what was printed on stdout. Returns the exit status: a full disk or a closed pipe is no
 * success, though the latter is not worth a word. */
int cli_printed(void);

/* Prints "ringfence: ..." and returns the status for "refused or not set up". */
int cli_fail(const struct error *err);

#endif
