/* Scans a visible tree for files that need protection. */
#ifndef FENCE_PLAN_SCAN_H
#define FENCE_PLAN_SCAN_H

#include "fence/fence_plan.h"
#include "fence/plan/names.h"
#include "util/file/dirwalk.h"

/* Name prefix of what a sweep puts aside within a tree, because it cannot move it to another file
 * system. Scans skip such folders. */
#define SCAN_NEAR_QUARANTINE "ringfence-quarantine-"

/* The steps of matching patterns that a scan or a sweep may take: about one second. */
#define SCAN_MOST_STEPS UINT64_C(500000000)

/*
 * Scans the tree of a rule. Adds rules that hide secrets and sockets and make files that the host
 * executes read-only. Adds the latter to the known ones, and records files that tools obey when
 * they start as seen. In the project, it looks only at the entries of the spec's index, or makes
 * the index. Returns 0, or -1 with err set.
 */
int scan_tree(struct fence_plan *plan, size_t rule, struct error *err);

/* Returns why the host would execute this entry or read it as configuration, or NULL. Recognizes
 * bare git repositories. */
const char *scan_executed(const struct names_found *names, const struct dirwalk_entry *entry);

/* Describes a file that a tool obeys when it starts. Returns 0, or -1 with errno. */
int scan_seen(const char *root, const struct dirwalk_entry *entry, struct fence_seen *ret_seen);

#endif
