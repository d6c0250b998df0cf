/*
 * A stage: a mount namespace of our own in which the fence's whole file tree is built, before a
 * mechanism makes it the root of a fence.
 *
 * Everything is mounted through descriptors (open_tree, move_mount): what is shown is the very file
 * that was opened, and a place in the user's folders is never created, only found. A plain user gets
 * the right to mount from a user namespace; real root has it, and lends root's files to the uid of the
 * fence on the way (idmapped mounts).
 */
#ifndef FENCE_TREE_STAGE_H
#define FENCE_TREE_STAGE_H

#include "fence/fence_plan.h"

#include <sys/stat.h>

struct stage {
	const struct fence_identity *identity;
	char *place; /* where the root of the tree is */
	int tree;
	int mapping; /* the user namespace that says whose files become whose; -1: nothing is lent */
	unsigned int lent;
	uint64_t tmp_size; /* of each tmpfs that the tree gets; 0: the kernel's choice */
};

/* What a place in the tree must be: the file that was judged. Without it the place is made. */
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
 * Makes this process the stage's first: new namespaces, which no mount of the host's follows into. A plain user's
 * right to mount is that of a user namespace in which nothing but the user's ids exist. Another process joins
 * them by a descriptor of the first one's (pidfd), to build there. Each returns 0, or -1 with err set.
 */
int stage_enter(const struct fence_identity *identity, struct error *err);
int stage_join(const struct fence_identity *identity, int process, struct error *err);

/* On the stage: begins to build. `needed` are paths that must stay reachable, ended by NULL. Returns 0, or
 * -1 with err set. */
int stage_begin(struct stage *stage, const struct fence_plan *plan, const char *const *needed,
		struct error *err);

/* A folder, with all above it; a symlink. */
int stage_folder(const struct stage *stage, const char *path, struct error *err);
int stage_symlink(const struct stage *stage, const char *content, const char *path,
		  struct error *err);

/* A file system of the fence's own (tmpfs, devpts), with options "NAME=VALUE,NAME". */
int stage_file_system(const struct stage *stage, const char *type, const char *options,
		      const struct stage_target *target, struct error *err);

/* Shows what source is open on (O_PATH), or what is at its path, with what is mounted below it. */
int stage_show(const struct stage *stage, int source, const struct stage_target *target,
	       unsigned int how, struct error *err);
int stage_show_path(const struct stage *stage, const char *source,
		    const struct stage_target *target, unsigned int how, struct error *err);

/* Shows files, by their own names, in a folder that lies in a file system of the stage's own. The list ends with
 * NULL. */
int stage_show_files(const struct stage *stage, const char *const *sources, const char *folder,
		     unsigned int how, struct error *err);

/* Makes what is mounted at a path read-only. */
int stage_seal(const struct stage *stage, const char *path, struct error *err);

/* A copy of what source is open on, in which root's files belong to the fence's uid. Returns a
 * descriptor, or -1 with err set. */
int stage_lend(struct stage *stage, int source, struct error *err);

#endif
