/*
 * When a loop is done: by what is set, or, where nothing is, by the check that the project itself names and the
 * agent's word.
 */
#ifndef CLI_SETTINGS_GOAL_H
#define CLI_SETTINGS_GOAL_H

#include "cli/settings/effective.h"

#include <jansson.h>

struct goal {
	json_t *checks;      /* command lines */
	const char *promise; /* NULL: none is needed; of the configuration */
	const char *tasks;   /* a path in the project; NULL: none; of the configuration */
	bool found;          /* the check is the project's own: nobody has set a rule */
};

/* Returns 0, or -1 with err set: something is named that is not there or not active. */
int goal_decide(const struct effective *effective, struct goal *ret_goal, struct error *err);
void goal_release(struct goal *goal);

#endif
