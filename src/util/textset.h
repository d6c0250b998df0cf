/* A set of texts that only grows. */
#ifndef UTIL_TEXTSET_H
#define UTIL_TEXTSET_H

#include <stdbool.h>

struct textset {
	void *root; /* a tree of texts (tsearch) */
};

/* Adds a copy of the text. Returns whether it was new. */
bool textset_add(struct textset *set, const char *text);
bool textset_has(const struct textset *set, const char *text);
void textset_release(struct textset *set);

#endif
