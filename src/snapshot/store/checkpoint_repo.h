/*
 * The repository of a project's checkpoints: a bare repository outside the project that only
 * Ringfence uses.
 *
 *	objects/		packs, one for each checkpoint with new content
 *	refs/ringfence/LOOP/N	checkpoint N of a loop: a commit without parents
 *	rules/LOOP		the ignore rules of this loop (look/ignore_rules.h)
 *	cache			the stat cache (cache.h)
 *	boot			the boot in which the project was last read (boot.h)
 *	undo			a rollback or restore in progress (undo/restore.h)
 *	boot-LOOP, undo-LOOP	the same for the draft of a loop
 *	lock			held by the writer
 *
 * The tree of such a commit has two entries: `files`, everything that a git tree can represent, and
 * `manifest` (manifest.h), the rest. All loops of a project share the repository, and therefore
 * identical content.
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
	git_repository *repository; /* both are set after checkpoint_repo_git() */
	git_odb *odb;
	pthread_t opener;
	bool opening;
	char trouble[512]; /* why opening failed */
	bool rebooted;     /* since the project was last read (boot.h) */
	const char *draft; /* the loop whose draft is read or restored; NULL: the project itself */
};

struct checkpoint_repo_item {
	int64_t number;
	git_oid commit, tree;
	char kind[16];
	int64_t iteration;
	int64_t at_ms;
	uint64_t files, bytes, skipped;
};

/*
 * Opens the repository, or creates it. From then on this process can write only there and, if they
 * are not NULL, to the project and to another folder (base/snapshot_confine.h). Returns 0, or -1
 * with err set.
 */
int checkpoint_repo_open(struct checkpoint_repo *repo, const char *path, const char *project,
			 const char *also, struct error *err);
void checkpoint_repo_close(struct checkpoint_repo *repo);

/*
 * Waits until libgit2 has opened the repository; must be called before `repository` or `odb` is
 * used. Opening runs in a thread, since it takes as long as scanning thousands of files. Returns 0,
 * or -1 with err set.
 */
int checkpoint_repo_git(struct checkpoint_repo *repo, struct error *err);

/* Waits for the exclusive lock. Returns 0, or -1 with err set. */
int checkpoint_repo_lock(struct checkpoint_repo *repo, struct error *err);

/* Fails if the disk of the repository is nearly full. */
int checkpoint_repo_check_space(const struct checkpoint_repo *repo, struct error *err);

/* Calls `look` for each checkpoint of a loop, by number. */
typedef int checkpoint_repo_fn(void *context, const struct checkpoint_repo_item *checkpoint,
			       struct error *err);
int checkpoint_repo_each(struct checkpoint_repo *repo, const char *loop, checkpoint_repo_fn *look,
			 void *context, struct error *err);
int checkpoint_repo_read(struct checkpoint_repo *repo, const char *loop, int64_t number,
			 struct checkpoint_repo_item *ret_checkpoint, struct error *err);
int checkpoint_repo_read_commit(struct checkpoint_repo *repo, const git_oid *commit,
				struct checkpoint_repo_item *ret_checkpoint, struct error *err);

/* Returns the highest number, or -1 if the loop has no checkpoint. */
int64_t checkpoint_repo_last(const struct checkpoint_repo *repo, const char *loop);

/*
 * Returns the number for the next checkpoint, which is not below `next`. If `next` follows the
 * latest checkpoint, as it usually does, the others are not listed.
 */
int64_t checkpoint_repo_next(const struct checkpoint_repo *repo, const char *loop, int64_t next);

/* Gives an existing commit a number. Returns 0, or -1 with err set. */
int checkpoint_repo_number(struct checkpoint_repo *repo, const char *loop, int64_t number,
			   const git_oid *commit, struct error *err);

/* Returns the name of the file "NAME", or of its counterpart for the draft of a loop. The caller
 * frees it. */
char *checkpoint_repo_file(const char *name, const char *draft);

/*
 * Atomically writes a file in one of the repository's folders and syncs it. The caller holds the
 * lock.
 */
int checkpoint_repo_write(struct checkpoint_repo *repo, int folder, const char *name,
			  const char *bytes, size_t size, struct error *err);

/* Looks up the two entries of a checkpoint's tree (tree_reader.h). Either output may be NULL. */
int checkpoint_repo_parts(struct checkpoint_repo *repo, const git_oid *tree, git_tree **ret_files,
			  git_blob **ret_manifest, struct error *err);

#endif
