/*
 * A screen in memory: cells with characters and styles. Panels draw, and screen/curses.h
 * shows them.
 *
 * Any text may be drawn: characters that a terminal obeys, or that a person cannot see, appear as
 * \xNN, and what does not fit is cut. So untrusted text needs no other care.
 */
#ifndef SCREEN_CANVAS_H
#define SCREEN_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

enum {
	CANVAS_MARKS = 2, /* combining characters in a cell; further ones are left out */
	CANVAS_TAB = 4,   /* columns of a tab */
	CANVAS_END = 1 << 14,
};

#define CANVAS_STYLES(X)                      \
	X(plain)                              \
	X(bold)                               \
	X(dim)                                \
	X(good)                               \
	X(bad)                                \
	X(warning)                            \
	X(info)                               \
	X(title)                              \
	X(chosen)  /* the tab that is open */ \
	X(key)     /* of a hint */            \
	X(escaped) /* \xNN */                 \
	X(added)                              \
	X(removed)                            \
	X(hunk)                               \
	X(urgent) /* a person is needed */

enum canvas_style {
#define CANVAS_STYLE(name) CANVAS_##name,
	CANVAS_STYLES(CANVAS_STYLE)
#undef CANVAS_STYLE
		CANVAS_STYLE_COUNT
};

struct canvas_cell {
	wchar_t text[CANVAS_MARKS + 2]; /* ends with 0; empty: the right half of a wide character */
	enum canvas_style style;
	bool marked; /* in the row of the cursor, or what a search has found */
};

struct canvas {
	int rows, cols;
	struct canvas_cell *cells;
	bool utf8;                  /* else only ASCII is drawn */
	int cursor_row, cursor_col; /* of the terminal's cursor; row -1: hidden */
};

/* Makes an empty screen of this size, of one that is all zero or in use. */
void canvas_resize(struct canvas *canvas, int rows, int cols);
void canvas_clear(struct canvas *canvas);
void canvas_release(struct canvas *canvas);

/* Draws text from a column on, but none at column `end` or after it: text that is longer ends with
 * dots. Returns the column after it. */
int canvas_put(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
	       const char *text);
int canvas_printf(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Draws text that ends before column `end`, if it fits after column `col`. Returns its first
 * column, or `end`. */
int canvas_put_right(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		     const char *text);

/* Repeats a character. */
void canvas_rule(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		 const char *character);

void canvas_mark(struct canvas *canvas, int row, int col, int end);

/* Returns the columns that a text takes, from column `col` on, which tabs depend on. */
int canvas_columns(const char *text, int col);

/* Returns how many bytes of a text fit in this many columns. */
size_t canvas_fitting(const char *text, size_t size, int columns);

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int col);

/* Returns a row as UTF-8, without spaces at its end. The caller frees it. */
char *canvas_row_text(const struct canvas *canvas, int row);

#endif
