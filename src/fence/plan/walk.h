/* Visits every entry of a tree, without following symlinks, in bounded depth. */
#ifndef FENCE_PLAN_WALK_H
#define FENCE_PLAN_WALK_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A folder below this depth is handed to the visitor as unreadable: nobody works there, and it
 * costs a descriptor a level. */
enum { WALK_DEPTH = 256 };

/* How a folder begins that takes what the sweep cannot move off its file system, at the root of a tree. No
 * walk goes into it. */
#define WALK_NEAR_QUARANTINE "ringfence-quarantine-"

/* A folder as it was before it was read. */
struct walk_folder {
	uint64_t device;
	uint64_t inode;
	struct timespec changed;
};

struct walk_entry {
	int dir;                         /* the folder it is in */
	const char *name;                /* in that folder */
	const char *path;                /* below the root of the walk, without leading slash */
	unsigned char type;              /* DT_* */
	const struct walk_folder *above; /* the folders from the root to the one it is in */
	unsigned int depth;              /* how many there are, less one */
	bool closed; /* a folder that cannot be looked into (no permission, or too deep) */
};

enum walk_verdict {
	WALK_ON,   /* go on, into the folder if it is one */
	WALK_PAST, /* go on, but not into it */
	WALK_STOP, /* the visitor failed; it has said why */
};

typedef enum walk_verdict walk_fn(void *context, const struct walk_entry *entry);

/* What fstat says, as a walk_folder. Returns 0, or -1 with errno. */
int walk_look(int fd, struct walk_folder *ret_folder);
bool walk_same(const struct walk_folder *a, const struct walk_folder *b);

/*
 * Walks the tree at root. An entry that vanishes meanwhile is passed over. A folder that cannot be
 * opened is visited a second time with `closed` set. *ret_changed (may be NULL): a folder changed
 * while it was walked, so that something may have been missed. Returns 0, or -1 (with err set, or
 * as the visitor said).
 */
int walk_tree(int root, walk_fn *visit, void *context, bool *ret_changed, struct error *err);

#endif
