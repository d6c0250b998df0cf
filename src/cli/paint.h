/* Colours for people: only on a terminal that has them, and not where NO_COLOR is set; FORCE_COLOR has them everywhere. */
#ifndef CLI_PAINT_H
#define CLI_PAINT_H

#include <stdbool.h>

enum paint { PAINT_PLAIN, PAINT_BOLD, PAINT_DIM, PAINT_RED, PAINT_GREEN };

/* Are they wanted on stdout? */
bool paint_wanted(void);

/* What begins one, and what ends each; empty where they are not wanted. */
const char *paint_on(enum paint paint);
const char *paint_off(enum paint paint);

#endif
