/*
 * Writes objects into one new pack of a repository. It appears, synced, when it is finished, or not at all:
 * so a checkpoint costs two files and two syncs, whatever it holds, and a crash leaves at most a draft.
 */
#ifndef SNAPSHOT_PACK_H
#define SNAPSHOT_PACK_H

#include "snapshot/depot.h"
#include "snapshot/node.h"
#include "util/error.h"

#include <git2.h>

struct pack;

/* For a repository; objects that it has are not written again, unless the pack is to be complete. */
struct pack *pack_new(struct depot *depot, bool complete);

/* Adds an object, unless it is there. Returns 0, or -1 with err set. */
int pack_add(struct pack *pack, git_object_t type, const void *bytes, size_t size,
	     unsigned char ret_id[NODE_ID], struct error *err);

/* Is it in this pack already? */
bool pack_has(const struct pack *pack, const unsigned char *id);

/* Puts the pack in its place; without an object there is none. Returns 0, or -1 with err set. */
int pack_finish(struct pack *pack, struct error *err);

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
