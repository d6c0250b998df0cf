/*
 * Finds the files that come with commits although the result does not have them: a later checkout,
 * bisect, rebase or reset to such a commit writes them to the work tree.
 */
#ifndef SNAPSHOT_APPLY_PAST_H
#define SNAPSHOT_APPLY_PAST_H

#include "snapshot/apply/bare.h"
#include "util/error.h"

enum { PAST_COMMITS = 10000 };

struct past_options {
	const git_oid *ours, *theirs; /* commits; ours: NULL if there is none yet */
	const git_oid *old, *new;     /* trees: of ours, or zero; and the result */
	struct bare *bare;            /* finds git directories in the result */
};

/* A version of a file that is in none of the two trees; or one that is part of a git directory in
 * this commit alone. */
struct past_file {
	char *path;
	git_oid commit; /* the newest that brings it */
	bool git;       /* part of a git directory */
};

struct past {
	struct past_file
		*files; /* a path once, or twice if it is part of a git directory as well */
	size_t count;
};

/*
 * Compares each commit of theirs that is not in ours with its parents. The caller releases the
 * files in both cases. Returns 0, or -1 with err set, also if there are more than PAST_COMMITS
 * commits or DELTA_MOST changes.
 */
int past_find(git_repository *repository, const struct past_options *options, struct past *ret_past,
	      struct error *err);
void past_release(struct past *past);

#endif
