/*
 * Ringfence's refs in the user's repository: refs/heads/ringfence/LOOP, and those below
 * refs/ringfence/LOOP/. They are written as git does, each with a lock file, and only if they still
 * have the value that was written last, or do not exist. Nothing else in the repository changes.
 *
 *	git-own/imported	the refs that were written, as packed-refs
 *	git-own/pending		the refs being written; exists while an operation may be incomplete
 */
#ifndef SNAPSHOT_GIT_PUBLISH_H
#define SNAPSHOT_GIT_PUBLISH_H

#include "snapshot/git/borrow.h"
#include "snapshot/object/refs.h"

struct publish {
	const struct borrow *borrow;
	int common;           /* the repository */
	int own;              /* git-own */
	char *branch;         /* refs/heads/ringfence/LOOP */
	char *below;          /* refs/ringfence/LOOP/ */
	struct refs imported; /* refs that were written */
	struct refs pending;  /* refs that may have been written */
	struct list
		keeps; /* .keep files that stop git from repacking objects that no ref holds yet */
	bool at_home;  /* the project has had the branch checked out since before the loop */
};

/*
 * Reads the state, and cleans up after a killed process. base: the refs when the loop began.
 * Returns 0, or -1 with err set. The caller closes it in both cases.
 */
int publish_open(const struct borrow *borrow, const char *folder, const char *loop,
		 const struct refs *base, struct publish *ret_publish, struct error *err);
void publish_close(struct publish *publish);

/* Reports whether one of our refs has this value now; then all objects it needs exist. */
bool publish_holds(const struct publish *publish, const char *hex);

/* Returns the reason why this ref cannot be written, as a clause that the caller frees, or NULL. */
char *publish_obstacle(const struct publish *publish, const char *name);

/* Records the refs about to be written, and the pack before them. Returns 0, or -1 with err set. */
int publish_begin(struct publish *publish, const struct refs *wanted, const char *pack,
		  struct error *err);

/* Writes the refs, and records that this is done. Returns 0, or -1 with err set. */
int publish_end(struct publish *publish, const struct refs *wanted, struct error *err);

#endif
