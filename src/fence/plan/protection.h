/*
 * Protects paths in the folders that the command may write: files that the host executes become
 * read-only, secrets are hidden.
 *
 * A mount covers a file, but not a symlink, nor a file that does not exist yet. So the target of a
 * symlink is protected, and the plan records the symlink for the sweep to restore, and the missing
 * file for the sweep to quarantine if it appears.
 */
#ifndef FENCE_PLAN_PROTECTION_H
#define FENCE_PLAN_PROTECTION_H

#include "fence/fence_plan.h"
#include "fence/plan/home.h"
#include "fence/plan/names.h"
#include "util/file/symlinks.h"

struct gitprograms;

/* A search for paths to protect. plan and symlinks must be set; the other members are for scans. */
struct protection {
	struct fence_plan *plan;
	struct symlinks *symlinks;
	const char *root; /* the tree that is searched */
	struct gitprograms *programs;
	uint64_t look_budget; /* bytes left for looking at content */
	unsigned int nested;  /* depth of folders reached through symlinks */
};

/* Returns 0, or -1 with err set if there are too many paths to protect. */
int protection_check_count(const struct protection *protection, struct error *err);

/* Leaves a path to the command if the user named it with --write; `why` is the reason to protect
 * it. Returns whether this is so. */
bool protection_exempts(struct fence_plan *plan, const char *path, const char *why);

/* Protects the target of a symlink, and has the sweep restore the symlink if the host executes it.
 * `secret` has the classes of a secret, or is NULL. Returns whether the target is hidden. */
bool protection_add_link(struct protection *protection, const char *path, bool executed,
			 const struct names_found *secret);

/* Protects the file that a path leads to, and which the host uses; watches for it if it is missing.
 * `secret` as above. */
void protection_add_path(struct protection *protection, const char *path,
			 const struct names_found *secret);

/* Watches a path, so that the sweep finds a new file there. Returns the real path of the file,
 * which the caller frees, or NULL if the command cannot replace it. */
char *protection_watch(struct protection *protection, const char *path);

/* Returns whether a path is below a folder of the user's that the command may write. */
bool protection_in_reach(const struct fence_plan *plan, const char *path);

/* Has the sweep restore a symlink, or, without a target, examine what appears at the path. */
void protection_keep_link(struct fence_plan *plan, const char *path, const char *target);

/* Makes a path read-only that the host executes, if it is in reach. */
void protection_make_read_only(struct protection *protection, const char *path);

/* Protects what git obeys: a git directory and the programs that its configuration names. Returns
 * 0, or -1 with err set. */
int protection_add_repository(struct protection *protection, const char *git, const char *work_tree,
			      struct error *err);

/* The same, for a git directory with another name than .git, given the path of its HEAD. */
int protection_add_bare(struct protection *protection, const char *head, struct error *err);

/* The same, for the repository that contains the root: git searches upwards. */
int protection_add_parent_repository(struct protection *protection, struct error *err);

/* In a draft: protects what the project itself makes the host execute, and its secrets, by the plan
 * from before the draft was entered. The draft may have lost the symlink or setting that leads
 * there. */
void protection_add_original(struct fence_plan *plan, const struct fence_plan *before);

/* In a draft: reports whether commands of the draft have made what is at a real path. No secret of
 * the user is in it, and its name hides nothing; protection_add_original() hides what the project
 * has at that path. */
bool protection_is_own(const struct fence_plan *plan, const char *path);

/* Where root lends its files to the command: hides folders as a whole that the command may not
 * enter, if there is a rule for something in them. The fence could not be verified there from
 * inside. A plain user cannot look into such folders, and hides all of them. */
void protection_hide_closed(struct fence_plan *plan);

/* Protects files that the home folder's configuration, programs and credentials lead to. Returns 0,
 * or -1 with err set. */
int protection_add_home(struct fence_plan *plan, const struct home *names, struct error *err);

#endif
