/* Command lines for sh -c, as far as they can be understood without a shell. */
#ifndef UTIL_SHELL_H
#define UTIL_SHELL_H

#include "util/list.h"

/* The program that a line begins with, behind assignments; ~/ is the folder `home`. NULL where a shell would have to
 * say what it is: quotes, expansions, functions. The caller frees. */
char *shell_program(const char *line, const char *home);

/* Adds the words of a line, without their quotes; what is to be replaced stays as it is written. A quoted word may be a line
 * itself (sh -c '...'): its words follow it. */
void shell_words(const char *line, struct list *words);

#endif
