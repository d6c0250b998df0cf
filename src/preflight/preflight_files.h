/* Credentials in the files of a project that a fenced agent can read. */
#ifndef PREFLIGHT_PREFLIGHT_FILES_H
#define PREFLIGHT_PREFLIGHT_FILES_H

#include "fence/fence_plan.h"
#include "preflight/preflight_budget.h"
#include "preflight/preflight_items.h"

/* Adds the secrets, and an item about them. Files that the plan hides are not read, nor are
 * generated folders and symlinks. */
void preflight_files_examine(const struct fence_plan *plan, const struct preflight_budget *budget,
			     struct preflight_items *items);

#endif
