/* Where the report of a run goes. */
#ifndef CLI_VIEW_REPORT_FILE_H
#define CLI_VIEW_REPORT_FILE_H

#include "util/buffer.h"
#include "util/error.h"

/*
 * Where a report will go, fixed before the command runs: it may be in the project, and what is
 * there afterwards (a symlink, another folder) is the command's choice.
 */
struct report_file {
	const char *path; /* as it was given; NULL: no report is wanted */
	const char *name; /* in the folder */
	int folder;
	int direct; /* a device or a pipe, already open; -1: a file, replaced as a whole */
};

#define REPORT_FILE_INIT ((struct report_file){ .folder = -1, .direct = -1 })

/* Opens the place. Returns 0, or -1 with err set if no report could be written there. */
int report_file_open(struct report_file *report, const char *path, struct error *err);
void report_file_release(struct report_file *report);

/* Writes a report, if one is wanted. Returns 0, or -1 with err set. */
int report_file_write(const struct report_file *report, const struct buffer *json,
		      struct error *err);

/* Writes the report of a run that was refused before there was a plan; `why` may be err itself. */
int report_file_write_refused(const struct report_file *report, int code, struct error *why);

#endif
