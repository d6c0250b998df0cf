/*
 * Patterns as in .gitignore, one per line.
 *
 * A pattern without a slash matches a name at any depth; one with a leading or inner slash matches
 * from the root; one with a trailing slash matches only folders. `*` and `?` stay within a name,
 * `[a-z]`, `[!a-z]` and `[[:space:]]` match one character, a component `**` matches any number of
 * folders, and a backslash escapes the next character. How the contents of a matching folder are
 * treated is up to the caller.
 */
#ifndef UTIL_TEXT_GLOB_H
#define UTIL_TEXT_GLOB_H

#include <stdbool.h>
#include <stdint.h>

enum { GLOB_LONGEST = 1024 };

struct glob {
	char *text;   /* without leading and trailing slashes */
	bool rooted;  /* matched against the whole path instead of the name */
	bool folders; /* matches only folders */
};

enum glob_line {
	GLOB_PATTERN, /* *ret_glob is set */
	GLOB_NOTHING, /* blank, or a comment */
	GLOB_NEGATED, /* begins with "!" */
	GLOB_WRONG,   /* longer than GLOB_LONGEST, or cannot match anything */
};

/* Parses one line, without its line end. */
enum glob_line glob_read(const char *line, struct glob *ret_glob);
void glob_release(struct glob *glob);

/* Reports whether the pattern matches an entry. `path` is relative to the root, without a leading
 * slash. *steps is the remaining step budget and is reduced by the steps taken; once it reaches 0
 * the result is meaningless. */
bool glob_matches(const struct glob *glob, const char *path, bool is_dir, uint64_t *steps);

#endif
