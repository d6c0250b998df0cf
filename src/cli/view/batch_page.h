/* The summary of a batch as a web page that needs no other file and runs nothing. */
#ifndef CLI_VIEW_BATCH_PAGE_H
#define CLI_VIEW_BATCH_PAGE_H

#include "batch/batch_client.h"
#include "util/text/html.h"

enum { BATCH_PAGE_BYTES = 16 << 20 };

/* Writes the page. applied: its result is in the project. */
void batch_page_write(const struct batch_client *batch, bool applied, struct html *page);

#endif
