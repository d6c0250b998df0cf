/* The text of a request, of which only our own part is ever replaced. Pure functions. */
#ifndef LAND_LAND_BODY_H
#define LAND_LAND_BODY_H

#include "util/buffer.h"

#include <stddef.h>

enum {
	LAND_BODY_OURS = 48 << 10, /* most bytes of our part; GitHub takes 64 KiB in all */
	LAND_TITLE = 120           /* most bytes of a title */
};

/* Returns a title for an objective: its first line, as text that shows what it is. The caller
 * frees it. */
char *land_body_title(const char *objective);

/* Returns `body` with our part (Markdown) in it: in place of the earlier one, or after everything
 * else. The caller frees it. */
char *land_body_with(const char *body, const char *ours);

#endif
