/* Prints commits as mails for git am and git apply. */
#ifndef SNAPSHOT_APPLY_MAIL_H
#define SNAPSHOT_APPLY_MAIL_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

struct mail_options {
	const git_oid *ours, *theirs; /* ours: NULL if there is no commit yet */
	/* For a review of all that a push to this remote makes public, instead of mails that can be
	 * applied; or NULL. See mail_print(). */
	const char *remote;
	const char *subject; /* of the single mail for a history with merges */
	bool terminal;       /* escape control characters */
};

/*
 * Prints the commits of theirs that are not in ours, oldest first; *ret_commits is their number.
 * Adds the paths that they add or change to a list. Returns 0, or -1 with err set.
 *
 * A history with merges becomes one mail, unless it is for a review: then every commit is printed,
 * a merge with what none of its parents has, and all files as text. If ours has theirs already, the
 * review begins with what is known of the remote's branches, without those of loops.
 */
int mail_print(git_repository *repository, const struct mail_options *options, size_t *ret_commits,
	       struct list *paths, struct error *err);

#endif
