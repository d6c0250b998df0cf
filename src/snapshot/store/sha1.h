/*
 * Incremental SHA-1, for the checksum at the end of a pack. Object ids are computed by libgit2,
 * which detects crafted collisions.
 */
#ifndef SNAPSHOT_STORE_SHA1_H
#define SNAPSHOT_STORE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { SHA1_SIZE = 20 };

struct sha1 {
	uint32_t state[5];
	uint64_t size;
	unsigned char block[64];
};

void sha1_init(struct sha1 *sha1);
void sha1_add(struct sha1 *sha1, const void *bytes, size_t size);
void sha1_end(struct sha1 *sha1, unsigned char ret_sum[SHA1_SIZE]);

#endif
