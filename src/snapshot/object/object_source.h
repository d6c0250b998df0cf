/*
 * The objects of a private git directory, which an agent could write as it liked. They are looked for in its own loose
 * files and packs, and nowhere else: its alternates, indexes of several packs and configuration are not read, no symlink
 * is followed, and nothing is read that is larger than it may be. Whoever asks compares what comes with its name.
 */
#ifndef SNAPSHOT_OBJECT_OBJECT_SOURCE_H
#define SNAPSHOT_OBJECT_OBJECT_SOURCE_H

#include "snapshot/object/packread.h"

struct object_source {
	int objects; /* the folder; -1: there is none */
	struct packread *packs;
	size_t pack_count;
	bool empty; /* there is no object at all */
	struct packread_limits limits;
};

/* git: the directory, open. Returns 0, or -1 with err set. The caller closes in both cases. */
int object_source_open(int git, uint64_t most_bytes, struct object_source *ret_source,
		       struct error *err);
void object_source_close(struct object_source *source);

/* Is it there? */
bool object_source_has(const struct object_source *source, const unsigned char id[FSCK_ID]);

/* Reads one. Returns 1, 0 if it is not there, or -1 with err set: a part of a sentence. The bytes are the caller's. */
int object_source_read(struct object_source *source, const unsigned char id[FSCK_ID],
		       struct packread_object *ret_object, struct error *err);

#endif
