/* Helpers of the sections of a report: see report_section.h. */
#include "report/report_section.h"

#include "util/mem.h"

#include <inttypes.h>

size_t report_section_rows(size_t count)
{
	return count < REPORT_ROWS ? count : REPORT_ROWS;
}

void report_section_rest(struct document *document, size_t shown, size_t count, uint64_t unlisted)
{
	if (count > shown)
		document_add(document, DOCUMENT_NOTE, "%zu more are not shown.", count - shown);
	if (unlisted)
		document_add(document, DOCUMENT_NOTE,
			     "%" PRIu64 " more were counted, but there are too many to list.",
			     unlisted);
}

void report_section_count(struct document *document, int64_t count)
{
	AUTO_FREE char *text = count >= 0 ? figure_count((uint64_t)count) : mem_dup("-");

	document_cell(document, count > 0 ? DOCUMENT_NUMBER : DOCUMENT_DIM, text);
}
