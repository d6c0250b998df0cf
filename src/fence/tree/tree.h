/*
 * The file tree of a fence as data: a list of entries in the order in which they must be mounted.
 * Every mechanism realizes the same tree, and init checks it.
 *
 *	/usr, /bin, /lib ...	the system's or the image's, read-only
 *	/etc			a prepared copy (etc.h) or the image's, read-only
 *	/dev, /tmp, the home	private and empty
 *	paths with a rule	as the rule says
 *
 * tree_build() mounts them on a stage (stage.h). The mechanism provides /proc, which belongs to the
 * PID namespace.
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

/* The path of ringfence-init inside. */
#define TREE_INIT "/run/ringfence/init"

enum tree_kind {
	TREE_FOLDER,  /* an empty folder in the entry above it */
	TREE_SYMLINK, /* with `source` as its content */
	TREE_SHOWN,   /* the host's `source` */
	TREE_TMPFS,   /* a new tmpfs with `mode` */
	TREE_DEVICES, /* the host's harmless device files, in the folder `path` */
	TREE_PTS,     /* a new devpts */
	TREE_IMAGE,   /* to be replaced by what a container's image has there */
	TREE_GIVEN,   /* the detached mount `given` */
	TREE_NOTHING,
};

struct tree_entry {
	enum tree_kind kind;
	const char *path;   /* inside */
	const char *source; /* see the kinds */
	const char *mode;
	const struct fence_rule *rule; /* the rule that the entry comes from, or NULL */
	bool is_dir;
	bool writable;
	int given;         /* with TREE_GIVEN; the tree owns it */
	bool covers_image; /* only where the image has such a file */
	bool scratch;      /* writable and initially empty */
	bool exists; /* the mount point is in an earlier entry: it must exist, never be created */
	/* With TREE_SHOWN and TREE_GIVEN, init must find this file; with a rule that empties a
	 * folder, it must not. */
	dev_t device;
	ino_t inode;
};

struct tree {
	const struct fence_plan *plan;
	struct tree_entry *items;
	size_t count;
	struct list texts; /* paths that the tree owns */
};

/* Makes the tree of a plan, which must outlive it. Returns 0, or -1 with err set. */
int tree_make(const struct fence_plan *plan, struct tree *ret_tree, struct error *err);
void tree_release(struct tree *tree);

/* For a container's image (mechanism/container_image.h): makes an entry a symlink, and replaces the
 * image's folders by the host's, except for /opt with image_opt. The second returns 0, or -1 with
 * err set. */
void tree_set_symlink(struct tree *tree, struct tree_entry *entry, const char *content);
int tree_use_host(struct tree *tree, bool image_opt, struct error *err);

/* Adds the entries that init must check to its order. */
void tree_describe(const struct tree *tree, struct buffer *order);

/* In a process on a stage: mounts the tree without covering the path `needed`. Returns the path of
 * the tree's root, or NULL with err set. The caller frees it. */
char *tree_build(const struct tree *tree, const char *needed, struct error *err);

#endif
