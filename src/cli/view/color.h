/* Colours for people: only on a terminal that has them, and not where NO_COLOR is set; FORCE_COLOR has them everywhere. */
#ifndef CLI_VIEW_COLOR_H
#define CLI_VIEW_COLOR_H

#include <stdbool.h>

enum color { COLOR_PLAIN, COLOR_BOLD, COLOR_DIM, COLOR_RED, COLOR_GREEN };

/* Are they wanted on stdout? */
bool color_wanted(void);

/* What begins one, and what ends each; empty where they are not wanted. */
const char *color_on(enum color paint);
const char *color_off(enum color paint);

#endif
