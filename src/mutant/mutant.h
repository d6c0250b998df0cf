/*
 * Mutants: small changes to lines of code that a good test notices. One that no check notices shows
 * that the line is untested, or that nothing depends on it.
 *
 * Pure: the text of a file and the lines that were changed go in, edits come out. They are found in
 * the text, outside of comments and strings (detect/detect_lines.h); the language is that of the
 * path. The texts are untrusted. The same texts always have the same mutants, in the same order.
 */
#ifndef MUTANT_MUTANT_H
#define MUTANT_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mutant_text {
	const char *path; /* in the project */
	const char *data;
	size_t size;
};

/* Replaces `size` bytes at `offset` by `text`. */
struct mutant {
	char *path;
	size_t offset, size;
	size_t line;      /* from 1 */
	char *before;     /* the replaced bytes */
	char *text;       /* what replaces them */
	const char *says; /* what was done, such as "a condition is inverted" */
	uint64_t rank;    /* a number that depends on the mutant, not on its place in the list */
	size_t turn;      /* how many mutants of the line come before it */
};

struct mutant_list {
	struct mutant *items;
	size_t count;
};

/* Sorts the mutants into the order in which they are tried, and removes those after the first
 * `most`. Every line has its turn before a line has a second one. */
void mutant_choose(struct mutant_list *mutants, size_t most);

/* Returns the text with the mutant in it, and its size. The caller frees it. */
char *mutant_apply(const struct mutant *mutant, const struct mutant_text *text, size_t *ret_size);

/* Reports whether the output of a check says that the code could not be read or compiled. Then the
 * mutant says nothing about the tests. */
bool mutant_is_invalid(const char *output, size_t size);

void mutant_release(struct mutant_list *mutants);

#endif
