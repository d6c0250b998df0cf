/*
 * The repository of a project's checkpoints: bare, outside of the project, and nobody's but ours.
 *
 *	objects/		packs, one for each checkpoint that brought something new
 *	refs/ringfence/LOOP/N	checkpoint N of a loop: a commit without parents
 *	rules/LOOP		what this loop's checkpoints leave out (look/rules.h)
 *	cache			what the last look saw (cache.h)
 *	undo			a rollback or restore under way (undo/restore.h)
 *	lock			held by whoever writes
 *
 * The tree of such a commit has two entries: `files`, the project as far as a tree of git can hold it, and
 * `manifest` (manifest.h), the rest. All loops of a project share it, and so what they have in common.
 */
#ifndef SNAPSHOT_STORE_CHECKPOINT_REPO_H
#define SNAPSHOT_STORE_CHECKPOINT_REPO_H

#include "snapshot/store/node.h"
#include "util/error.h"

#include <git2.h>
#include <pthread.h>
#include <stdint.h>

struct checkpoint_repo {
	char *path;
	int folder;
	int lock;
	git_repository *repository; /* these two after checkpoint_repo_git() */
	git_odb *odb;
	pthread_t opener;
	bool opening;
	char trouble[512]; /* why it could not be opened */
};

struct checkpoint_repo_item {
	int64_t number;
	git_oid commit, tree;
	char kind[16];
	int64_t iteration;
	int64_t at_ms;
	uint64_t files, bytes, skipped;
};

/* Opens the repository, or makes it. From then on this process can write there, and to the project if that is not
 * NULL, and nowhere else (base/confine.h). Returns 0, or -1 with err set. */
int checkpoint_repo_open(struct checkpoint_repo *depot, const char *path, const char *project,
			 struct error *err);
void checkpoint_repo_close(struct checkpoint_repo *depot);

/* The library takes as long to begin as a look at thousands of files, so it does that meanwhile; before anything
 * of it is used, this waits for it. Returns 0, or -1 with err set. */
int checkpoint_repo_git(struct checkpoint_repo *depot, struct error *err);

/* Waits until nobody else writes. Returns 0, or -1 with err set. */
int checkpoint_repo_lock(struct checkpoint_repo *depot, struct error *err);

/* Refuses when the disk of the repository is nearly full. */
int checkpoint_repo_check_room(const struct checkpoint_repo *depot, struct error *err);

/* Checkpoints of a loop. */
typedef int checkpoint_repo_fn(void *context, const struct checkpoint_repo_item *checkpoint,
			       struct error *err);
int checkpoint_repo_each(struct checkpoint_repo *depot, const char *loop, checkpoint_repo_fn *look,
			 void *context, struct error *err);
int checkpoint_repo_read(struct checkpoint_repo *depot, const char *loop, int64_t number,
			 struct checkpoint_repo_item *ret_checkpoint, struct error *err);
int checkpoint_repo_read_commit(struct checkpoint_repo *depot, const git_oid *commit,
				struct checkpoint_repo_item *ret_checkpoint, struct error *err);

/* The highest number; -1: there is none. */
int64_t checkpoint_repo_last(const struct checkpoint_repo *depot, const char *loop);

/* Gives a commit that is there a number. Returns 0, or -1 with err set. */
int checkpoint_repo_number(struct checkpoint_repo *depot, const char *loop, int64_t number,
			   const git_oid *commit, struct error *err);

/* Writes a file of one of the repository's folders, synced; it appears as a whole. The lock is held. */
int checkpoint_repo_write(struct checkpoint_repo *depot, int folder, const char *name,
			  const char *bytes, size_t size, struct error *err);

/* The tree that a checkpoint holds, complete. The caller releases it. Returns 0, or -1 with err set. */
int checkpoint_repo_load(struct checkpoint_repo *depot, const git_oid *tree, struct node *ret_root,
			 struct error *err);

/* The trees of files in a checkpoint's tree, and its manifest as bytes. */
int checkpoint_repo_parts(struct checkpoint_repo *depot, const git_oid *tree, git_tree **ret_files,
			  git_blob **ret_manifest, struct error *err);

#endif
