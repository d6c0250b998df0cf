/* Commits as mails that git am and git apply take. */
#ifndef SNAPSHOT_APPLY_MAIL_H
#define SNAPSHOT_APPLY_MAIL_H

#include "util/error.h"
#include "util/list.h"

#include <git2.h>
#include <stdbool.h>

struct mail_options {
	const git_oid *ours, *theirs; /* ours: NULL where there is no commit yet */
	const char *subject;          /* of the one mail that a history with merges is */
	bool terminal;                /* control characters are escaped */
};

/* Prints what theirs has and ours has not, the oldest first; *ret_commits is how many. Adds the paths that each of them
 * brings to a list. Returns 0, or -1 with err set. */
int mail_print(git_repository *repository, const struct mail_options *options, size_t *ret_commits,
	       struct list *paths, struct error *err);

#endif
