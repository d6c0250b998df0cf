/*
 * Colours on stdout: only on a terminal that supports them, and never if NO_COLOR is set.
 * FORCE_COLOR turns them on everywhere.
 */
#ifndef CLI_VIEW_COLOR_H
#define CLI_VIEW_COLOR_H

#include <stdbool.h>

enum color { COLOR_PLAIN, COLOR_BOLD, COLOR_DIM, COLOR_RED, COLOR_GREEN };

/* Whether stdout gets colours. */
bool color_wanted(void);

/* The sequences that start and end a colour; empty if colours are off. */
const char *color_on(enum color paint);
const char *color_off(enum color paint);

#endif
