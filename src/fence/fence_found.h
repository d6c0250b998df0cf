/* The files that a sweep found in a project, and where they are now. */
#ifndef FENCE_FENCE_FOUND_H
#define FENCE_FENCE_FOUND_H

#include "util/list.h"

#include <stddef.h>

struct fence_found_item {
	char *path;
	char *reason;
	char *kept; /* its path in the quarantine, or NULL if it could not be moved */
};

struct fence_found {
	struct fence_found_item *items;
	size_t count;
	struct list
		flagged; /* changed and left in place, but worth a review: Python environments */
};

void fence_found_release(struct fence_found *found);

#endif
