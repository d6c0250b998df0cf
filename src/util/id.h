/* Identifiers of loops and drafts. */
#ifndef UTIL_ID_H
#define UTIL_ID_H

/* Returns a new id, which the caller frees: date, time and four letters. Ids sort, can be typed,
 * and rarely collide. */
char *id_new(void);

#endif
