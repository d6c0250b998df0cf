/* Parts of report_document(): the larger sections, and helpers that all sections use. */
#ifndef REPORT_REPORT_SECTION_H
#define REPORT_REPORT_SECTION_H

#include "report/report.h"

/* Returns how many of these rows a table shows: at most REPORT_ROWS. */
size_t report_section_rows(size_t count);

/* Adds a note if a table shows only the first rows, or if some names were counted but not kept. */
void report_section_rest(struct document *document, size_t shown, size_t count, uint64_t unlisted);

/* Adds a cell with a number; one below zero is unknown. */
void report_section_count(struct document *document, int64_t count);

/* Each adds a section, unless it would be empty. */
void report_section_iterations(struct document *document, const struct report *report);
void report_section_models(struct document *document, const struct view_iterations *all);
void report_section_tools(struct document *document, const struct view_tools *tools);
void report_section_hosts(struct document *document, const struct view_tools *tools);
void report_section_denials(struct document *document, const struct view_tools *tools);

#endif
