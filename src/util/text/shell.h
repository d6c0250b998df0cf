/* Command lines for sh -c, as far as they can be parsed without a shell. */
#ifndef UTIL_TEXT_SHELL_H
#define UTIL_TEXT_SHELL_H

#include "util/list.h"

/* Returns the program that a line starts with, after any assignments; ~/ expands to `home`. NULL if
 * only a shell could tell (quotes, expansions, functions). The caller frees it. */
char *shell_program(const char *line, const char *home);

/* Adds the words of a line, unquoted but not expanded. A quoted word may itself be a command line
 * (sh -c '...'), so its words follow it. If the line has groups or expansions, (a), $(a), `a` or
 * ${a}, then the words between their characters follow all others. */
void shell_words(const char *line, struct list *words);

/* Returns a word as a shell reads it: in single quotes, if it has characters that need them. The
 * caller frees it. */
char *shell_quoted(const char *word);

#endif
