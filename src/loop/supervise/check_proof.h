/*
 * Proof that the checks can fail (--prove-check): before the first iteration, each must notice that
 * all source code is broken. It is broken in a throw-away view (verification.h).
 *
 * A check that has just failed, with the code as it is, needs no other proof. Final checks are
 * always tried: nobody knows yet how they end.
 */
#ifndef LOOP_SUPERVISE_CHECK_PROOF_H
#define LOOP_SUPERVISE_CHECK_PROOF_H

#include "loop/supervise/supervisor.h"

/* Tries the checks that were not tried yet, and ends the loop if one cannot fail. If the loop has
 * ended, for this or another reason, its step has changed. Returns 0, or -1 with err set. */
int check_proof_run(struct supervisor *sup, const char *folder, struct error *err);

#endif
