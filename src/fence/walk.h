/* Visits every entry of a tree, without following symlinks, in bounded depth. */
#ifndef FENCE_WALK_H
#define FENCE_WALK_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A folder below this depth is handed to the visitor as unreadable: nobody works there, and it costs a descriptor a level. */
enum { WALK_DEPTH = 256 };

struct walk_entry {
	int dir;	  /* the folder it is in */
	const char *name; /* in that folder */
	const char *path; /* below the root of the walk, without leading slash */
	unsigned char type; /* DT_* */
	bool closed;	  /* a folder that cannot be looked into (no permission, or too deep) */
};

enum walk_verdict {
	WALK_ON,   /* go on, into the folder if it is one */
	WALK_PAST, /* go on, but not into it */
	WALK_STOP, /* the visitor failed; it has said why */
};

typedef enum walk_verdict walk_fn(void *context, const struct walk_entry *entry);

/*
 * Walks the tree at root. An entry that vanishes meanwhile is passed over. A folder that cannot be opened is visited a
 * second time with `closed` set. Returns 0, or -1 (with err set, or as the visitor said).
 */
int walk_tree(int root, walk_fn *visit, void *context, struct error *err);

#endif
