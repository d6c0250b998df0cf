/* Files that a command is told to write, such as the report of a run. Everybody may read them. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>

/*
 * The destination is opened before the command runs: it may be in the project, where the command
 * could put a symlink or another folder in its place.
 */
struct output_file {
	const char *option; /* that names it, for messages */
	const char *path;   /* as given, or NULL if no file is wanted */
	const char *name;   /* in the folder */
	bool document;      /* it survives a power cut, and replaces a symlink */
	int folder;
	int direct; /* an open device or pipe; -1: a regular file, which is replaced */
};

#define OUTPUT_FILE_INIT ((struct output_file){ .option = "--report", .folder = -1, .direct = -1 })

/* Opens the destination: a file, a device, or "-" for stdout. A symlink is refused as a folder of
 * the path: in a project, an agent may have made it. Returns 0, or -1 with err set. */
int output_file_open(struct output_file *file, const char *path, struct error *err);
void output_file_release(struct output_file *file);

/* Writes the file, if one is wanted; one that exists is replaced at once. Returns 0, or -1 with err
 * set. */
int output_file_write(const struct output_file *file, const struct buffer *bytes,
		      struct error *err);

/* Does all of that for a document. */
int output_file_put(const char *option, const char *path, const struct buffer *bytes,
		    struct error *err);

/* Writes the report of a run that was refused before it had a plan. On failure, `why` holds the
 * write error instead. */
int output_file_write_refused(const struct output_file *file, int code, struct error *why);

#endif
