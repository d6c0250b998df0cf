/*
 * Reads objects of one pack that somebody else has written, with an index that they wrote, too. Sizes, places and chains of
 * deltas are bounded; whether an object is what its name says is for who asked to find out.
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
	char *bytes; /* ends in a NUL that does not count */
	size_t size;
};

/* What reading may cost. */
struct packread_limits {
	uint64_t most_bytes; /* of an object, and of everything that it is made from */
	uint64_t work;       /* bytes that may still be unpacked, in all */
};

/* index: "pack-x.idx". Both are files of the folder, and no symlinks. False: it is no pack that can be read. */
bool packread_open(int folder, const char *index, struct packread *ret_pack);

/* Can an index and a pack that are in memory, and open, be used? Fills in the number of objects. */
bool packread_check(struct packread *pack);
void packread_close(struct packread *pack);

/* Does its index name it? */
bool packread_has(const struct packread *pack, const unsigned char id[FSCK_ID]);

/* Returns 1, 0 if it is not in this one, or -1 with err set: a part of a sentence. The bytes are the caller's. */
int packread_find(const struct packread *pack, const unsigned char id[FSCK_ID],
		  struct packread_limits *limits, struct packread_object *ret_object,
		  struct error *err);

#endif
