/* A set of object ids, with their types and the heights of trees. */
#ifndef SNAPSHOT_OBJECT_SEEN_H
#define SNAPSHOT_OBJECT_SEEN_H

#include "snapshot/object/fsck.h"

struct seen {
	struct seen_object {
		unsigned char id[FSCK_ID];
		enum fsck_type type; /* FSCK_ANY marks an empty slot */
		unsigned int height; /* of a tree: levels of folders, including itself */
	} * table;
	size_t count, slots;
};

/* Returns FSCK_ANY if the object is not in the set. */
enum fsck_type seen_type(const struct seen *seen, const unsigned char id[FSCK_ID]);

/* Adds an object that is not in the set. */
void seen_add(struct seen *seen, const unsigned char id[FSCK_ID], enum fsck_type type);

/* The height of a tree in the set; 0 until it is set. */
unsigned int seen_height(const struct seen *seen, const unsigned char id[FSCK_ID]);
void seen_set_height(struct seen *seen, const unsigned char id[FSCK_ID], unsigned int height);

void seen_release(struct seen *seen);

#endif
