/*
 * Reads objects from an untrusted pack and its untrusted index. Sizes, offsets and delta chains are
 * bounded; the caller verifies each object against its id.
 */
#ifndef SNAPSHOT_OBJECT_PACKREAD_H
#define SNAPSHOT_OBJECT_PACKREAD_H

#include "snapshot/object/fsck.h"

#include <stdint.h>
#include <sys/types.h>

struct packread {
	int fd;
	uint64_t size;
	unsigned char *index; /* mapped */
	size_t index_size;
	uint32_t count;
};

struct packread_object {
	enum fsck_type type;
	char *bytes; /* followed by a NUL that `size` does not include */
	size_t size;
};

/* Limits on the cost of reading. */
struct packread_limits {
	uint64_t most_bytes; /* of an object, and of each base and delta */
	uint64_t work;       /* bytes that may still be unpacked in total */
};

/*
 * Opens "pack-x.idx" and its pack in the folder, without following symlinks. Returns false if the
 * pack is invalid.
 */
bool packread_open(int folder, const char *index, struct packread *ret_pack);

/*
 * Checks the format of a mapped index and the size of its pack, and sets the number of objects.
 * Returns false if they are invalid.
 */
bool packread_check(struct packread *pack);
void packread_close(struct packread *pack);

/* Reports whether the index lists the object. */
bool packread_has(const struct packread *pack, const unsigned char id[FSCK_ID]);

/*
 * Returns 1, 0 if the object is not in this pack, or -1 with err set to a noun phrase. The caller
 * frees the bytes.
 */
int packread_find(const struct packread *pack, const unsigned char id[FSCK_ID],
		  struct packread_limits *limits, struct packread_object *ret_object,
		  struct error *err);

#endif
