/*
 * Tells what an agent can change: the project, and other folders that it may write to. Nothing
 * there is run outside the fence, or read as a secret. A program that runs outside is found by
 * taint_find(), and gets the environment of taint_environment(), so that it finds no other program
 * there either.
 */
#ifndef UTIL_TAINT_H
#define UTIL_TAINT_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

struct taint {
	struct list places; /* real paths */
	char *home;         /* of the user, for "~" */
	const char *folder; /* in which commands run; NULL: / */
};

/* home: the user's, or "". */
void taint_init(struct taint *ret_taint, const char *home);
void taint_release(struct taint *taint);

/* Adds a folder or file; an empty path is ignored. */
void taint_add(struct taint *taint, const char *path);

/* Can an agent decide what an absolute path leads to? Every symlink on the way counts, also of a
 * file that is missing. */
bool taint_has(const struct taint *taint, const char *path);

/* Refuses a word of a command that names such a path, also within the word ("--config=/a/b").
 * Returns 0, or -1 with err set. */
int taint_check_word(const struct taint *taint, const char *word, struct error *err);

/* Does the same with a line for a shell, as far as it can be parsed. It also refuses programs in
 * PATH that lead to such a path. */
int taint_check_line(const struct taint *taint, const char *line, struct error *err);

/* Finds a program in the folders of PATH that no agent can change. The caller frees; NULL: none. */
char *taint_find(const struct taint *taint, const char *name);

/* Returns "PATH=" with those folders. The caller frees it. */
char *taint_path(const struct taint *taint);

/* Adds a copy of every variable, with that PATH. */
void taint_environment(const struct taint *taint, struct list *environment);

#endif
