/* Identifiers of loops and drafts. */
#ifndef UTIL_ID_H
#define UTIL_ID_H

#include <stdbool.h>

/* Returns a new id, which the caller frees: date, time and four letters. Ids sort, can be typed,
 * and rarely collide. */
char *id_new(void);

/* Reports whether a text has the form of an id. */
bool id_is_valid(const char *text);

/* Reports whether a word stands for an id: it is the id, at least four characters of its
 * beginning, or the four letters at its end. */
bool id_matches(const char *id, const char *word);

/* Reports whether a text can be a name that a person gives: it begins with a letter, so that it
 * cannot be the beginning of an id, and contains only letters, digits and ". _ -". */
bool id_is_name(const char *text);

#endif
