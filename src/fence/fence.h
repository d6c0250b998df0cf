/*
 * The fence: runs one command where it can reach nothing but what it was given.
 *
 *	fence_spec.h	what somebody asked for
 *	fence_plan.h	the same, judged: paths are resolved, and requests that must be refused are
 *	fence.h		the plan at work, through one mechanism, with ringfence-init as process 1
 *	fence_result.h	how it ended
 *
 * A mechanism (mechanism/mechanism.h) gives the fence its namespaces and mounts; everything else is
 * shared. Every run ends with a sweep (fence_quarantine.h).
 */
#ifndef FENCE_FENCE_H
#define FENCE_FENCE_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"

/* Where a run tells a person something while it goes on. */
typedef void fence_notice_fn(const char *text);

/*
 * Runs the plan's command to its end, with the caller's stdin, stdout and stderr (a terminal is
 * replaced by one of the fence's own). Always fills the result.
 */
void fence_run(const struct fence_plan *plan, fence_notice_fn *notice,
	       struct fence_result *ret_result);

/*
 * If a limit is asked for that only a control group of systemd's can enforce: becomes `systemd-run
 * --user --scope` with this very program and its arguments in it, which then start over. Returns,
 * with nothing done, if that is not needed or not possible.
 */
void fence_enter_scope(const struct fence_spec *spec);

#endif
