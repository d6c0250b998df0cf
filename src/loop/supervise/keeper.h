/*
 * The keeper: a tiny process that restarts a supervisor when it is killed.
 *
 * The two watch each other: a supervisor whose keeper is killed starts another one, which adopts
 * it. Before a deliberate exit, the supervisor sends a farewell of one byte, so that it is not
 * mistaken for a crash.
 */
#ifndef LOOP_SUPERVISE_KEEPER_H
#define LOOP_SUPERVISE_KEEPER_H

#include "util/error.h"

#include <sys/types.h>

/*
 * Starts a keeper as a daemon. It starts a supervisor (adopted 0) or adopts a running one.
 * *ret_farewell, if wanted, is the descriptor for the adopted supervisor's farewell; it reports an
 * error when the keeper dies. Returns 0, or -1 with err set.
 */
int keeper_start(const char *folder, pid_t adopted, int *ret_farewell, struct error *err);

/*
 * The main function of the keeper (`ringfence keep FOLDER PID`). supervise: runs a supervisor in a
 * forked process and returns its exit status. Returns the keeper's exit status.
 */
int keeper_run(const char *folder, pid_t adopted,
	       int (*supervise)(const char *folder, int farewell));

#endif
