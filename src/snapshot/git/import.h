/*
 * Imports an agent's commits into the user's repository: objects and refs, nothing else.
 *
 * HEAD becomes refs/heads/ringfence/LOOP; other branches, tags and the stash that the agent created
 * or moved become refs/ringfence/LOOP/heads/..., tags/... and stash. Each object is read from the
 * private directory (object/object_source.h), verified against its id and checked (object/fsck.h);
 * everything it refers to must be imported with it or already exist. All objects are written as one
 * pack; the refs follow (publish.h).
 */
#ifndef SNAPSHOT_GIT_IMPORT_H
#define SNAPSHOT_GIT_IMPORT_H

#include "snapshot/git/borrow.h"
#include "util/text/json.h"

#include <stdint.h>

struct import_options {
	const char *folder;  /* of the loop; contains git and git-own */
	const char *loop;    /* its id */
	uint64_t most_bytes; /* limit for one import, unpacked */
};

/*
 * Imports, and reports the branch, commit, objects, bytes, refs, and which refs were refused and
 * why. Returns 0, or -1 with err set if nothing was imported.
 */
int import_run(const struct borrow *borrow, const struct import_options *options, struct json *json,
	       struct error *err);

/* Removes the temporary files of a killed import of this loop; nobody may be writing. */
void import_clean(int common, const char *loop);

#endif
