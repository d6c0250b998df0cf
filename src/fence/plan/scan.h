/* Scans a visible tree for files that need protection. */
#ifndef FENCE_PLAN_SCAN_H
#define FENCE_PLAN_SCAN_H

#include "fence/fence_plan.h"
#include "util/file/dirwalk.h"
#include "util/file/symlinks.h"

/* Name prefix of what a sweep puts aside within a tree, because it cannot move it to another file
 * system. Scans skip such folders. */
#define SCAN_NEAR_QUARANTINE "ringfence-quarantine-"

/* The steps of matching patterns that a scan or a sweep may take: about one second. */
#define SCAN_MOST_STEPS UINT64_C(500000000)

/*
 * Scans the tree of a rule. Adds rules that hide secrets and sockets and make files that the host
 * executes read-only, and adds the latter to the known ones. Returns 0, or -1 with err set.
 */
int scan_tree(struct fence_plan *plan, size_t rule, struct error *err);

/* Returns why the host would execute this entry or read it as configuration, or NULL. Recognizes
 * bare git repositories. */
const char *scan_executed(const struct dirwalk_entry *entry);

/*
 * Protects the file that a path leads to, if the command could write it: read-only, or hidden if it
 * is a secret. If the command could create it, lets the sweep watch for it.
 */
void scan_protect_path(struct fence_plan *plan, struct symlinks *symlinks, const char *path,
		       bool secret);

struct stat;

/* Adds a rule for a real path with the given status. */
void scan_add_rule(struct fence_plan *plan, const char *path, const struct stat *status,
		   enum wire_access access, const char *origin, bool exact);

/* Stats the path and adds a rule for it, unless it is missing or a symlink. */
void scan_add_existing(struct fence_plan *plan, const char *path, enum wire_access access,
		       const char *origin, bool exact);

#endif
