/* Prints commits as mails for git am and git apply. */
#ifndef SNAPSHOT_APPLY_MAIL_H
#define SNAPSHOT_APPLY_MAIL_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

struct mail_options {
	const git_oid *ours, *theirs; /* ours: NULL if there is no commit yet */
	const char *subject;          /* of the single mail for a history with merges */
	bool terminal;                /* escape control characters */
};

/*
 * Prints the commits of theirs that are not in ours, oldest first; *ret_commits is their number.
 * Adds the paths that they add or change to a list. Returns 0, or -1 with err set.
 */
int mail_print(git_repository *repository, const struct mail_options *options, size_t *ret_commits,
	       struct list *paths, struct error *err);

#endif
