/* How a step is cut short, and how a loop ends. All but step_end_cut() return 0, or -1 with err
 * set. */
#ifndef LOOP_SUPERVISE_STEP_END_H
#define LOOP_SUPERVISE_STEP_END_H

#include "loop/supervise/supervisor.h"

/* Ends the loop. One whose result is a branch is closed first. Consumes the data. */
int step_end_loop(struct supervisor *sup, json_t *data, struct error *err);

/* The same: it is aborted by the user, or by an alert. */
int step_end_aborted(struct supervisor *sup, struct error *err);

/* The same, with a status and a reason. */
int step_end_as(struct supervisor *sup, const char *status, const char *reason, struct error *err);

/* Ends the loop because a program does not exist in the fence: it will not appear in a later
 * iteration. */
int step_end_absent(struct supervisor *sup, const char *what, const char *line, int code,
		    struct error *err);

/*
 * Handles a run that was cut off. Returns true if it was, and the loop or this attempt has ended;
 * *ret_result is then 0, or -1 with err set.
 */
bool step_end_cut(struct supervisor *sup, const struct runner_result *result, int *ret_result,
		  struct error *err);

#endif
