/* What this program is asked to do, in words KEY=VALUE, and what it answers. */
#ifndef SNAPSHOT_SNAPSHOT_REQUEST_H
#define SNAPSHOT_SNAPSHOT_REQUEST_H

#include "snapshot/apply/apply.h"
#include "snapshot/apply/worktree.h"
#include "snapshot/git/gitwork.h"
#include "snapshot/look/save.h"
#include "snapshot/store/prune.h"
#include "snapshot/undo/differ.h"

struct snapshot_request {
	const char *store, *from, *to, *path, *style;
	struct look_options look;
	struct save_options save;
	struct differ_options differ;
	struct prune_options prune;
	struct gitwork git;
	struct apply_options apply;
	struct worktree_options worktree;
	struct checkpoint_repo depot; /* for works on checkpoints it is open */
	struct json json;             /* the answer, whose bytes are the next one */
	struct buffer answer;
};

/* Takes one word; it must outlive the request. Returns 0, or -1 with err set. */
int snapshot_request_take(struct snapshot_request *request, const char *text, struct error *err);

/* Was this text told? */
bool snapshot_request_has(const struct snapshot_request *request, const char *name);

#endif
