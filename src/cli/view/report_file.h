/* The file that the report of a run, or another document, is written to. */
#ifndef CLI_VIEW_REPORT_FILE_H
#define CLI_VIEW_REPORT_FILE_H

#include "util/buffer.h"
#include "util/error.h"

/*
 * The destination is opened before the command runs: it may be in the project, where the command
 * could put a symlink or another folder in its place.
 */
struct report_file {
	const char *option; /* that names it, for messages */
	const char *path;   /* as given, or NULL if no report is wanted */
	const char *name;   /* in the folder */
	int folder;
	int direct; /* an open device or pipe; -1: a regular file, which is replaced */
};

#define REPORT_FILE_INIT ((struct report_file){ .option = "--report", .folder = -1, .direct = -1 })

/* Opens the destination. Returns 0, or -1 with err set if no report can be written there. */
int report_file_open(struct report_file *report, const char *path, struct error *err);
void report_file_release(struct report_file *report);

/* Writes a report, if one is wanted. Returns 0, or -1 with err set. */
int report_file_write(const struct report_file *report, const struct buffer *json,
		      struct error *err);

/* Writes the report of a run that was refused before it had a plan. On failure, `why` holds the
 * write error instead. */
int report_file_write_refused(const struct report_file *report, int code, struct error *why);

#endif
