/* A cursor in a list that is longer than the screen: it stays visible, and the list scrolls. */
#ifndef SCREEN_SCROLL_H
#define SCREEN_SCROLL_H

#include <stdbool.h>
#include <stddef.h>

struct scroll {
	size_t count;
	size_t at;  /* the line of the cursor; 0 if there is none */
	size_t top; /* the first line on the screen */
	size_t rows;
	bool plain; /* the line of the cursor looks like the others */
};

/* Tells how many lines there are, and how many fit on the screen. */
void scroll_fit(struct scroll *scroll, size_t count, int rows);

/* Moves the cursor by lines. */
void scroll_move(struct scroll *scroll, long lines);
void scroll_to(struct scroll *scroll, size_t at);

/* Moves the lines below the cursor, as a mouse wheel does; the cursor stays on the screen. */
void scroll_wheel(struct scroll *scroll, long lines);

bool scroll_at_end(const struct scroll *scroll);

#endif
