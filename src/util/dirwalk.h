/*
 * Walks a tree of folders by descriptors. No symlink is followed, no entry needs a stat, and at most
 * DIRWALK_OPEN folders are open at a time, however deep the tree is.
 */
#ifndef UTIL_DIRWALK_H
#define UTIL_DIRWALK_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
	DIRWALK_OPEN = 64,
	DIRWALK_DEPTH = 256,        /* deep enough for folders in which somebody works */
	DIRWALK_ANY_DEPTH = 1 << 20 /* whatever an adversary can make; only without paths */
};

/* A folder as it was before it was read. */
struct dirwalk_folder {
	uint64_t device;
	uint64_t inode;
	struct timespec changed;
};

struct dirwalk_entry {
	int folder;         /* the folder that it is in */
	const char *name;   /* in that folder */
	const char *path;   /* below the root, without leading slash; NULL: not asked for */
	unsigned char type; /* DT_*; DT_UNKNOWN: it is gone again */
	const struct dirwalk_folder *above; /* the folders from the root to the one that it is in */
	unsigned int depth;                 /* how many there are, less one */
	bool closed; /* a folder that cannot be looked into (no permission, or too deep) */
};

enum dirwalk_verdict {
	DIRWALK_ON,   /* go on, into the folder if it is one */
	DIRWALK_PAST, /* go on, but not into it */
	DIRWALK_STOP, /* end the walk */
};

typedef enum dirwalk_verdict dirwalk_fn(void *context, const struct dirwalk_entry *entry);

struct dirwalk {
	/* Called for each entry. All entries of a folder are visited before its folders are entered.
	 * A folder that cannot be entered is visited a second time, with `closed` set. */
	dirwalk_fn *visit;
	/* Called for each folder that was entered, but the root, after all below it; may be NULL. */
	dirwalk_fn *leave;
	void *context;
	unsigned int deepest; /* folders below this depth are closed */
	bool no_paths;
};

/* What fstat says, as a dirwalk_folder. Returns 0, or -1 with errno. */
int dirwalk_look(int fd, struct dirwalk_folder *ret_folder);
bool dirwalk_same(const struct dirwalk_folder *a, const struct dirwalk_folder *b);

/*
 * Walks the tree at root. An entry that vanishes meanwhile is passed over. *ret_changed (may be NULL):
 * a folder changed while it was walked, so that something may have been missed. Returns 0, or -1 with
 * err set, or -1 with err untouched if a function said DIRWALK_STOP.
 */
int dirwalk_tree(const struct dirwalk *walk, int root, bool *ret_changed, struct error *err);

/*
 * Removes what is at a name, with all below it, at any depth and against missing permissions. Adds the
 * bytes that it took on the disk to *bytes (may be NULL). Returns 0, or -1 with errno.
 */
int dirwalk_remove(int folder, const char *name, uint64_t *bytes);

#endif
