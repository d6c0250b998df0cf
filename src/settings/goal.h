/*
 * Decides when a loop is done: by the configured rules. Without a check and a promise, the check
 * that the project defines counts as well, and without a list of tasks the agent's promise.
 */
#ifndef SETTINGS_GOAL_H
#define SETTINGS_GOAL_H

#include "settings/effective.h"

#include <jansson.h>

/* The strings belong to the configuration. */
struct goal {
	json_t *checks;       /* command lines */
	const char *promise;  /* or NULL */
	const char *tasks;    /* a path in the project, or NULL */
	json_t *findings;     /* actions on findings: KIND=ACTION */
	json_t *final_checks; /* command lines */
	char *hold_out;       /* a folder for these alone, or NULL */
	json_t *check_cache;  /* folders in the project that only the checks see */
	json_t *pin, *unpin;  /* patterns of pinned files (project/pins.h) */
	bool prove_check;     /* every check must fail when the code is broken */
	bool found;           /* the check was found in the project, and not configured */
};

/* Returns 0, or -1 with err set if a named rule is inactive or its file is missing. */
int goal_decide(const struct effective *effective, struct goal *ret_goal, struct error *err);
void goal_release(struct goal *goal);

#endif
