/*
 * Walks a folder tree through descriptors. It follows no symlinks, needs no stat per entry, and
 * keeps at most DIRWALK_OPEN folders open at a time, at any depth.
 */
#ifndef UTIL_FILE_DIRWALK_H
#define UTIL_FILE_DIRWALK_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
	DIRWALK_OPEN = 64,
	DIRWALK_DEPTH = 256,        /* deep enough for any folder that people work in */
	DIRWALK_ANY_DEPTH = 1 << 20 /* any depth an adversary can create; requires no_paths */
};

/* A folder's identity and change time, taken before its entries are read. */
struct dirwalk_folder {
	uint64_t device;
	uint64_t inode;
	struct timespec changed;
};

struct dirwalk_entry {
	int folder;         /* descriptor of the containing folder */
	const char *name;   /* within that folder */
	const char *path;   /* relative to the root, without a leading slash; NULL with no_paths */
	unsigned char type; /* DT_*; DT_UNKNOWN if the entry has vanished */
	const struct dirwalk_folder *above; /* the folders from the root down to the containing
					     * one */
	unsigned int depth;                 /* index of the containing folder in `above` */
	bool closed; /* a folder that cannot be read (no permission, or too deep) */
};

enum dirwalk_verdict {
	DIRWALK_ON,   /* continue, and descend if the entry is a folder */
	DIRWALK_PAST, /* continue without descending */
	DIRWALK_STOP, /* end the walk */
};

typedef enum dirwalk_verdict dirwalk_fn(void *context, const struct dirwalk_entry *entry);

struct dirwalk {
	/* Called for each entry. All entries of a folder are visited before any of its
	 * subfolders is entered. A folder that cannot be entered is visited a second time, with
	 * `closed` set. */
	dirwalk_fn *visit;
	/* Called for each entered folder except the root, after everything below it; may be
	 * NULL. */
	dirwalk_fn *leave;
	void *context;
	unsigned int deepest; /* folders below this depth are reported as closed */
	bool no_paths;
	/* Visit only these entries, by their paths, and the folders above them; sorted with
	 * dirwalk_sort(). NULL: visit everything. Requires paths. */
	const struct list *only;
};

/* Sorts paths into the order in which a walk meets them, and removes duplicates. */
void dirwalk_sort(struct list *paths);

/* Returns 1 if a folder has entries, 0 if it is empty, or -1 with errno if it cannot be opened. */
int dirwalk_has_entries(const char *folder);

/* Fills *ret_folder from fstat(). Returns 0, or -1 with errno. */
int dirwalk_look(int fd, struct dirwalk_folder *ret_folder);
bool dirwalk_same(const struct dirwalk_folder *a, const struct dirwalk_folder *b);

/*
 * Walks the tree at root and skips entries that vanish during the walk. *ret_changed (may be NULL)
 * is set if a folder changed while it was walked, in which case entries may have been missed.
 * Returns 0, -1 with err set, or -1 with err untouched if a callback returned DIRWALK_STOP.
 */
int dirwalk_tree(const struct dirwalk *walk, int root, bool *ret_changed, struct error *err);

/*
 * Removes a file or a folder with everything below it, at any depth and despite missing
 * permissions. Adds the disk space it occupied to *bytes (may be NULL). Returns 0, or -1 with
 * errno.
 */
int dirwalk_remove(int folder, const char *name, uint64_t *bytes);

#endif
