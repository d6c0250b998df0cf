/*
 * Writes objects into one new pack of a repository. It appears, synced, when it is finished, or not at all:
 * so a checkpoint costs two files and two syncs, whatever it holds, and a crash leaves at most a draft.
 */
#ifndef SNAPSHOT_STORE_PACK_H
#define SNAPSHOT_STORE_PACK_H

#include "snapshot/store/checkpoint_repo.h"
#include "snapshot/store/node.h"
#include "util/error.h"

#include <git2.h>

struct pack;

/* For a repository; objects that it has are not written again, unless the pack is to be complete. draft: what its
 * files are called until then; NULL: those of the checkpoints. */
struct pack *pack_new(struct checkpoint_repo *depot, bool complete, const char *draft);

/* Adds an object, unless it is there. Returns 0, or -1 with err set. */
int pack_add(struct pack *pack, git_object_t type, const void *bytes, size_t size,
	     unsigned char ret_id[NODE_ID], struct error *err);

/* Is it in this pack already? */
bool pack_has(const struct pack *pack, const unsigned char *id);

/* Puts the pack in its place; without an object there is none. Returns 0, or -1 with err set. pack_seal() does what can
 * be done before: from then on it has its name ("pack-ID."; empty: there is nothing in it). */
int pack_seal(struct pack *pack, struct error *err);
int pack_finish(struct pack *pack, struct error *err);
const char *pack_name(const struct pack *pack);

/* How many objects are in it. */
size_t pack_count(const struct pack *pack);

/* How many bytes this pack has, so far. */
uint64_t pack_bytes(const struct pack *pack);

/* Removes what is not finished. */
void pack_free(struct pack *pack);

/* The bytes of all packs of a repository. */
uint64_t pack_total(const char *repository);

/* Removes all packs but this one, which is finished; all of them, if nothing is in it. */
void pack_replace(const struct pack *pack);

/* Removes the drafts of others that were killed; nobody may be writing. */
void pack_clean(const char *repository);

#endif
