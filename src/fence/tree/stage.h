/*
 * A stage: a private mount namespace in which the fence's file tree is built before a mechanism
 * makes it the root of a fence.
 *
 * All mounts use descriptors (open_tree, move_mount), so the mounted file is the one that was
 * opened. Mount points in the user's folders are never created; they must exist. A regular user
 * gets the right to mount from a user namespace. Real root already has it, and idmapped mounts lend
 * root's files to the fence's uid.
 */
#ifndef FENCE_TREE_STAGE_H
#define FENCE_TREE_STAGE_H

#include "fence/fence_plan.h"

struct stage {
	const struct fence_identity *identity;
	char *place; /* path of the tree's root */
	int tree;    /* the tree's root, opened */
	int mapping; /* the user namespace for idmapped mounts, or -1 if nothing is lent */
	unsigned int lent;
	uint64_t tmp_size; /* of each tmpfs in the tree; 0 for the kernel's default */
};

/* A mount point in the tree. It must be the file that `judged` names; if that is NULL, it is
 * created. */
struct stage_target {
	const char *path;
	bool is_dir;
	const struct fence_rule *judged;
};

enum stage_how {
	STAGE_READ_ONLY = 1,
	STAGE_DEVICES = 2, /* device files work */
};

/* Refuses a plan that cannot be built on a stage. Returns 0, or -1 with err set. */
int stage_check(const struct fence_plan *plan, struct error *err);

/*
 * stage_enter() moves this process to new namespaces: a mount namespace and, for a regular user, a
 * user namespace that maps only the user's ids. stage_join() moves another process, which will
 * build the tree, to the namespaces of the first (a pidfd). Both return 0, or -1 with err set.
 */
int stage_enter(const struct fence_identity *identity, struct error *err);
int stage_join(const struct fence_identity *identity, int process, struct error *err);

/* On the stage: starts building. The stage must not cover the paths in `needed`, which ends with
 * NULL. The functions below also return 0, or -1 with err set. */
int stage_begin(struct stage *stage, const struct fence_plan *plan, const char *const *needed,
		struct error *err);

/* Create a folder, with its parents, and a symlink. */
int stage_folder(const struct stage *stage, const char *path, struct error *err);
int stage_symlink(const struct stage *stage, const char *content, const char *path,
		  struct error *err);

/* Mounts a new file system (tmpfs, devpts) with options in the form "NAME=VALUE,NAME". */
int stage_file_system(const struct stage *stage, const char *type, const char *options,
		      const struct stage_target *target, struct error *err);

/* Mount a file or folder, given as an O_PATH descriptor or a path, with the mounts below it. `how`
 * has bits of enum stage_how. */
int stage_show(const struct stage *stage, int source, const struct stage_target *target,
	       unsigned int how, struct error *err);
int stage_show_path(const struct stage *stage, const char *source,
		    const struct stage_target *target, unsigned int how, struct error *err);

/* Mounts what was detached elsewhere. */
int stage_mount(const struct stage *stage, int mount, const struct stage_target *target,
		struct error *err);

/* Mounts files under their own names in a folder of the stage's own file system. The list ends with
 * NULL. */
int stage_show_files(const struct stage *stage, const char *const *sources, const char *folder,
		     unsigned int how, struct error *err);

/* Makes the mount at a path read-only. */
int stage_seal(const struct stage *stage, const char *path, struct error *err);

/* Returns a descriptor of an idmapped mount of source in which root's files belong to the fence's
 * uid, or -1 with err set. */
int stage_lend(struct stage *stage, int source, struct error *err);

#endif
