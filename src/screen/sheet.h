/*
 * Lines with styles that a panel shows. A line consists of texts, each with its style, and has the
 * mark of the thing that it belongs to, so that Enter on it and a click can find that.
 *
 * Texts may be untrusted. A sheet has at most SHEET_MOST lines, and says so where it ends.
 */
#ifndef SCREEN_SHEET_H
#define SCREEN_SHEET_H

#include "screen/canvas.h"
#include "screen/scroll.h"

#include <stdbool.h>
#include <stddef.h>

enum { SHEET_MOST = 50000, SHEET_SPANS = 12, SHEET_BYTES = 8192 };

struct sheet_span {
	size_t end; /* in the text */
	enum canvas_style style;
};

struct sheet_line {
	char *text;
	struct sheet_span spans[SHEET_SPANS];
	size_t span_count;
	size_t mark;
};

struct sheet {
	struct sheet_line *items;
	size_t count;
	int width; /* at which blocks wrap */
	bool full;
};

#define SHEET_NO_MARK SIZE_MAX

/* Removes all lines. */
void sheet_clear(struct sheet *sheet, int width);

/* Begins a line; texts are added to the last line that was begun. */
void sheet_line(struct sheet *sheet, size_t mark);
void sheet_add(struct sheet *sheet, enum canvas_style style, const char *text);
void sheet_printf(struct sheet *sheet, enum canvas_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds spaces up to a column. */
void sheet_column(struct sheet *sheet, int col);

/* A line with one text. */
void sheet_text(struct sheet *sheet, size_t mark, enum canvas_style style, const char *text);

/* Adds a text of several lines, each after an indent and wrapped at words. `first` stands before
 * the first line, instead of the indent, and has its columns. */
void sheet_block(struct sheet *sheet, size_t mark, enum canvas_style style, const char *first,
		 int indent, const char *text);

/* A title after an empty line, if it is not the first one. */
void sheet_title(struct sheet *sheet, const char *text);

/* Returns the first line with this mark, or the count. */
size_t sheet_find(const struct sheet *sheet, size_t mark);

/* Finds the next line that has the text, after (or before) a line, and around the end. Small and
 * capital letters are the same. Returns the count if there is none. */
size_t sheet_search(const struct sheet *sheet, const char *text, size_t from, bool backwards);

/* Draws the lines from the scroll's top on into rows of the canvas. */
void sheet_draw(const struct sheet *sheet, const struct scroll *scroll, struct canvas *canvas,
		int row, int rows, int col, int end);
void sheet_release(struct sheet *sheet);

#endif
