/*
 * Writes objects into one new pack of a repository. The pack appears, synced, when it is finished,
 * or not at all: a checkpoint costs two files and two syncs, whatever it holds, and a crash leaves
 * at most temporary files.
 */
#ifndef SNAPSHOT_STORE_PACK_H
#define SNAPSHOT_STORE_PACK_H

#include "snapshot/store/checkpoint_repo.h"
#include "snapshot/store/node.h"
#include "util/error.h"

#include <git2.h>

struct pack;

/*
 * Objects that the repository has are not written again, unless `complete` is set. prefix: of
 * the temporary files, or NULL for that of checkpoints.
 */
struct pack *pack_new(struct checkpoint_repo *repo, bool complete, const char *prefix);

/* Adds an object, unless it exists. Returns 0, or -1 with err set. */
int pack_add(struct pack *pack, git_object_t type, const void *bytes, size_t size,
	     unsigned char ret_id[NODE_ID], struct error *err);

/* Adds an object of the repository. Returns 0, or -1 with err set. */
int pack_copy(struct pack *pack, const git_oid *id, struct error *err);

/* Reports whether this pack holds the object. */
bool pack_has(const struct pack *pack, const unsigned char *id);

/*
 * pack_seal() writes and syncs the temporary files; from then on pack_name() is "pack-ID.", or
 * empty if the pack has no objects. pack_finish() seals the pack and renames its files into place.
 * Both return 0, or -1 with err set.
 */
int pack_seal(struct pack *pack, struct error *err);
int pack_finish(struct pack *pack, struct error *err);
const char *pack_name(const struct pack *pack);

size_t pack_count(const struct pack *pack);

/* The bytes written so far. */
uint64_t pack_bytes(const struct pack *pack);

/* Also removes the temporary files of a pack that is not finished. */
void pack_free(struct pack *pack);

/* The bytes of all packs of a repository. */
uint64_t pack_total(const char *repository);

/* Removes all packs except this finished one, or all packs if this one has no objects. */
void pack_replace(const struct pack *pack);

/*
 * Merges the small packs of a repository into one, if there are many: each pack costs time whenever
 * the repository is opened. The caller holds the lock. Returns 0, or -1 with err set; nothing is
 * lost in either case.
 */
int pack_merge(struct checkpoint_repo *repo, struct error *err);

/* Removes temporary files that a killed process left; nobody may be writing. */
void pack_clean(const char *repository);

#endif
