/* A request to ringfence-snapshot, parsed from KEY=VALUE arguments, and its answer. */
#ifndef SNAPSHOT_SNAPSHOT_REQUEST_H
#define SNAPSHOT_SNAPSHOT_REQUEST_H

#include "project/pins.h"
#include "snapshot/apply/apply.h"
#include "snapshot/apply/repo_state.h"
#include "snapshot/apply/worktree.h"
#include "snapshot/git/gitwork.h"
#include "snapshot/look/save.h"
#include "snapshot/store/prune.h"
#include "snapshot/undo/differ.h"

/* The part of a draft that is applied (gate.h). */
struct snapshot_request_gate {
	const char *present; /* the project must be as it was in this preview; or NULL */
	struct list leave;   /* numbers of changes that are not applied */
	struct list pick;    /* NUMBER:CHOICE (undo/hunks.h): applied in part */
	bool hunks;          /* answer with the hunks of each file */
	const char
		*layers; /* the folder of the draft, whose ignored files cross as well; or NULL */
};

struct snapshot_request {
	const char *store, *from, *to, *path, *style;
	const char *other;   /* another loop of the project, or NULL */
	const char *base;    /* the loop whose checkpoint `from` is, or NULL */
	bool findings;       /* of a diff: signs that it weakens the checks */
	struct list actions; /* on findings: changes to the defaults */
	const char
		*pinned; /* an empty folder for pinned files that were changed, or views; or NULL */
	int64_t most, index; /* of mutants: how many there are at most, and which one */
	struct list checks;  /* commands, which name scripts that are pinned */
	struct pins pins;
	struct snapshot_request_gate gate;
	bool edited;  /* also tell what others changed in the project since the draft began */
	bool in_view; /* this process sees the draft in place of the project */
	struct look_options look;
	struct save_options save;
	struct differ_options differ;
	struct prune_options prune;
	struct gitwork git;
	struct apply_options apply;
	struct worktree_options worktree;
	struct repo_state_options state;
	struct checkpoint_repo repo; /* open for tasks on checkpoints */
	struct json json;            /* the answer; writes to the next field */
	struct buffer answer;
};

/* Parses one argument, which must outlive the request. Returns 0, or -1 with err set. */
int snapshot_request_parse(struct snapshot_request *request, const char *text, struct error *err);

/* Reports whether this text argument was given. */
bool snapshot_request_has(const struct snapshot_request *request, const char *name);

#endif
