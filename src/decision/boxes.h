/*
 * The boxes of a task list in Markdown: `- [ ] open`, `1. [x] ticked`.
 *
 * A box is a list item (-, *, +, 1. or 1), at any depth) that starts with [ ], [x] or [X] followed
 * by white space. Boxes in fenced code are examples and do not count. A fence that is never closed
 * hides nothing: the boxes after it count, so that a lost fence cannot make a list look finished.
 */
#ifndef DECISION_BOXES_H
#define DECISION_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boxes {
	uint32_t open;
	uint32_t ticked;
};

/* The fence of code that is open. */
struct boxes_fence {
	char mark; /* 0: none */
	size_t size;
};

enum boxes_kind { BOXES_NONE, BOXES_FENCE, BOXES_OPEN, BOXES_TICKED };

/*
 * Reads a line without its end: a fence that opens or closes, or a box, whose mark *ret_mark points
 * to; its text is two characters after that. A box while a fence is open is an example, if the
 * fence is closed later.
 */
enum boxes_kind boxes_read(struct boxes_fence *fence, const char *text, size_t size,
			   const char **ret_mark);

/* Counts in one pass, without allocating, for any size. The counters saturate. */
void boxes_count(const char *text, size_t size, struct boxes *ret_boxes);

#endif
