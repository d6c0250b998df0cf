/*
 * A region of a few lines at the bottom of the terminal, which is drawn again and again; other
 * output scrolls above it. The terminal stays as it was: no mode is changed, the cursor stays
 * visible, on the line below the region. So nothing has to be restored, even after kill -9.
 */
#ifndef CLI_VIEW_LIVE_H
#define CLI_VIEW_LIVE_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum { LIVE_DRAW_MS = 125 }; /* between two drawings, at least */

struct live {
	bool on;            /* stdout is a terminal that can do this */
	int64_t at_ms;      /* of the last drawing, on the steady clock */
	struct buffer seen; /* the lines on the screen, each with a newline; empty: hidden */
	int below;          /* rows between them and the cursor: somebody pressed Enter */
};

/* Finds out whether there is such a terminal. */
void live_begin(struct live *live);

/* Removes the region from the screen: before anything else is printed, and at the end. */
void live_hide(struct live *live);
void live_end(struct live *live);

/* Replaces the region by these lines, unless the terminal belongs to other processes now. The lines
 * fit in its width. */
void live_draw(struct live *live, struct buffer *lines);

/* Drops what was typed: it would answer the next question, and has moved the cursor. */
void live_drop_keys(struct live *live);

/* Other programs have printed below the region: leaves it where it is. */
void live_leave(struct live *live);

/* Returns how long to wait until the next drawing. */
int live_wait_ms(const struct live *live);

#endif
