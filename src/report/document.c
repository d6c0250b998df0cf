/* A report as sections: see document.h. */
#include "report/document.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stdlib.h>

static void release_cells(struct document_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(cells[i].text);
		free(cells[i].target);
	}
	free(cells);
}

static void release_section(struct document_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		struct document_block *block = &section->blocks[i];

		free(block->text);
		free(block->columns);
		release_cells(block->cells, block->cell_count);
		plot_release(&block->plot);
	}
	free(section->blocks);
	free(section->id);
	free(section->title);
}

void document_release(struct document *document)
{
	for (size_t i = 0; i < document->count; i++)
		release_section(&document->sections[i]);
	free(document->sections);
	release_cells(document->figures, document->figure_count);
	free(document->status.text);
	free(document->title);
	free(document->subtitle);
	free(document->footer);
	*document = (struct document){ 0 };
}

void document_head(struct document *document, const char *title, const char *subtitle)
{
	document->title = mem_dup(title);
	document->subtitle = mem_dup(subtitle);
}

void document_status(struct document *document, enum document_tone tone, const char *text)
{
	document->status = (struct document_cell){ .text = mem_dup(text), .tone = tone };
}

static void add_cell(struct document_cell **cells, size_t *count, enum document_tone tone,
		     char *text)
{
	struct document_cell *cell;

	*cells = mem_extend(*cells, *count, sizeof **cells);
	cell = &(*cells)[(*count)++];
	cell->text = text;
	cell->tone = tone;
	cell->target = NULL;
}

void document_figure(struct document *document, enum document_tone tone, const char *name,
		     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_cell(&document->figures, &document->figure_count, DOCUMENT_DIM, mem_dup(name));
	add_cell(&document->figures, &document->figure_count, tone,
		 mem_format_list(format, arguments));
	va_end(arguments);
}

void document_section(struct document *document, const char *id, const char *title)
{
	document->sections = mem_extend(document->sections, document->count,
					sizeof *document->sections);
	document->sections[document->count++] =
		(struct document_section){ .id = mem_dup(id), .title = mem_dup(title) };
}

static struct document_block *add_block(struct document *document, enum document_kind kind)
{
	struct document_section *section = &document->sections[document->count - 1];

	section->blocks = mem_extend(section->blocks, section->count, sizeof *section->blocks);
	section->blocks[section->count] = (struct document_block){ .kind = kind };
	return &section->blocks[section->count++];
}

/* Returns the last block of the last section, or NULL. */
static struct document_block *last_block(struct document *document)
{
	struct document_section *section = &document->sections[document->count - 1];

	return section->count ? &section->blocks[section->count - 1] : NULL;
}

void document_add(struct document *document, enum document_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_block(document, kind)->text = mem_format_list(format, arguments);
	va_end(arguments);
}

void document_fact(struct document *document, enum document_tone tone, const char *name,
		   const char *format, ...)
{
	struct document_block *block = last_block(document);
	va_list arguments;
	char *value;

	va_start(arguments, format);
	value = mem_format_list(format, arguments);
	va_end(arguments);
	if (!*value) {
		free(value);
		return;
	}
	if (!block || block->kind != DOCUMENT_FACTS)
		block = add_block(document, DOCUMENT_FACTS);
	add_cell(&block->cells, &block->cell_count, DOCUMENT_DIM, mem_dup(name));
	add_cell(&block->cells, &block->cell_count, tone, value);
}

void document_table(struct document *document, const struct document_column *columns, size_t count)
{
	struct document_block *block = add_block(document, DOCUMENT_TABLE);

	block->columns = mem_alloc(count * sizeof *columns);
	for (size_t i = 0; i < count; i++)
		block->columns[i] = columns[i];
	block->column_count = count;
}

void document_cell(struct document *document, enum document_tone tone, const char *text)
{
	struct document_block *block = last_block(document);

	add_cell(&block->cells, &block->cell_count, tone, mem_dup(text ? text : ""));
}

void document_cell_format(struct document *document, enum document_tone tone, const char *format,
			  ...)
{
	struct document_block *block = last_block(document);
	va_list arguments;

	va_start(arguments, format);
	add_cell(&block->cells, &block->cell_count, tone, mem_format_list(format, arguments));
	va_end(arguments);
}

void document_link(struct document *document, const char *id)
{
	struct document_block *block = last_block(document);

	block->cells[block->cell_count - 1].target = mem_dup(id);
}

void document_plot(struct document *document, struct plot *plot)
{
	if (plot_is_empty(plot)) {
		plot_release(plot);
		return;
	}
	plot_thin(plot);
	add_block(document, DOCUMENT_PLOT)->plot = *plot;
	*plot = (struct plot){ 0 };
}
