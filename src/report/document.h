/*
 * A report as sections of text, facts, tables and plots, which can be written as Markdown, as an
 * HTML page, or for a terminal (cli/view/document_text.h). All texts are copied, may be untrusted,
 * and are escaped when they are written.
 */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "report/plot.h"
#include "util/buffer.h"
#include "util/text/html.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum document_tone {
	DOCUMENT_PLAIN,
	DOCUMENT_GOOD,
	DOCUMENT_BAD,
	DOCUMENT_WARNING,
	DOCUMENT_DIM,
	DOCUMENT_CODE,  /* a path, a command, a name */
	DOCUMENT_NUMBER /* to the right */
};

struct document_cell {
	char *text;
	enum document_tone tone;
	char *target; /* the id of a section, or NULL */
};

struct document_column {
	const char *title; /* a literal */
	bool number;
};

enum document_kind {
	DOCUMENT_TEXT,
	DOCUMENT_NOTE,  /* about what is shown, or not */
	DOCUMENT_QUOTE, /* words of others */
	DOCUMENT_FACTS, /* cells: names and values */
	DOCUMENT_TABLE,
	DOCUMENT_PLOT
};

struct document_block {
	enum document_kind kind;
	char *text;
	struct document_column *columns;
	size_t column_count;
	struct document_cell *cells; /* row by row */
	size_t cell_count;
	struct plot plot;
};

struct document_section {
	char *id, *title;
	struct document_block *blocks;
	size_t count;
};

struct document {
	char *title, *subtitle;
	struct document_cell status;
	struct document_cell *figures; /* names and values: the first glance */
	size_t figure_count;
	struct document_section *sections;
	size_t count;
	char *footer;
};

void document_release(struct document *document);

/* The head of the document. */
void document_head(struct document *document, const char *title, const char *subtitle);
void document_status(struct document *document, enum document_tone tone, const char *text);
void document_figure(struct document *document, enum document_tone tone, const char *name,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Begins a section. Everything that follows is added to the last one. */
void document_section(struct document *document, const char *id, const char *title);
void document_add(struct document *document, enum document_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a fact; facts that follow each other are one list. An empty value is left out. */
void document_fact(struct document *document, enum document_tone tone, const char *name,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The columns of a table and their number, as arguments of document_table(). */
#define DOCUMENT_COLUMNS(...)                                             \
	(const struct document_column[]){ __VA_ARGS__ },                  \
		sizeof((const struct document_column[]){ __VA_ARGS__ }) / \
			sizeof(struct document_column)

/* Begins a table, and adds its cells row by row. */
void document_table(struct document *document, const struct document_column *columns, size_t count);
void document_cell(struct document *document, enum document_tone tone, const char *text);
void document_cell_format(struct document *document, enum document_tone tone, const char *format,
			  ...) __attribute__((format(printf, 3, 4)));

/* Makes the last cell lead to a section. */
void document_link(struct document *document, const char *id);

/* Adds a plot, which belongs to the document then; one without values is left out. */
void document_plot(struct document *document, struct plot *plot);

void document_markdown(const struct document *document, struct buffer *out);

/* One page that needs nothing else. */
void document_html(const struct document *document, struct html *html);

#endif
