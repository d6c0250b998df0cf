/* A report as Markdown: see document.h. */
#include "report/document.h"

#include "util/mem.h"
#include "util/text/markdown.h"

#include <string.h>

enum { BLOCKS = 40 };

static void add_cell(struct buffer *out, const struct document_cell *cell)
{
	if (cell->tone == DOCUMENT_CODE)
		markdown_code(out, cell->text);
	else
		markdown_text(out, cell->text);
}

static void add_table(struct buffer *out, const struct document_block *block)
{
	size_t columns = block->column_count;

	if (columns == 0)
		return;
	for (size_t i = 0; i < columns; i++)
		buffer_printf(out, "| %s ", block->columns[i].title);
	buffer_add_text(out, "|\n");
	for (size_t i = 0; i < columns; i++)
		buffer_add_text(out, block->columns[i].number ? "| ---: " : "| --- ");
	buffer_add_text(out, "|\n");
	for (size_t i = 0; i < block->cell_count; i++) {
		buffer_add_text(out, "| ");
		add_cell(out, &block->cells[i]);
		buffer_add_text(out, (i + 1) % columns ? " " : " |\n");
	}
}

static void add_facts(struct buffer *out, const struct document_cell *cells, size_t count)
{
	for (size_t i = 0; i + 1 < count; i += 2) {
		buffer_add_text(out, "- **");
		markdown_text(out, cells[i].text);
		buffer_add_text(out, ":** ");
		add_cell(out, &cells[i + 1]);
		buffer_add_text(out, "\n");
	}
}

/* Quotes every line. */
static void add_quote(struct buffer *out, const char *text)
{
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(1 << 20);
	const char *at;

	markdown_lines(&lines, text);
	at = buffer_text(&lines);
	while (*at) {
		size_t size = strcspn(at, "\n");

		buffer_add_text(out, "> ");
		buffer_add(out, at, size);
		buffer_add_text(out, "\n");
		at += size + (at[size] == '\n');
	}
}

static void add_plot(struct buffer *out, const struct plot *plot)
{
	buffer_printf(out, "%s: ", plot->title);
	plot_blocks(out, plot, BLOCKS);
	buffer_add_text(out, "\n");
}

static void add_block(struct buffer *out, const struct document_block *block)
{
	switch (block->kind) {
	case DOCUMENT_FACTS:
		add_facts(out, block->cells, block->cell_count);
		break;
	case DOCUMENT_TABLE:
		add_table(out, block);
		break;
	case DOCUMENT_QUOTE:
		add_quote(out, block->text);
		break;
	case DOCUMENT_PLOT:
		add_plot(out, &block->plot);
		break;
	default:
		markdown_lines(out, block->text);
		buffer_add_text(out, "\n");
		break;
	}
	buffer_add_text(out, "\n");
}

void document_markdown(const struct document *document, struct buffer *out)
{
	buffer_add_text(out, "# ");
	markdown_text(out, document->title);
	buffer_add_text(out, "\n\n");
	markdown_text(out, document->subtitle);
	buffer_add_text(out, "\n\n**");
	markdown_text(out, document->status.text);
	buffer_add_text(out, "**\n\n");
	add_facts(out, document->figures, document->figure_count);
	buffer_add_text(out, "\n");
	for (size_t i = 0; i < document->count; i++) {
		const struct document_section *section = &document->sections[i];

		buffer_add_text(out, "## ");
		markdown_text(out, section->title);
		buffer_add_text(out, "\n\n");
		for (size_t k = 0; k < section->count; k++)
			add_block(out, &section->blocks[k]);
	}
	markdown_text(out, document->footer);
	buffer_add_text(out, "\n");
}
