/* A set of texts that only grows. */
#ifndef GITCONFIG_GITSET_H
#define GITCONFIG_GITSET_H

#include <stdbool.h>

struct gitset {
	void *root; /* a tree of texts (tsearch) */
};

/* Adds a copy of the text. Returns whether it was new. */
bool gitset_add(struct gitset *set, const char *text);
bool gitset_has(const struct gitset *set, const char *text);
void gitset_release(struct gitset *set);

#endif
