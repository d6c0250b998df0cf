/* The state of a batch: the sum of its events. See batch_event.h. */
#ifndef BATCH_BATCH_STATE_H
#define BATCH_BATCH_STATE_H

#include "batch/batch_event.h"
#include "util/list.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { BATCH_JOBS_MAX = 64, BATCH_ROUNDS_MAX = 100 };

enum batch_wish { BATCH_WISH_NONE, BATCH_WISH_PAUSE, BATCH_WISH_ABORT };

struct batch_task {
	const json_t *item; /* as in the configuration: title, prompt, checks, pins, files ... */
	const char *id;
	size_t first;    /* the index of the first candidate; its own if there is only one */
	size_t *depends; /* indices of the first candidates of other tasks */
	size_t depend_count;
	int64_t priority;  /* lower ones begin first */
	int64_t most_nusd; /* what all its loops may cost; 0: unlimited */
	enum batch_step step;
	bool done_before;           /* landed before the batch began, by what the list said */
	uint32_t rounds;            /* loops since it began, or began again */
	char *loop;                 /* the latest one, or NULL */
	char *base;                 /* the tip that it began with, or NULL: the project */
	char *merged;               /* the loop whose result it merges into that tip, or NULL */
	int64_t grant_nusd;         /* what it may cost while it has not ended; 0: unlimited */
	int64_t spent_nusd;         /* by the loops that have ended */
	int64_t retried_nusd;       /* the part of that before it was tried again */
	int64_t begun_ms, ended_ms; /* or 0 */
	char *reason;               /* why it is held or has failed, or NULL */
	json_t *conflicts; /* of its last merge: `path`, and `tasks` that changed it; or NULL */
	int64_t loop_seq, since_seq; /* when its loop began, and the first loop of its result */
	int64_t landed_seq;          /* when it landed, or 0 */
	bool picked;                 /* a person has chosen it among the candidates */
	bool wanted;                 /* it is held, and a person wants it to continue */
};

struct batch_state {
	int64_t last_seq, created_ms;
	json_t *config; /* owns the texts of the tasks' items */
	const char *project;
	const json_t *templates; /* configurations of loops, by the items' `template` */
	uint32_t jobs;           /* loops at once */
	uint32_t rounds;         /* loops of a task until it has landed */
	int64_t most_nusd;       /* what all loops may cost; 0: unlimited */
	int64_t task_nusd;       /* the same for the loops of a task that has no limit of its own */
	bool compare;            /* a person picks among the candidates of a task */
	struct batch_task *tasks;
	size_t count;
	size_t *order;     /* of the tasks' indices: dependencies first */
	char *tip;         /* the loop that has everything which landed, or NULL */
	struct list spent; /* loops whose result is in that of another one, or has lost */
	enum batch_wish wish;
	bool paused, finished;
	char *status;   /* of a finished batch: completed, failed or aborted */
	char *reason;   /* of a paused or finished one, or of a wish to pause; or NULL */
	int supervisor; /* the process id of the last one */
};

void batch_state_init(struct batch_state *state);
void batch_state_release(struct batch_state *state);

/* Returns the index of a candidate by its id, or -1. */
long batch_state_find(const struct batch_state *state, const char *id);

#endif
