/* Reports for a terminal: see document_text.h. */
#include "cli/view/document_text.h"

#include "cli/view/page.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, GAP = 2, LEAST = 12, BLOCKS = 40, NAME = 12 };

/* The text that is being written. */
struct sheet {
	struct buffer *out;
	int width; /* 0: as wide as needed */
	bool color;
};

static enum color color_of(enum document_tone tone)
{
	static const enum color colors[] = {
		[DOCUMENT_GOOD] = COLOR_GREEN,   [DOCUMENT_BAD] = COLOR_RED,
		[DOCUMENT_WARNING] = COLOR_BOLD, [DOCUMENT_DIM] = COLOR_DIM,
		[DOCUMENT_NUMBER] = COLOR_PLAIN,
	};

	return colors[tone];
}

static void add_space(struct buffer *out, int count)
{
	buffer_printf(out, "%*s", count > 0 ? count : 0, "");
}

/* Adds the first bytes of an escaped text in a colour. */
static void add_painted(const struct sheet *sheet, enum color paint, const char *text, size_t size)
{
	buffer_add_text(sheet->out, sheet->color ? color_on(paint) : "");
	buffer_add(sheet->out, text, size);
	buffer_add_text(sheet->out, sheet->color ? color_off(paint) : "");
}

static void add_bold(const struct sheet *sheet, const char *text)
{
	AUTO_FREE char *shown = text_escaped(text);

	add_painted(sheet, COLOR_BOLD, shown, strlen(shown));
	buffer_add_text(sheet->out, "\n");
}

/* Adds the lines of a text, each of which begins with `before`; a line that is too long is wrapped
 * and indented as far. */
static void add_lines(const struct sheet *sheet, const char *text, const char *before)
{
	int width = sheet->width > PAGE_PROSE ? PAGE_PROSE : sheet->width;
	int indent = (int)strlen(before);

	while (*text) {
		size_t size = strcspn(text, "\n");
		AUTO_FREE char *line = mem_format("%.*s", (int)size, text);
		AUTO_FREE char *shown = text_escaped(line);

		buffer_add_text(sheet->out, before);
		page_wrap(sheet->out, shown, indent, indent, width);
		buffer_add_text(sheet->out, "\n");
		text += size + (text[size] == '\n');
	}
}

static void add_facts(const struct sheet *sheet, const struct document_cell *cells, size_t count)
{
	int wide = NAME;

	for (size_t i = 0; i + 1 < count; i += 2)
		if (page_columns(cells[i].text) > wide)
			wide = page_columns(cells[i].text);
	for (size_t i = 0; i + 1 < count; i += 2) {
		AUTO_FREE char *name = text_escaped(cells[i].text);
		AUTO_FREE char *value = text_escaped(cells[i + 1].text);

		add_space(sheet->out, INDENT);
		add_painted(sheet, COLOR_DIM, name, strlen(name));
		add_space(sheet->out, wide + GAP - page_columns(name));
		add_painted(sheet, color_of(cells[i + 1].tone), value, strlen(value));
		buffer_add_text(sheet->out, "\n");
	}
}

/* Returns the width of a column's contents. */
static int width_of(const struct document_block *block, char *const *texts, size_t column)
{
	int wide = page_columns(block->columns[column].title);

	for (size_t i = column; i < block->cell_count; i += block->column_count)
		if (page_columns(texts[i]) > wide)
			wide = page_columns(texts[i]);
	return wide;
}

/* Narrows the widest column of text until the table fits. */
static void fit(const struct document_block *block, int *widths, int width)
{
	int total = INDENT - GAP;

	for (size_t i = 0; i < block->column_count; i++)
		total += widths[i] + GAP;
	while (width && total > width) {
		size_t widest = block->column_count;

		for (size_t i = 0; i < block->column_count; i++)
			if (!block->columns[i].number && widths[i] > LEAST &&
			    (widest == block->column_count || widths[i] > widths[widest]))
				widest = i;
		if (widest == block->column_count)
			return;
		widths[widest]--;
		total--;
	}
}

/* Adds a cell in its column, cut to the width; the last one in a row is not filled up. */
static void add_cell(const struct sheet *sheet, enum document_tone tone, const char *text, int wide,
		     bool right, bool last)
{
	int columns = page_columns(text);
	bool cut = columns > wide;

	if (right)
		add_space(sheet->out, wide - columns);
	add_painted(sheet, color_of(tone), text, page_first(text, cut ? wide - 1 : wide));
	if (cut)
		buffer_add_text(sheet->out, "…");
	if (!right && !last)
		add_space(sheet->out, wide - columns);
	buffer_add_text(sheet->out, last ? "\n" : "  ");
}

static void add_rows(const struct sheet *sheet, const struct document_block *block,
		     char *const *texts, const int *widths)
{
	size_t columns = block->column_count;

	if (columns == 0)
		return;
	add_space(sheet->out, INDENT);
	for (size_t i = 0; i < columns; i++)
		add_cell(sheet, DOCUMENT_DIM, block->columns[i].title, widths[i],
			 block->columns[i].number, i + 1 == columns);
	for (size_t i = 0; i < block->cell_count; i++) {
		size_t column = i % columns;

		if (column == 0)
			add_space(sheet->out, INDENT);
		add_cell(sheet, block->cells[i].tone, texts[i], widths[column],
			 block->columns[column].number, column + 1 == columns);
	}
}

/* Returns a cell on one line. The caller frees it. */
static char *cell_text(const char *text)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 20);

	while (*text) {
		size_t size = strcspn(text, "\n");

		buffer_add(&line, text, size);
		buffer_add_text(&line, text[size] ? "  " : "");
		text += size + (text[size] == '\n');
	}
	return text_escaped(buffer_text(&line));
}

static void add_table(const struct sheet *sheet, const struct document_block *block)
{
	AUTO_FREE char **texts = mem_zero((block->cell_count + 1) * sizeof *texts);
	AUTO_FREE int *widths = mem_zero(block->column_count * sizeof *widths);

	for (size_t i = 0; i < block->cell_count; i++)
		texts[i] = cell_text(block->cells[i].text);
	for (size_t i = 0; i < block->column_count; i++)
		widths[i] = width_of(block, texts, i);
	fit(block, widths, sheet->width);
	add_rows(sheet, block, texts, widths);
	for (size_t i = 0; i < block->cell_count; i++)
		free(texts[i]);
}

static void add_plot(const struct sheet *sheet, const struct plot *plot)
{
	double most = 0;

	for (size_t i = 0; i < plot->count; i++)
		most = plot_total(plot, i) > most ? plot_total(plot, i) : most;

	AUTO_FREE char *top = figure_of(plot->unit, most);

	buffer_printf(sheet->out, "  %-26s ", plot->title);
	plot_blocks(sheet->out, plot, BLOCKS);
	buffer_printf(sheet->out, "  at most %s\n", top);
}

static void add_block(const struct sheet *sheet, const struct document_block *block)
{
	switch (block->kind) {
	case DOCUMENT_FACTS:
		add_facts(sheet, block->cells, block->cell_count);
		break;
	case DOCUMENT_TABLE:
		add_table(sheet, block);
		break;
	case DOCUMENT_PLOT:
		add_plot(sheet, &block->plot);
		break;
	case DOCUMENT_QUOTE:
		add_lines(sheet, block->text, "  | ");
		break;
	default:
		add_lines(sheet, block->text, "  ");
		break;
	}
}

void document_text_write(const struct document *document, int width, bool color, struct buffer *out)
{
	const struct sheet sheet = { .out = out, .width = width, .color = color };
	AUTO_FREE char *status = text_escaped(document->status.text);

	add_bold(&sheet, document->title);
	add_lines(&sheet, document->subtitle, "");
	buffer_add_text(out, "\n");
	add_painted(&sheet, color_of(document->status.tone), status, strlen(status));
	buffer_add_text(out, "\n");
	add_facts(&sheet, document->figures, document->figure_count);
	for (size_t i = 0; i < document->count; i++) {
		const struct document_section *section = &document->sections[i];

		buffer_add_text(out, "\n");
		add_bold(&sheet, section->title);
		for (size_t k = 0; k < section->count; k++)
			add_block(&sheet, &section->blocks[k]);
	}
}
