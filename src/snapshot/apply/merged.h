/* Whether the user's repository has the commits of a loop elsewhere than in the loop's own refs. */
#ifndef SNAPSHOT_APPLY_MERGED_H
#define SNAPSHOT_APPLY_MERGED_H

#include "util/error.h"
#include "util/text/json.h"

#include <git2.h>
#include <stdbool.h>

/* Reports whether a ref belongs to the loop: its branch, or one of the refs imported with it. */
bool merged_is_own(const char *name, const char *loop);

/* Reports whether a ref that is not the loop's contains this commit. */
bool merged_in_a_ref(git_repository *repository, const char *loop, const git_oid *commit);

/*
 * Answers `merged`: whether a commit, the loop's result, is in HEAD or in a branch that is not a
 * loop's. It is if the branch contains it; or else if a recent commit there has the line `squashed`
 * in its message, or the author, the time and the subject of the result (git am, cherry-pick,
 * rebase). Returns 0, or -1 with err set.
 */
int merged_report(const char *project, const char *commit, const char *squashed, struct json *json,
		  struct error *err);

#endif
