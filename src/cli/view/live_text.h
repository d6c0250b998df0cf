/*
 * The live region of a loop as text: a pure function of what happens, the limits and the width. The
 * first line tells what happens now; below are the limits as bars, on one line or, on a narrow
 * terminal, one below the other.
 */
#ifndef CLI_VIEW_LIVE_TEXT_H
#define CLI_VIEW_LIVE_TEXT_H

#include "util/buffer.h"
#include "view/view_limits.h"
#include "view/view_now.h"

#include <stdbool.h>

enum { LIVE_TEXT_LINES = 4, LIVE_TEXT_NARROW = 20 }; /* a terminal below that has no region */

struct live_text {
	const struct view_now *now;
	const struct view_limits *limits;
	int64_t now_ms;
	int width;     /* of the terminal: no line is that wide; on a wide one, none is as wide */
	unsigned spin; /* the frame of the spinner */
	bool utf8;     /* else only ASCII is used for bars and the spinner */
	bool color;
};

/* Appends at most LIVE_TEXT_LINES lines, each with a newline. */
void live_text_add(const struct live_text *whole, struct buffer *out);

/* Returns all that as one line for a log. The caller frees it. */
char *live_text_heartbeat(const struct live_text *text);

#endif
