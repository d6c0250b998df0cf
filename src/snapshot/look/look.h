/*
 * A look at the project as it is now: its tree in memory, with all contents in the repository. What becomes
 * of it (a checkpoint, one side of a diff, the start of a rollback) is the caller's affair.
 */
#ifndef SNAPSHOT_LOOK_LOOK_H
#define SNAPSHOT_LOOK_LOOK_H

#include "snapshot/look/ahead.h"
#include "snapshot/look/look_walk.h"
#include "snapshot/store/cache.h"
#include "snapshot/store/checkpoint_repo.h"

struct look_options {
	const char *project;
	const char *loop; /* whose rules */
	bool ignored;     /* nothing is left out */
	bool live;        /* an agent is at work */
};

struct look {
	struct look_walk walk;
	struct cache cache;
	struct ahead *ahead; /* while it goes on */
	struct ignore_rules *rules;
	char rules_hash[SHA256_HEX];
	struct pack *pack;
	git_oid tree;       /* with files and manifest */
	const char *notice; /* something that should be told; NULL: nothing */
};

/* Adds the user's own ignore rules, which hold for all their projects. */
void look_add_users(struct ignore_rules *rules);

/* Looks; the lock is held. Objects are there when look_finish() has returned. Both return 0, or -1 with err
 * set; the caller releases in any case. */
int look_take(struct checkpoint_repo *repo, const struct look_options *options, struct look *look,
	      struct error *err);
int look_finish(struct checkpoint_repo *repo, struct look *look, struct error *err);
void look_release(struct look *look);

#endif
