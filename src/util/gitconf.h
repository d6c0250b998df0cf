/*
 * Reads configurations of git, and .gitmodules, as text: what is written there, and nothing of it is obeyed. Includes are
 * not followed.
 */
#ifndef UTIL_GITCONF_H
#define UTIL_GITCONF_H

#include <stddef.h>

/* One entry: [section "subsection"] key = value. Section and key are in lower case; a section may be empty, and subsection
 * NULL; a key alone has the value "true". A result that is not 0 ends the reading. */
struct gitconf_entry {
	const char *section;
	const char *subsection;
	const char *key;
	const char *value;
};

typedef int gitconf_fn(void *context, const struct gitconf_entry *entry);

/* Calls the function for every entry, in order. Returns 0, what the function said, or -1: git would not read it
 * either. */
int gitconf_each(const char *bytes, size_t size, gitconf_fn *found, void *context);

#endif
