/* Examines the changes of a loop for signs that they weaken its checks (detect/detect.h). */
#ifndef LOOP_RUN_LOOP_FINDINGS_H
#define LOOP_RUN_LOOP_FINDINGS_H

#include "loop/supervise/supervisor.h"

/* Compares the latest checkpoint with the first one, and records the findings if they differ from
 * the last ones. Without checkpoints there are none. Returns 0, or -1 with err set. */
int loop_findings_take(struct supervisor *sup, struct error *err);

#endif
