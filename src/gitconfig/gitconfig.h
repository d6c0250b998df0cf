/*
 * Parses git configuration files and .gitmodules. Obeys no setting and follows no includes.
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

/* A result other than 0 stops the parser. */
typedef int gitconfig_fn(void *context, const struct gitconfig_entry *entry);

/*
 * Calls `found` for every entry, in order. Returns 0, the first nonzero result of `found`, or -1 if
 * the text is invalid, for git as well.
 */
int gitconfig_each(const char *bytes, size_t size, gitconfig_fn *found, void *context);

#endif
