/*
 * The file tree of a fence without mounts: what the command may do below which paths of the host.
 *
 * Landlock denies what no grant allows, and has no exceptions: a grant for a folder is one for all
 * that is in it. So a folder with a protected entry is split. It keeps the rights that all entries
 * share; the others are granted to its entries one by one, except the protected one. New entries
 * of a split folder have no grant, and fence/watch/perform.h opens them for the command.
 */
#ifndef FENCE_TREE_GRANT_H
#define FENCE_TREE_GRANT_H

#include "fence/fence_plan.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of grants of a run. */
enum { GRANT_MOST = 20000 };

struct grant {
	char *path;          /* a real path */
	unsigned int rights; /* bits of enum wire_right */
	struct fence_inode inode;
	bool optional;
};

struct grant_list {
	struct grant *items; /* sorted by path */
	size_t count;
	bool splits_reading; /* some entries of a readable folder are hidden */
};

/* Makes the grants of a plan. Returns 0, or -1 with err set. */
int grant_make(const struct fence_plan *plan, struct grant_list *ret_grants, struct error *err);
void grant_release(struct grant_list *grants);

/* Adds them to the order for init. */
void grant_describe(const struct grant_list *grants, struct buffer *order);

/* Reports whether Landlock allows the right on a real path, as far as is known: an entry may have
 * been replaced by another, which has no grant. */
bool grant_covers(const struct grant_list *grants, const char *path, enum wire_right right);

/* Reports whether the plan lets the command write, or read, at a real path. */
bool grant_is_writable(const struct fence_plan *plan, const char *path);
bool grant_is_readable(const struct fence_plan *plan, const char *path);

#endif
