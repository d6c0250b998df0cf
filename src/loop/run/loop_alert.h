/*
 * Alerts of a loop (alert/alert.h): the facts, the event that reports one, and its action.
 *
 * They are judged in each round of the supervisor's waits, and after an iteration. Only the rule
 * about time needs a timer of its own; the disk is looked at with the heartbeat.
 */
#ifndef LOOP_RUN_LOOP_ALERT_H
#define LOOP_RUN_LOOP_ALERT_H

#include "loop/supervise/supervisor.h"

/* Makes the supervisor watch a run. */
void loop_alert_watch(struct supervisor *sup);

/* Judges the rest of an agent's output, when it has ended. Returns 0, or -1 with err set. */
int loop_alert_heard(struct supervisor *sup, struct error *err);

/* Judges what is known when an iteration is over. Returns 0, or -1 with err set. */
int loop_alert_iteration(struct supervisor *sup, const struct survey *after,
			 const struct decision *decision, struct error *err);

#endif
