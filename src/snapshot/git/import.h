/*
 * What an agent committed comes into the user's repository: objects and refs, and nothing else.
 *
 * The tip of its HEAD becomes refs/heads/ringfence/LOOP; other branches, tags and the stash that it made or moved become
 * refs/ringfence/LOOP/heads/..., tags/... and stash. Each object is looked for in the private directory (object/source.h), must be
 * what its name says, is checked (object/fsck.h), and everything that it refers to must come along or be there already. All of
 * them are written as one pack; then come the refs (publish.h).
 */
#ifndef SNAPSHOT_GIT_IMPORT_H
#define SNAPSHOT_GIT_IMPORT_H

#include "snapshot/git/borrow.h"
#include "util/json.h"

#include <stdint.h>

struct import_options {
	const char *folder;  /* of the loop: git and git-own are in it */
	const char *loop;    /* its id */
	uint64_t most_bytes; /* that may come in at a time, unpacked */
};

/* Does it, and tells what came of it: branch, commit, objects, bytes, refs, and what was refused and why. Returns 0, or -1
 * with err set: nothing came in. */
int import_run(const struct borrow *borrow, const struct import_options *options, struct json *json,
	       struct error *err);

/* Removes what one of this loop that was killed has left in the repository; nobody may be writing. */
void import_clean(int common, const char *loop);

#endif
