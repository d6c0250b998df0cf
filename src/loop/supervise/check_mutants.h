/*
 * Mutants (--mutate): when every rule holds, small changes to the agent's lines are tried one by
 * one, each in a throw-away view (verification.h). A line whose changes no check notices is
 * untested: a finding, whose action decides what follows.
 *
 * Each mutant is an event. A supervisor that takes over goes on with the next one: they are chosen
 * by the content of the checkpoint.
 */
#ifndef LOOP_SUPERVISE_CHECK_MUTANTS_H
#define LOOP_SUPERVISE_CHECK_MUTANTS_H

#include "loop/supervise/supervisor.h"

/* Begins the step. Returns 0, or -1 with err set. */
int check_mutants_begin(struct supervisor *sup, struct error *err);

/* Tries a mutant, or ends the step. Returns 0, or -1 with err set. */
int check_mutants_step(struct supervisor *sup, struct error *err);

#endif
