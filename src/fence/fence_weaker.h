/* Names and meanings of what a fence lacks, for reports, `doctor` and docs/fence.md. */
#ifndef FENCE_FENCE_WEAKER_H
#define FENCE_FENCE_WEAKER_H

#include <stdbool.h>
#include <stddef.h>

struct fence_weaker_entry {
	unsigned int bit; /* of enum fence_weaker */
	const char *name;
	const char *meaning;
};

/* Returns an entry of the table, or NULL at its end. */
const struct fence_weaker_entry *fence_weaker_at(size_t index);

/* Returns what is weaker if the command shares the host's namespaces. `scopes`: Landlock can keep
 * signals inside. */
unsigned int fence_weaker_shared(bool scopes);

#endif
