/* Pull requests, commit statuses and Actions, where Gitea's API follows GitHub's: for the tables of
 * both (land_forge.h). */
#ifndef LAND_LAND_PULL_H
#define LAND_LAND_PULL_H

#include "land/land_forge.h"

void land_pull_repository(const char *path, struct land_call *ret_call);
void land_pull_look(const char *path, int64_t number, struct land_call *ret_call);
void land_pull_update(const char *path, const struct land_request *request, const char *body,
		      struct land_call *ret_call);

/* Takes ownership of the body. */
void land_pull_change(const char *path, int64_t number, json_t *body, struct land_call *ret_call);

int land_pull_read(const json_t *answer, struct land_request *ret_request);

/* Returns the branch of a request unless it is that of a fork. */
const char *land_pull_branch_of(const char *path, const json_t *request);

/* The end of a job, in the words of checks and Actions. */
enum land_ci_state land_pull_job_state(const char *conclusion);

/* Reads runs of Actions, and their jobs. */
void land_pull_read_runs(const char *path, const json_t *answer, struct land_ci *ci);

#endif
