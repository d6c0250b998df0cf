/* Reports for a terminal. */
#ifndef CLI_VIEW_DOCUMENT_TEXT_H
#define CLI_VIEW_DOCUMENT_TEXT_H

#include "report/document.h"

/* Appends a report, for a terminal with this width or, with 0, as wide as needed. color: only on a
 * terminal that has them. */
void document_text_write(const struct document *document, int width, bool color,
			 struct buffer *out);

#endif
