/*
 * Texts as words, for files of lines: a word has no space and no control character, and is never
 * empty. These bytes and '%' become %NN; the empty text becomes a single '%'.
 */
#ifndef UTIL_TEXT_WORD_H
#define UTIL_TEXT_WORD_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>

void word_add(struct buffer *out, const char *text);

/* Returns the text as a word. The caller frees it. */
char *word_from(const char *text);

/* Takes the next word from *at and the space after it. Returns its start and sets *ret_size, or
 * returns NULL at the end. */
const char *word_take(const char **at, size_t *ret_size);

/* Takes the next word, and returns its text, which the caller frees, or NULL at the end of the line
 * and for a malformed word. */
char *word_take_text(const char **at);

/* Takes the next word as a decimal number. Returns 0, or -1 if it is not a number. */
int word_take_number(const char **at, uint64_t *ret_number);

#endif
