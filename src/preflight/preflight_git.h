/* The state of the project's git repository, and credentials in its recent commits. */
#ifndef PREFLIGHT_PREFLIGHT_GIT_H
#define PREFLIGHT_PREFLIGHT_GIT_H

#include "ops/op_start.h"
#include "preflight/preflight_budget.h"
#include "preflight/preflight_items.h"
#include "snapshot/snapshot.h"

/* Starts ringfence-snapshot, which reads the repository. preflight_git_end() reports a failure. */
void preflight_git_begin(const char *state, const char *project,
			 const struct preflight_budget *budget, struct snapshot_job *ret_job);

/* Waits for it, and adds its findings. */
void preflight_git_end(struct snapshot_job *job, enum op_start_workspace workspace,
		       struct preflight_items *items);

/* Adds the findings in an answer of the task `state`. */
void preflight_git_judge(const json_t *answer, enum op_start_workspace workspace,
			 struct preflight_items *items);

#endif
