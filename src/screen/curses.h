/* The terminal, by ncurses: shows a canvas, and reads keys and the mouse. */
#ifndef SCREEN_CURSES_H
#define SCREEN_CURSES_H

#include "screen/canvas.h"
#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

enum curses_kind {
	CURSES_NONE,
	CURSES_OTHER,
	CURSES_KEY,
	CURSES_PASTE,
	CURSES_CLICK,
	CURSES_WHEEL
};

struct curses_event {
	enum curses_kind kind;
	uint32_t key; /* a character or enum keymap_key; of a paste, a character */
	int row, col; /* of the mouse */
	int lines;    /* of the wheel */
};

/* Takes the terminal over. Returns 0, or -1 with err set: it is of an unknown type, or too dumb. */
int curses_begin(struct error *err);

/* Gives the terminal back, as it was. */
void curses_end(void);

/* Gives the terminal back until this process is continued, which the caller sees to in between. */
void curses_leave(void);
void curses_return(void);

/* Returns the size of the terminal, and adapts to it. */
void curses_size(int *ret_rows, int *ret_cols);

void curses_show(const struct canvas *canvas);

/* Draws everything again, also what should be there. */
void curses_redraw(void);

/* Reads the next event, without waiting; its kind is CURSES_NONE if there is none. */
struct curses_event curses_read(void);

#endif
