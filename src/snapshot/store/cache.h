/*
 * What the last look at a project saw: only what looks different is read again. It holds whole trees of
 * nodes, with the objects that their contents have in the repository.
 */
#ifndef SNAPSHOT_STORE_CACHE_H
#define SNAPSHOT_STORE_CACHE_H

#include "snapshot/store/node.h"
#include "util/error.h"
#include "util/sha256.h"

struct cache {
	struct node root;
	char rules[SHA256_HEX]; /* the hash of the ignore rules that it was made with */
	char *bytes;            /* a mapped file, in which the names are */
	size_t size;
};

/* Reads the file, if it is whole. False: nothing is known. */
bool cache_read(int folder, struct cache *ret_cache);
void cache_release(struct cache *cache);

/* Replaces the file. Returns 0, or -1 with err set. */
int cache_write(int folder, const char rules[SHA256_HEX], const struct node *root,
		struct error *err);
void cache_forget(int folder);

#endif
