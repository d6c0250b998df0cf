/* A screen in memory: see canvas.h. */
#include "screen/canvas.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A character as it is drawn. */
struct glyph {
	wchar_t text[8]; /* one character, or an escape */
	int columns;     /* 0: it combines with the one before */
	bool escaped;
	size_t size; /* bytes that it was read from */
};

/* Replaces our own characters on a terminal without UTF-8. */
static wchar_t plain_of(uint32_t point)
{
	static const struct {
		uint32_t point;
		char plain;
	} known[] = {
		{ 0x2026, '.' }, { 0x2500, '-' }, { 0x2501, '=' }, { 0x2502, '|' }, { 0x25cf, '*' },
		{ 0x2713, '+' }, { 0x2717, 'x' }, { 0x25b8, '>' }, { 0x25be, 'v' }, { 0x2022, '*' },
		{ 0x25cb, 'o' }, { 0x2588, '#' }, { 0x203a, '>' }, { 0x00b7, '.' }, { 0x250c, '+' },
		{ 0x2510, '+' }, { 0x2514, '+' }, { 0x2518, '+' }, { 0x2591, '.' },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].point == point)
			return (unsigned char)known[i].plain;
	return '?';
}

static void escape(struct glyph *glyph, const char *bytes)
{
	glyph->escaped = true;
	glyph->columns = 4;
	swprintf(glyph->text, sizeof glyph->text / sizeof *glyph->text, L"\\x%02x",
		 (unsigned char)*bytes);
}

/* Reads the next character of a text that is not at its end. */
static struct glyph next(const char *text, size_t size, int col)
{
	struct glyph glyph = { .size = 1 };
	uint32_t point = 0;
	size_t length = text_utf8(text, size, &point);
	int columns;

	if (*text == '\t') {
		glyph.columns = CANVAS_TAB - col % CANVAS_TAB;
		for (int i = 0; i < glyph.columns; i++)
			glyph.text[i] = L' ';
		return glyph;
	}
	columns = length && !text_is_unsafe(point) ? wcwidth((wchar_t)point) : -1;
	if (columns < 0) {
		escape(&glyph, text);
		return glyph;
	}
	glyph.size = length;
	glyph.columns = columns;
	glyph.text[0] = (wchar_t)point;
	return glyph;
}

void canvas_resize(struct canvas *canvas, int rows, int cols)
{
	canvas->rows = rows > 0 ? rows : 1;
	canvas->cols = cols > 0 ? cols : 1;
	canvas->cells = mem_resize(canvas->cells, (size_t)canvas->rows * (size_t)canvas->cols,
				   sizeof *canvas->cells);
	canvas_clear(canvas);
}

void canvas_clear(struct canvas *canvas)
{
	for (int i = 0; i < canvas->rows * canvas->cols; i++)
		canvas->cells[i] = (struct canvas_cell){ .text = L" " };
	canvas->cursor_row = -1;
}

void canvas_release(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

static struct canvas_cell *cell_at(struct canvas *canvas, int row, int col)
{
	if (row < 0 || row >= canvas->rows || col < 0 || col >= canvas->cols)
		return NULL;
	return &canvas->cells[row * canvas->cols + col];
}

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int col)
{
	return &canvas->cells[row * canvas->cols + col];
}

/* Adds a combining character to the character before this column. */
static void combine(struct canvas *canvas, int row, int col, wchar_t mark)
{
	struct canvas_cell *cell = cell_at(canvas, row, col - 1);

	if (cell && !cell->text[0])
		cell = cell_at(canvas, row, col - 2);
	for (int i = 1; cell && cell->text[0] && i <= CANVAS_MARKS; i++)
		if (!cell->text[i]) {
			cell->text[i] = mark;
			cell->text[i + 1] = 0;
			return;
		}
}

static wchar_t drawn(const struct canvas *canvas, wchar_t point)
{
	return canvas->utf8 || point < 0x80 ? point : plain_of((uint32_t)point);
}

static void set(struct canvas *canvas, int row, int col, enum canvas_style style, wchar_t point)
{
	struct canvas_cell *cell = cell_at(canvas, row, col);

	if (cell)
		*cell = (struct canvas_cell){ .text = { point }, .style = style };
}

/* Draws a character that has columns. */
static void put_glyph(struct canvas *canvas, int row, int col, enum canvas_style style,
		      const struct glyph *glyph)
{
	bool wide = glyph->columns == 2 && !glyph->text[1];

	if (glyph->escaped)
		style = CANVAS_escaped;
	if (!wide) {
		for (int i = 0; i < glyph->columns; i++)
			set(canvas, row, col + i, style, drawn(canvas, glyph->text[i]));
		return;
	}
	set(canvas, row, col, style, drawn(canvas, glyph->text[0]));
	set(canvas, row, col + 1, style, canvas->utf8 ? 0 : L' ');
}

static int limit(const struct canvas *canvas, int end)
{
	return end < canvas->cols ? end : canvas->cols;
}

int canvas_put(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
	       const char *text)
{
	size_t size = strlen(text);

	end = limit(canvas, end);
	while (size > 0 && col < end) {
		struct glyph glyph = next(text, size, col);
		bool last = glyph.size == size;

		if (glyph.columns == 0) {
			if (canvas->utf8)
				combine(canvas, row, col, glyph.text[0]);
		} else if (col + glyph.columns > end ||
			   (!last && col + glyph.columns == end &&
			    canvas_columns(text + glyph.size, 0) > 0)) {
			set(canvas, row, col, CANVAS_dim, drawn(canvas, L'\u2026'));
			return col + 1;
		} else {
			put_glyph(canvas, row, col, style, &glyph);
			col += glyph.columns;
		}
		text += glyph.size;
		size -= glyph.size;
	}
	return col;
}

int canvas_printf(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		  const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = mem_format_list(format, args);
	va_end(args);
	col = canvas_put(canvas, row, col, end, style, text);
	free(text);
	return col;
}

int canvas_put_right(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		     const char *text)
{
	int from;

	end = limit(canvas, end);
	from = end - canvas_columns(text, 0);
	if (from < col)
		return end;
	canvas_put(canvas, row, from, end, style, text);
	return from;
}

void canvas_rule(struct canvas *canvas, int row, int col, int end, enum canvas_style style,
		 const char *character)
{
	struct glyph glyph = next(character, strlen(character), 0);

	for (; col < limit(canvas, end); col++)
		set(canvas, row, col, style, drawn(canvas, glyph.text[0]));
}

void canvas_mark(struct canvas *canvas, int row, int col, int end)
{
	for (; col < limit(canvas, end); col++) {
		struct canvas_cell *cell = cell_at(canvas, row, col);

		if (cell)
			cell->marked = true;
	}
}

int canvas_columns(const char *text, int col)
{
	size_t size = strlen(text);
	int from = col;

	while (size > 0 && col < CANVAS_END) {
		struct glyph glyph = next(text, size, col);

		col += glyph.columns;
		text += glyph.size;
		size -= glyph.size;
	}
	return col - from;
}

size_t canvas_fitting(const char *text, size_t size, int columns)
{
	size_t at = 0;
	int col = 0;

	while (at < size) {
		struct glyph glyph = next(text + at, size - at, col);

		if (col + glyph.columns > columns)
			break;
		col += glyph.columns;
		at += glyph.size;
	}
	return at;
}

char *canvas_row_text(const struct canvas *canvas, int row)
{
	struct buffer out = BUFFER_INIT(1 << 16);

	for (int col = 0; col < canvas->cols; col++) {
		const wchar_t *at = canvas_at(canvas, row, col)->text;
		char bytes[MB_LEN_MAX];

		for (; *at; at++) {
			int size = wctomb(bytes, *at);

			if (size > 0)
				buffer_add(&out, bytes, (size_t)size);
		}
	}
	while (out.used && out.data[out.used - 1] == ' ')
		out.data[--out.used] = '\0';
	buffer_text(&out);
	return out.data;
}
