/* Examines the changes of a loop for signs that they weaken its checks (detect/detect.h). */
#ifndef LOOP_RUN_LOOP_FINDINGS_H
#define LOOP_RUN_LOOP_FINDINGS_H

#include "loop/supervise/supervisor.h"

/* Compares the latest checkpoint with the first one, and records the findings if they differ from
 * the last ones. Without checkpoints there are none. pinned: an empty folder for the pinned files
 * that differ (snapshot/undo/pinned.h), or NULL. Returns 0, with the reason in *ret_failed, which
 * the caller frees, if the examination failed; or -1 with err set. */
int loop_findings_take(struct supervisor *sup, const char *pinned, char **ret_failed,
		       struct error *err);

#endif
