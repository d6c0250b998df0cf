/* Objects that were met, and of which type they were. */
#ifndef SNAPSHOT_OBJECT_SEEN_H
#define SNAPSHOT_OBJECT_SEEN_H

#include "snapshot/object/fsck.h"

struct seen {
	struct seen_object {
		unsigned char id[FSCK_ID];
		enum fsck_type type; /* FSCK_ANY: nothing is here */
		unsigned int height; /* of a tree: folders below one another, itself included */
	} * table;
	size_t count, slots;
};

/* FSCK_ANY: it is new. */
enum fsck_type seen_type(const struct seen *seen, const unsigned char id[FSCK_ID]);

/* A new one. */
void seen_add(struct seen *seen, const unsigned char id[FSCK_ID], enum fsck_type type);

/* Of one that is there; 0 until it is told. */
unsigned int seen_height(const struct seen *seen, const unsigned char id[FSCK_ID]);
void seen_tell_height(struct seen *seen, const unsigned char id[FSCK_ID], unsigned int height);

void seen_release(struct seen *seen);

#endif
