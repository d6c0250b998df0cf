/*
 * The phases of a loop, each a step: what is done in it, and the event that is written when it is over.
 */
#ifndef LOOP_SUPERVISE_PHASE_H
#define LOOP_SUPERVISE_PHASE_H

#include "loop/supervise/supervisor.h"

/* All of them return 0, or -1 with err set: the supervisor cannot go on. */
int phase_baseline(struct supervisor *sup, struct error *err);
int phase_ready(struct supervisor *sup, struct error *err);
int phase_agent(struct supervisor *sup, struct error *err);
int phase_checks(struct supervisor *sup, struct error *err);
int phase_waiting(struct supervisor *sup, struct error *err);

/* Commits leftovers in the work tree of the loop, and writes its end. It may run again after a
 * crash: with nothing left there is no second commit. */
int phase_closing(struct supervisor *sup, struct error *err);

/* Writes the end of the loop. */
int phase_finish(struct supervisor *sup, const char *status, const char *reason, struct error *err);

#endif
