/*
 * The keeper: a tiny process that starts a supervisor again when it is killed.
 *
 * The two watch each other: a supervisor whose keeper is killed starts another one, which adopts it. They
 * are told apart from a wanted end by a farewell, one byte that the supervisor sends before it goes.
 */
#ifndef LOOP_SUPERVISE_KEEPER_H
#define LOOP_SUPERVISE_KEEPER_H

#include "util/error.h"

#include <sys/types.h>

/* Starts a keeper as a daemon, which starts a supervisor (adopted 0), or adopts one that is there.
 * *ret_farewell, if wanted, is the descriptor for the adopted one's farewell; it reports an error when the
 * keeper dies. Returns 0, or -1 with err set. */
int keeper_start(const char *folder, pid_t adopted, int *ret_farewell, struct error *err);

/* What that process does (`ringfence keep FOLDER PID`). supervise: runs a supervisor in a process of its own, and returns
 * its exit status. Returns the keeper's. */
int keeper_run(const char *folder, pid_t adopted,
	       int (*supervise)(const char *folder, int farewell));

#endif
