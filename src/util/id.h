/* Identifiers of loops and drafts. */
#ifndef UTIL_ID_H
#define UTIL_ID_H

#include <stdbool.h>

/* Returns a new id, which the caller frees: date, time and four letters. Ids sort, can be typed,
 * and rarely collide. */
char *id_new(void);

/* Reports whether a text has the form of an id. */
bool id_is_valid(const char *text);

#endif
