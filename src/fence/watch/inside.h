/*
 * Finds out where a path leads for processes in the fence, from outside.
 *
 * Programs create most files in a folder that they have just used, so the last few folders are
 * remembered. A folder is remembered until something other than a file is renamed or removed,
 * because only that can make a path lead elsewhere. A process that does this at the same moment
 * deceives only the report.
 */
#ifndef FENCE_WATCH_INSIDE_H
#define FENCE_WATCH_INSIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { INSIDE_FOLDERS = 8 };

struct inside {
	int root; /* the fence's root, or -1 before inside_open() */
	struct inside_folder {
		char *path; /* as asked for */
		char *real; /* without symlinks */
		int fd;
	} folders[INSIDE_FOLDERS];
	size_t count; /* folders ever remembered; the next one takes the place of the oldest */
};

/* The file that a path leads to. */
struct inside_entry {
	bool there;
	bool folder; /* its parent folder exists */
	bool file;   /* it is a regular file */
	bool is_dir;
};

#define INSIDE_INIT ((struct inside){ .root = -1 })

/* Enters the fence of a process, once. Returns 0, or -1. */
int inside_open(struct inside *inside, pid_t pid);

void inside_close(struct inside *inside);

/* Resolves an absolute path in place: symlinks, and `..`, are gone. With `follow`, a symlink at its
 * end is followed. If the file system gives no answer, the path is cleaned lexically. */
void inside_resolve(struct inside *inside, bool follow, char path[PATH_MAX],
		    struct inside_entry *ret_entry);

/* Forgets the folders. */
void inside_forget(struct inside *inside);

#endif
