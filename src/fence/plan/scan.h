/* Looks through a visible tree for what must be protected in it. */
#ifndef FENCE_PLAN_SCAN_H
#define FENCE_PLAN_SCAN_H

#include "fence/fence_plan.h"
#include "util/dirwalk.h"

/*
 * The start of the name of a folder, at the root of a tree, that takes what the sweep cannot move off
 * its file system. No walk goes into it.
 */
#define SCAN_NEAR_QUARANTINE "ringfence-quarantine-"

/*
 * Adds to the plan, for the tree of a rule: rules for secrets and sockets (hidden) and for what the
 * host executes (read-only), and what of the latter was there before. Returns 0, or -1 with err
 * set.
 */
int scan_tree(struct fence_plan *plan, size_t rule, struct error *err);

/* Why the host would run this entry or read it as configuration; NULL if it would not. Includes
 * bare git repositories. */
const char *scan_executed(const struct dirwalk_entry *entry);

struct stat;

/* Adds a rule for a real path with what is there. */
void scan_add_rule(struct fence_plan *plan, const char *path, const struct stat *status,
		   enum wire_access access, const char *origin, bool exact);

/* The same, looking up what is there now. A path that does not exist, or is a symlink, adds
 * nothing. */
void scan_add_existing(struct fence_plan *plan, const char *path, enum wire_access access,
		       const char *origin, bool exact);

#endif
