/* The next thing that a batch does: a pure function of its state. */
#ifndef BATCH_BATCH_SCHEDULE_H
#define BATCH_BATCH_SCHEDULE_H

#include "batch/batch_state.h"

enum batch_action_kind {
	BATCH_ACTION_WAIT,   /* until a loop ends or a person acts */
	BATCH_ACTION_BEGIN,  /* a loop of the task, with this grant */
	BATCH_ACTION_MERGE,  /* the same: it merges the task's result into the tip */
	BATCH_ACTION_LAND,   /* the task's loop becomes the tip */
	BATCH_ACTION_LOSE,   /* another candidate of the task has won */
	BATCH_ACTION_REFUSE, /* the task fails, for this reason */
	BATCH_ACTION_PAUSE,  /* the batch, for this reason */
	BATCH_ACTION_FINISH, /* the batch, with this status and reason */
};

struct batch_action {
	enum batch_action_kind kind;
	size_t task;
	int64_t grant_nusd; /* 0: unlimited */
	const char *status;
	char reason[1000];
};

/* Returns what the next loop of a task may cost, or the present one if it is held: 0 if that is
 * unlimited, or -1 if nothing is left for it. */
int64_t batch_schedule_grant(const struct batch_state *state, size_t index);

/* Returns what the loop of a task that is running may cost, if the limits were changed since it
 * began: never more than its grant, unless it has none. Loops without a grant share what is left.
 */
int64_t batch_schedule_regrant(const struct batch_state *state, size_t index);

/* Is that less than the task's own limit, because the limit of the batch is near? */
bool batch_schedule_is_cut(const struct batch_task *task);

/*
 * Decides. `deciding`: of each task, whether it runs a merge that may still land without an agent;
 * until that is known, nothing else lands and no other merge begins, so that the tip does not move
 * away from it.
 *
 * The sum of what all loops have spent and may spend never exceeds the batch's limit, and that of a
 * task's loops never exceeds the task's.
 */
void batch_schedule(const struct batch_state *state, const bool *deciding,
		    struct batch_action *ret_action);

#endif
