/* The steps of a loop: each function performs one step and writes the event that ends it. */
#ifndef LOOP_SUPERVISE_STEP_H
#define LOOP_SUPERVISE_STEP_H

#include "loop/supervise/supervisor.h"

/* All return 0, or -1 with err set if the supervisor cannot continue. */
int step_baseline(struct supervisor *sup, struct error *err);
int step_ready(struct supervisor *sup, struct error *err);
int step_agent(struct supervisor *sup, struct error *err);
int step_checks(struct supervisor *sup, struct error *err);
int step_review(struct supervisor *sup, struct error *err);
int step_waiting(struct supervisor *sup, struct error *err);

/*
 * Commits leftovers in the loop's work tree and writes its end. Running it again after a crash does
 * not create a second commit.
 */
int step_closing(struct supervisor *sup, struct error *err);

#endif
