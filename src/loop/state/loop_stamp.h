/*
 * Stamps show whether the loop or batch in a folder may have changed, by the times of a few files
 * and by its locks. No journal is opened, so a view of a thousand loops can look often.
 */
#ifndef LOOP_STATE_LOOP_STAMP_H
#define LOOP_STATE_LOOP_STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_STAMP_FILES = 4 };

struct loop_stamp_file {
	uint64_t inode, size;
	int64_t changed_ns; /* 0: there is no such file */
};

struct loop_stamp {
	struct loop_stamp_file files[LOOP_STAMP_FILES];
	bool locked, kept;
	bool young; /* a file was changed just now: another change may leave the same time */
};

/* Reads the stamp of a folder. */
void loop_stamp_read(const char *folder, struct loop_stamp *ret_stamp);

/* The same for one file, such as a log. Returns whether it is young. */
bool loop_stamp_file(const char *path, struct loop_stamp_file *ret_file);

/* Is the folder surely as it was at the earlier stamp? */
bool loop_stamp_same(const struct loop_stamp *earlier, const struct loop_stamp *now);
bool loop_stamp_same_file(const struct loop_stamp_file *earlier, const struct loop_stamp_file *now);

#endif
