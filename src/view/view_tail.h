/* The end of a log that may be growing. */
#ifndef VIEW_VIEW_TAIL_H
#define VIEW_VIEW_TAIL_H

#include <stddef.h>

enum { VIEW_TAIL_LINE = 400 }; /* bytes of the longest line returned */

/* Reads at most `most` bytes from the end of a file, which the caller frees. Returns NULL if it
 * is empty or missing. The bytes may begin in the middle of a line. */
char *view_tail_read(const char *path, size_t most, size_t *ret_size);

/* Returns the last line that is not empty, or NULL. Of a long line, its end is returned; of a line
 * that was overwritten (a progress bar), what is on the screen. The caller frees it. */
char *view_tail_line(const char *bytes, size_t size);

/* Removes colours and other escape sequences with parameters, and makes tabs spaces, in place. The
 * rest is still not safe for a terminal. */
void view_tail_plain(char *text);

#endif
