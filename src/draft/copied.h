/*
 * The record of a copied folder tree: which inode each file had right after it was copied, and when
 * it changed last. A file that still has both is as it was copied.
 */
#ifndef DRAFT_COPIED_H
#define DRAFT_COPIED_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct copied_entry {
	const char *name;
	uint64_t inode;
	int64_t changed_ns;
	bool is_folder;
	bool emptied;               /* its content was left out of the copy */
	struct copied_entry *inner; /* of a folder, sorted by name */
	size_t count;
};

struct copied {
	struct copied_entry top;
	bool timed;         /* every change of a file on this file system changes its time */
	int64_t written_ns; /* when the record was written: all that was copied is older */
	struct copied_emptied {
		uint64_t inode;
		char *path; /* that it had when it was copied */
	} * emptied;
	size_t emptied_count;
	char *names;
};

struct copied_request {
	int tree; /* the copy, which nobody changes */
	const ino_t *emptied;
	size_t emptied_count;
};

/* Looks at a copy, and writes the record as `name` to a folder. Returns 0, or -1 with err set. */
int copied_write(const struct copied_request *request, int folder, const char *name,
		 struct error *err);

/* Reads a record. Returns 0, or -1 with err set. The caller releases it in both cases. */
int copied_read(int folder, const char *name, struct copied *ret_copied, struct error *err);
void copied_release(struct copied *copied);

/* Returns the entry with this name, or NULL. */
const struct copied_entry *copied_find(const struct copied_entry *folder, const char *name);

#endif
