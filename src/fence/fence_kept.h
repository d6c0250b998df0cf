/*
 * Lists of the files that sweeps have moved to quarantine, so that the user can bring them back.
 *
 *	STATE/quarantined/ID	what the sweep of this run moved, one after another: the path, the
 *				reason and the present path, each with a NUL byte
 *
 * A list is written while its sweep goes on, and is not synced. An entry that is missing after a
 * crash is still in the quarantine.
 */
#ifndef FENCE_FENCE_KEPT_H
#define FENCE_FENCE_KEPT_H

#include "fence/fence_found.h"
#include "util/error.h"

#include <stddef.h>
#include <stdint.h>

enum { FENCE_KEPT_BYTES = 16 << 20 }; /* of a list */

struct fence_kept_item {
	char *run;           /* whose sweep has moved it */
	int64_t at_ns;       /* when that sweep ended */
	char *path, *reason; /* where it was, and why it was moved */
	char *kept;          /* where it is now */
};

struct fence_kept {
	struct fence_kept_item *items; /* oldest first */
	size_t count;
};

/* Adds an entry that was moved to the list of a run. If that fails, it is not listed. */
void fence_kept_add(const char *state, const char *run, const struct fence_found_item *item);

/* Lists what is still in quarantine. Returns 0, or -1 with err set. */
int fence_kept_list(const char *state, struct fence_kept *ret_kept, struct error *err);
void fence_kept_release(struct fence_kept *kept);

/* Moves an entry back. Nothing is replaced, and no symlink is followed. Returns 0, or -1 with err
 * set. */
int fence_kept_restore(const char *state, const struct fence_kept_item *item, struct error *err);

#endif
