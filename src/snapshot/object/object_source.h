/*
 * Reads the objects of a private git directory, which an agent can write freely. Only its own loose
 * files and packs are read: no alternates, multi-pack indexes or configuration, no symlinks, and
 * nothing above a size limit. The caller verifies each object against its id.
 */
#ifndef SNAPSHOT_OBJECT_OBJECT_SOURCE_H
#define SNAPSHOT_OBJECT_OBJECT_SOURCE_H

#include "snapshot/object/packread.h"

struct object_source {
	int objects; /* descriptor of objects/, or -1 */
	struct packread *packs;
	size_t pack_count;
	bool empty; /* there are no objects */
	struct packread_limits limits;
};

/*
 * git: descriptor of the directory. Returns 0, or -1 with err set. The caller closes the source in
 * both cases.
 */
int object_source_open(int git, uint64_t most_bytes, struct object_source *ret_source,
		       struct error *err);
void object_source_close(struct object_source *source);

/* Reports whether the object exists. */
bool object_source_has(const struct object_source *source, const unsigned char id[FSCK_ID]);

/*
 * Reads an object. Returns 1, 0 if there is no such object, or -1 with err set to a noun phrase.
 * The caller frees the bytes.
 */
int object_source_read(struct object_source *source, const unsigned char id[FSCK_ID],
		       struct packread_object *ret_object, struct error *err);

#endif
