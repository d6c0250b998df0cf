/*
 * Refs of ours in the user's repository: refs/heads/ringfence/LOOP, and what is below refs/ringfence/LOOP/. They are
 * written as git does it, by a lock file each, and only if they are what we left there, or not there at all. Nothing else
 * of the repository is changed.
 *
 *	git-own/imported	what we have written, as packed-refs
 *	git-own/pending		what is being written; it is there as long as something may be half done
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
	struct refs imported; /* what we have written */
	struct refs pending;  /* or may have */
	struct list keeps;    /* files that keep git from packing anew what no ref holds yet */
	bool at_home; /* the project's own work tree has the branch checked out since before the loop */
};

/* Reads what is known, and cleans up what somebody left who was killed. The base: refs when the loop began. Returns 0, or
 * -1 with err set. The caller closes in both cases. */
int publish_open(const struct borrow *borrow, const char *folder, const char *loop,
		 const struct refs *base, struct publish *ret_publish, struct error *err);
void publish_close(struct publish *publish);

/* Is this what one of our refs holds at this moment? Then all that it needs is there. */
bool publish_holds(const struct publish *publish, const char *hex);

/* What is in the way of writing this one, as a part of a sentence; the caller frees. NULL: nothing. */
char *publish_obstacle(const struct publish *publish, const char *name);

/* Notes what is about to be written, and the pack that comes before. Returns 0, or -1 with err set. */
int publish_begin(struct publish *publish, const struct refs *wanted, const char *pack,
		  struct error *err);

/* Writes them, and notes that it is done. Returns 0, or -1 with err set. */
int publish_end(struct publish *publish, const struct refs *wanted, struct error *err);

#endif
