/* The files that a sweep found in a project, and where they are now. */
#ifndef FENCE_FENCE_FOUND_H
#define FENCE_FENCE_FOUND_H

#include <stddef.h>

struct fence_found_item {
	char *path;
	char *reason;
	char *kept; /* its path in the quarantine, or NULL if it could not be moved */
};

/* A new or changed file that its tool obeys when it starts. It stays in place. */
struct fence_flagged {
	char *path;
	const char *by; /* the tool */
};

enum { FENCE_MOST_FLAGGED = 5000 };

struct fence_found {
	struct fence_found_item *items;
	size_t count;
	struct fence_flagged *flagged; /* FENCE_MOST_FLAGGED, and the first of each tool */
	size_t flagged_count;
};

void fence_found_release(struct fence_found *found);

#endif
