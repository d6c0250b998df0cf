/* Reports of loops and batches: read, then written as a document (report/document.h) or as JSON. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "batch/batch_client.h"
#include "report/document.h"
#include "view/view_iterations.h"
#include "view/view_limits.h"
#include "view/view_tools.h"

#include <jansson.h>

enum {
	REPORT_BYTES = 256 << 20, /* of transcripts that are read */
	REPORT_ROWS = 25,         /* of most tables */
	REPORT_FIRST = 10,        /* of the table of iterations: the oldest, and ... */
	REPORT_LAST = 90,         /* ... the newest */
};

/* One loop. The loop itself belongs to the caller. */
struct report {
	const struct client_loop *loop;
	int64_t now_ms;
	struct view_iterations iterations;
	struct view_tools tools;
	struct view_limits limits;
	json_t *changes; /* files, as `ringfence diff --json` lists them; or NULL */
	char *unknown;   /* why there are no changes, or NULL */
};

/* Reads a loop whose journal could be read. state: the state folder. Returns 0, or -1 with err set.
 */
int report_read(const char *state, const struct client_loop *loop, int64_t now_ms,
		struct report *ret_report, struct error *err);
void report_release(struct report *report);

void report_document(const struct report *report, struct document *ret_document);

/* The text of a pull request: task, checks, findings, agents and cost. */
void report_request_document(const struct report *report, struct document *ret_document);

/* The caller owns the objects. */
json_t *report_json(const struct report *report);

/* Reports a batch: its tasks, each with its loop. */
void report_batch_document(const char *state, const struct batch_client *batch, int64_t now_ms,
			   struct document *ret_document);
json_t *report_batch_json(const char *state, const struct batch_client *batch, int64_t now_ms);

/* Shared by the documents of loops and batches. */
enum document_tone report_tone(const char *status);
char *report_checks_text(const struct view_iteration *item); /* "1 of 2", or "-" */

/* Returns the last iteration with checks, or else the last one, or NULL. */
const struct view_iteration *report_last(const struct view_iterations *iterations);

/* Returns the lines that a report says were added and removed. */
void report_count_lines(const json_t *changes, uint64_t *ret_added, uint64_t *ret_removed);

#endif
