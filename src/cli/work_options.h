/* The options of `ringfence work`, and the numbers in them. */
#ifndef CLI_WORK_OPTIONS_H
#define CLI_WORK_OPTIONS_H

#include "settings/effective.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define WORK_OPTIONS_JOBS      "2"
#define WORK_OPTIONS_ROUNDS    "5"
#define WORK_OPTIONS_TASK_COST "5"

struct work_options {
	struct effective effective; /* first: effective_set() needs that */
	const char *jobs, *rounds, *task_cost, *retry, *pick, *candidates, *agents, *summary;
	bool list, batches, compare, keep_drafts, again, show, pause, resume, abort, apply, yes,
		dry, detach, json;
	/* The agent and the model of some tasks, in place of those of the settings; or NULL. */
	const char *agent, *model;
};

/* Adds the limits that are named to the configuration of a batch. Returns 0, or -1 with err set. */
int work_options_add_limits(const struct work_options *opts, json_t *config, struct error *err);

/* Reads the agent of each candidate of a task; "" is that of the task. Empty without a race.
 * Returns 0, or -1 with err set. */
int work_options_racers(const struct work_options *opts, struct list *ret_racers,
			struct error *err);

#endif
