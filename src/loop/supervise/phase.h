/* The phases of a loop: each function performs one phase and writes the event that ends it. */
#ifndef LOOP_SUPERVISE_PHASE_H
#define LOOP_SUPERVISE_PHASE_H

#include "loop/supervise/supervisor.h"

/* All return 0, or -1 with err set if the supervisor cannot continue. */
int phase_baseline(struct supervisor *sup, struct error *err);
int phase_ready(struct supervisor *sup, struct error *err);
int phase_agent(struct supervisor *sup, struct error *err);
int phase_checks(struct supervisor *sup, struct error *err);
int phase_review(struct supervisor *sup, struct error *err);
int phase_waiting(struct supervisor *sup, struct error *err);

/*
 * Commits leftovers in the loop's work tree and writes its end. Running it again after a crash does
 * not create a second commit.
 */
int phase_closing(struct supervisor *sup, struct error *err);

/* Writes the end of the loop. */
int phase_finish(struct supervisor *sup, const char *status, const char *reason, struct error *err);

#endif
