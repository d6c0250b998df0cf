/*
 * Patterns as in .gitignore, one a line.
 *
 * A name without a slash is looked for at any depth; with a slash at its start or inside it is
 * meant from the root on; a slash at its end means folders only. `*` and `?` stay within a name,
 * `[a-z]` and `[!a-z]` are one character of it, a name `**` is any number of folders, and a
 * backslash takes the next character as it is. What a matching folder holds is the caller's affair.
 */
#ifndef UTIL_GLOB_H
#define UTIL_GLOB_H

#include <stdbool.h>

enum { GLOB_LONGEST = 1024 };

struct glob {
	char *text;   /* without the slashes that only say how it is meant */
	bool rooted;  /* matched against the whole path, not the name alone */
	bool folders; /* matches nothing else */
};

enum glob_line {
	GLOB_PATTERN, /* *ret_glob is set */
	GLOB_NOTHING, /* blank, or a comment */
	GLOB_NEGATED, /* begins with "!" */
	GLOB_WRONG,   /* longer than GLOB_LONGEST, or it can match nothing */
};

/* Reads one line (without its end). */
enum glob_line glob_read(const char *line, struct glob *ret_glob);
void glob_release(struct glob *glob);

/* Does it mean this entry? path: below the root, without a leading slash. */
bool glob_matches(const struct glob *glob, const char *path, bool is_dir);

#endif
