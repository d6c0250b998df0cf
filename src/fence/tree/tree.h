/*
 * The file tree of a fence as data: what is at which path inside, in the order in which it must be
 * made. Every mechanism realises the same tree, and init checks it.
 *
 *	/usr, /bin, /lib ...	the system's, read-only
 *	/etc			a prepared copy (etc.h), read-only
 *	/dev, /tmp, the home	the fence's own, empty
 *	paths that rules name	as the rules say
 *
 * A mechanism either translates the entries into its own options, or lets tree_build() mount them on
 * a stage (stage.h). /proc is left to the mechanism: it belongs to the process namespace.
 */
#ifndef FENCE_TREE_TREE_H
#define FENCE_TREE_TREE_H

#include "fence/fence_plan.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where ringfence-init is found inside. */
#define TREE_INIT "/run/ringfence/init"

enum tree_kind {
	TREE_FOLDER,  /* an empty folder in the entry above it */
	TREE_SYMLINK, /* with `source` as its content */
	TREE_SHOWN,   /* the place `source` of the host */
	TREE_TMPFS,   /* an empty file system of the fence's own, with `mode` */
	TREE_DEVICES, /* the harmless device files of the host, in the folder `path` */
	TREE_PTS,     /* terminals of the fence's own (devpts) */
};

struct tree_entry {
	enum tree_kind kind;
	const char *path;   /* inside */
	const char *source; /* see the kinds */
	const char *mode;
	const struct fence_rule *rule; /* that the entry comes from; NULL: the fence's own */
	bool is_dir;
	bool writable;
	bool scratch; /* the command may write there, and it begins empty */
	bool exists;  /* an earlier entry shows its place: it must be found there, never be made */
	dev_t device; /* of TREE_SHOWN: what init must find. Of a rule that empties a folder: what it
			 must not find */
	ino_t inode;
};

struct tree {
	const struct fence_plan *plan;
	struct tree_entry *items;
	size_t count;
	struct list texts; /* paths that belong to the tree */
};

/* Decides what is where. The plan must outlive the tree. Returns 0, or -1 with err set. */
int tree_make(const struct fence_plan *plan, struct tree *ret_tree, struct error *err);
void tree_release(struct tree *tree);

/* Adds to the order what init must find. */
void tree_describe(const struct tree *tree, struct buffer *order);

/* In a process that is on a stage: mounts the tree there. `needed` is a path that must stay
 * reachable. Returns the path of the tree's root, or NULL with err set; the caller frees. */
char *tree_build(const struct tree *tree, const char *needed, struct error *err);

#endif
