/*
 * Reads git configuration files and .gitmodules as text. Nothing in them is obeyed, and includes are
 * not followed.
 */
#ifndef GITCONFIG_GITCONFIG_H
#define GITCONFIG_GITCONFIG_H

#include <stddef.h>

/*
 * One entry: [section "subsection"] key = value. Section and key are in lower case. The section may
 * be empty and the subsection NULL; a key without a value has the value "true".
 */
struct gitconfig_entry {
	const char *section;
	const char *subsection;
	const char *key;
	const char *value;
};

/* A result other than 0 ends the reading. */
typedef int gitconfig_fn(void *context, const struct gitconfig_entry *entry);

/*
 * Calls `found` for every entry, in order. Returns 0, what `found` returned, or -1: the text is
 * invalid for git as well.
 */
int gitconfig_each(const char *bytes, size_t size, gitconfig_fn *found, void *context);

#endif
