/* What a sweep found in a project, and where it is now. */
#ifndef FENCE_FENCE_FOUND_H
#define FENCE_FENCE_FOUND_H

#include "util/list.h"

#include <stddef.h>

struct fence_found_item {
	char *path;
	char *reason;
	char *kept; /* where it is now; NULL: it could not be moved */
};

/* What a sweep found. */
struct fence_found {
	struct fence_found_item *items;
	size_t count;
	struct list flagged; /* changed and left in place, but worth a look: Python environments */
};

void fence_found_release(struct fence_found *found);

#endif
