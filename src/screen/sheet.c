/* Lines with styles: see sheet.h. */
#include "screen/sheet.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void sheet_clear(struct sheet *sheet, int width)
{
	for (size_t i = 0; i < sheet->count; i++)
		free(sheet->items[i].text);
	free(sheet->items);
	*sheet = (struct sheet){ .width = width > 10 ? width : 10 };
}

void sheet_release(struct sheet *sheet)
{
	sheet_clear(sheet, 0);
}

static void begin(struct sheet *sheet, size_t mark)
{
	sheet->items = mem_extend(sheet->items, sheet->count, sizeof *sheet->items);
	sheet->items[sheet->count++] = (struct sheet_line){ .text = mem_dup(""), .mark = mark };
}

void sheet_line(struct sheet *sheet, size_t mark)
{
	if (sheet->count < SHEET_MOST) {
		begin(sheet, mark);
		return;
	}
	if (!sheet->full) {
		begin(sheet, SHEET_NO_MARK);
		sheet_add(sheet, CANVAS_dim, "There are more lines than can be shown.");
	}
	sheet->full = true;
}

/* Appends bytes to the last line. */
static void add(struct sheet *sheet, enum canvas_style style, const char *text, size_t size)
{
	struct sheet_line *line = sheet->count ? &sheet->items[sheet->count - 1] : NULL;
	size_t used = line ? strlen(line->text) : 0;
	char *whole;

	if (!line || sheet->full || line->span_count == SHEET_SPANS)
		return;
	if (size > SHEET_BYTES - used)
		size = text_first(text, size, SHEET_BYTES - used);
	whole = mem_format("%s%.*s", line->text, (int)size, text);
	free(line->text);
	line->text = whole;
	line->spans[line->span_count++] = (struct sheet_span){ strlen(whole), style };
}

void sheet_add(struct sheet *sheet, enum canvas_style style, const char *text)
{
	add(sheet, style, text, strlen(text));
}

void sheet_printf(struct sheet *sheet, enum canvas_style style, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = mem_format_list(format, args);
	va_end(args);
	sheet_add(sheet, style, text);
	free(text);
}

void sheet_column(struct sheet *sheet, int col)
{
	const char *text = sheet->count ? sheet->items[sheet->count - 1].text : "";
	int used = canvas_columns(text, 0);

	sheet_printf(sheet, CANVAS_plain, "%*s", col > used ? col - used : 1, "");
}

void sheet_text(struct sheet *sheet, size_t mark, enum canvas_style style, const char *text)
{
	sheet_line(sheet, mark);
	sheet_add(sheet, style, text);
}

void sheet_title(struct sheet *sheet, const char *text)
{
	if (sheet->count)
		sheet_line(sheet, SHEET_NO_MARK);
	sheet_text(sheet, SHEET_NO_MARK, CANVAS_title, text);
}

/* Returns how much of a line goes into one row: whole words, or at least one character. */
static size_t row_of(const char *text, size_t size, int columns)
{
	size_t fits = canvas_fitting(text, size, columns);
	size_t at = fits;

	if (fits == size)
		return size;
	while (at > 0 && text[at] != ' ')
		at--;
	if (at > fits / 2)
		return at;
	return fits ? fits : text_first(text, size, 4);
}

/* Adds a line, wrapped. */
static void wrap(struct sheet *sheet, size_t mark, enum canvas_style style, const char *first,
		 int indent, const char *text, size_t size)
{
	int columns = sheet->width - indent;

	if (size > SHEET_BYTES)
		size = text_first(text, size, SHEET_BYTES);
	do {
		size_t row = row_of(text, size, columns > 10 ? columns : 10);

		sheet_line(sheet, mark);
		if (first)
			sheet_add(sheet, style, first);
		else
			sheet_printf(sheet, CANVAS_plain, "%*s", indent, "");
		add(sheet, style, text, row);
		first = NULL;
		while (row < size && text[row] == ' ')
			row++;
		text += row;
		size -= row;
	} while (size > 0 && !sheet->full);
}

void sheet_block(struct sheet *sheet, size_t mark, enum canvas_style style, const char *first,
		 int indent, const char *text)
{
	size_t size = strlen(text);

	while (size > 0 && text[size - 1] == '\n')
		size--;
	for (;;) {
		const char *end = memchr(text, '\n', size);
		size_t line = end ? (size_t)(end - text) : size;
		bool returns = line > 0 && text[line - 1] == '\r';

		wrap(sheet, mark, style, first, indent, text, line - returns);
		first = NULL;
		if (!end || sheet->full)
			return;
		text += line + 1;
		size -= line + 1;
	}
}

size_t sheet_find(const struct sheet *sheet, size_t mark)
{
	size_t at = 0;

	while (at < sheet->count && sheet->items[at].mark != mark)
		at++;
	return at;
}

size_t sheet_search(const struct sheet *sheet, const char *text, size_t from, bool backwards)
{
	for (size_t i = 1; i <= sheet->count; i++) {
		size_t at = (backwards ? from + sheet->count - i : from + i) % sheet->count;

		if (strcasestr(sheet->items[at].text, text))
			return at;
	}
	return sheet->count;
}

static void draw_line(const struct sheet_line *line, struct canvas *canvas, int row, int col,
		      int end)
{
	size_t at = 0;

	for (size_t i = 0; i < line->span_count && col < end; i++) {
		AUTO_FREE char *text = strndup(line->text + at, line->spans[i].end - at);

		col = canvas_put(canvas, row, col, end, line->spans[i].style, text);
		at = line->spans[i].end;
	}
}

void sheet_draw(const struct sheet *sheet, const struct scroll *scroll, struct canvas *canvas,
		int row, int rows, int col, int end)
{
	for (int i = 0; i < rows && scroll->top + (size_t)i < sheet->count; i++) {
		size_t at = scroll->top + (size_t)i;

		draw_line(&sheet->items[at], canvas, row + i, col, end);
		if (at == scroll->at && !scroll->plain)
			canvas_mark(canvas, row + i, col, end);
	}
}
