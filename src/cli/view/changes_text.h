/* Changes that apply makes in a project, by group, as text. */
#ifndef CLI_VIEW_CHANGES_TEXT_H
#define CLI_VIEW_CHANGES_TEXT_H

#include "ops/apply_changes.h"

/* Prints a line for each group, with its sums. */
void changes_text_sums(const struct apply_changes *changes, void (*print)(const char *line));

/* The same, with lines for its paths: all of them if the group needs a yes, otherwise the first
 * ones. */
void changes_text_print(const struct apply_changes *changes, void (*print)(const char *line));

/* Returns a path with what happens to it, such as "M src/a.c, +2 -1". The caller frees it. */
char *changes_text_line(const struct apply_changes_item *item);

#endif
