/*
 * The stat cache: the tree of nodes that the last scan of a project saw, with the ids of the
 * objects that hold their contents. Only files that look different since are read again. A cache of
 * another boot does not count, because a power cut can empty files (boot.h).
 */
#ifndef SNAPSHOT_STORE_CACHE_H
#define SNAPSHOT_STORE_CACHE_H

#include "snapshot/store/node.h"
#include "util/error.h"
#include "util/text/sha256.h"

struct cache {
	struct node root;
	char rules[SHA256_HEX]; /* hash of the ignore rules in effect */
	char *bytes;            /* the mapped file, which holds the names */
	size_t size;
};

/* Reads the cache. Returns false if there is none, or it is damaged, or of another boot. */
bool cache_read(int folder, struct cache *ret_cache);
void cache_release(struct cache *cache);

/* Replaces the cache. Returns 0, or -1 with err set. */
int cache_write(int folder, const char rules[SHA256_HEX], const struct node *root,
		struct error *err);
void cache_remove(int folder);

#endif
