/*
 * The phases of a loop in a configuration file: a list of maps, whose keys are a table here.
 *
 * As a value of the configuration, a phase is its map as JSON: an object of texts, and of lists of
 * texts for `write`, `until` and `escalate`.
 */
#ifndef CONFIG_PHASE_TEXT_H
#define CONFIG_PHASE_TEXT_H

#include "config/yaml.h"
#include "util/error.h"
#include "util/list.h"

#include <stdint.h>

enum { PHASE_TEXT_MOST = 16, PHASE_TEXT_NAME_BYTES = 40, PHASE_TEXT_CONDITIONS = 8 };

/* The conditions that end a phase. */
enum phase_text_until {
	PHASE_TEXT_DONE,       /* the rules of the loop hold */
	PHASE_TEXT_PROMISE,    /* the agent ended with the promise */
	PHASE_TEXT_FILE,       /* there is such a file, and it is not empty */
	PHASE_TEXT_CHECK,      /* the command exits 0 */
	PHASE_TEXT_ITERATIONS, /* the phase had this many */
	PHASE_TEXT_UNTIL_COUNT
};

/* "done", "file" and so on, as written and as stored in the journal. */
const char *phase_text_until_name(enum phase_text_until kind);

/* Parses a condition, such as "file PLAN.md". *ret_rest is its argument, or empty. Returns 0, or -1
 * with err set. */
int phase_text_until(const char *text, enum phase_text_until *ret_kind, const char **ret_rest,
		     struct error *err);

/*
 * Reads one phase. `folder` is the base of the path in prompt-file. The caller frees the text. NULL
 * if there are mistakes, which are added to the problems.
 */
char *phase_text_read(const struct yaml_node *node, const char *file, const char *folder,
		      struct list *problems);

/* Checks the list itself: that it is one, its length, and that the names differ. Mistakes are added
 * to the problems. */
void phase_text_check_list(const struct yaml_node *node, const char *file, struct list *problems);

/* Returns the name of a phase that is a value of the configuration, or the text itself if it is not
 * one. The caller frees it. */
char *phase_text_name(const char *text);

/* Describes such a phase for people, without its name: "KEY:" for each key, each after a newline,
 * with its value (text_add_block()), or with those of a list, in lines that begin with "  -". The
 * caller frees it. */
char *phase_text_describe(const char *text);

/* Parses a list of names with commas between them, or `none`. Returns 0, or -1 with err set. */
int phase_text_names(const char *text, struct list *ret_names, struct error *err);

#endif
