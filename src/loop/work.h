/* One command line in the fence, from its start to the end of everything that it started. */
#ifndef LOOP_WORK_H
#define LOOP_WORK_H

#include "loop/attend.h"

/* Runs it to its end, and answers others meanwhile. What it prints goes to FOLDER/NAMEstdout.log and
 * FOLDER/NAMEstderr.log, and is in the sinks until work_forget(). Returns 0, or -1 with err set: it was not started. */
int work_run(struct supervisor *sup, const char *command, const char *input, size_t size,
	     int64_t timeout_ms, const char *folder, const char *name,
	     struct runner_result *ret_result, struct error *err);

void work_forget(struct supervisor *sup);

#endif
