/*
 * Commands describe themselves: parsing, --help and the man pages come from one entry.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "config/setting.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

struct option {
	const char *name;  /* without the dashes */
	const char *value; /* what its value is called; NULL: it takes none */
	const char *help;
	/* Takes a value (NULL for an option without) into the command's own options. Returns 0, or
	 * -1 with err set. */
	int (*take)(void *options, const char *value, struct error *err);
};

/* Another name for an option: "-p" for "--prompt-file", "--no-x" for "--x=false". */
struct alias {
	const char *from;
	const char *to;
};

struct section {
	const char *title;
	const char *text; /* lines; kept as they are */
};

struct command {
	const char *name;
	const char *args;
	const char *help;             /* one line */
	const char *about;            /* a paragraph */
	const struct option *options; /* ends with a NULL name */
	/* Takes a setting into the command's own options: every one is an option, then. NULL: none
	 * is. */
	int (*set)(void *options, const struct setting *setting, const char *value,
		   struct error *err);
	bool loop;                      /* of the settings also those that are only for loops */
	const struct alias *aliases;    /* ends with a NULL from; NULL: none */
	const struct section *sections; /* ends with a NULL title */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(const struct command *command, char **argv);
};

extern const struct command cmd_abort;
extern const struct command cmd_circuit;
extern const struct command cmd_completions;
extern const struct command cmd_config;
extern const struct command cmd_doctor;
extern const struct command cmd_exec;
extern const struct command cmd_help;
extern const struct command cmd_history;
extern const struct command cmd_init;
extern const struct command cmd_keep;
extern const struct command cmd_logs;
extern const struct command cmd_pause;
extern const struct command cmd_policy;
extern const struct command cmd_resume;
extern const struct command cmd_run;
extern const struct command cmd_status;
extern const struct command cmd_suggest;
extern const struct command cmd_trust;
extern const struct command cmd_untrust;

/* All commands; ends with NULL. */
extern const struct command *const cli_commands[];

/* The command with this name, or NULL with err set (and the nearest name in it). */
const struct command *cli_find(const char *name, struct error *err);

/*
 * Takes the options in front of argv[1..]. Returns the rest (after "--", or from the first argument
 * that is no option), or NULL with err set; *ret_help is set when --help was asked for.
 */
char **cli_parse(const struct command *command, char **argv, void *options, bool *ret_help,
		 struct error *err);

/*
 * The same with options and words in any order; behind "--" there are only words, which are added to the
 * list. Returns 0, or -1 with err set.
 */
int cli_parse_words(const struct command *command, char **argv, void *options,
		    struct list *ret_words, bool *ret_help, struct error *err);

/* For people, and for man, on stdout. command NULL: the program as a whole. Returns the exit
 * status. */
int cli_print_help(const struct command *command);
int cli_print_man(const struct command *command);

/* For a command that takes no arguments: -1 with err set if there is one. */
int cli_no_more(const struct command *command, char *const *rest, struct error *err);

/* Is a setting an option of this command? */
bool cli_takes(const struct command *command, const struct setting *setting);

/* A setting as an option: "--net none|open". The caller frees. */
char *cli_setting_usage(const struct setting *setting);

/* Writes out what was printed on stdout. Returns the exit status: a full disk or a closed pipe is no
 * success. */
int cli_printed(void);

/* Prints "ringfence: ..." and returns the status for "refused or not set up". */
int cli_fail(const struct error *err);

#endif
