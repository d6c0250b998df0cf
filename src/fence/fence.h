/*
 * The fence: runs one command that can reach only what it was granted.
 *
 *	fence_spec.h	the request, as written in options and files
 *	fence_plan.h	the request after validation: paths are resolved, forbidden ones refused
 *	fence.h		runs a plan through one mechanism, with ringfence-init as process 1
 *	fence_result.h	how the run ended
 *
 * A mechanism (mechanism/mechanism.h) provides the namespaces and mounts; everything else is
 * shared. Every run ends with a sweep (fence_quarantine.h).
 */
#ifndef FENCE_FENCE_H
#define FENCE_FENCE_H

#include "fence/fence_place.h"
#include "fence/fence_plan.h"
#include "fence/fence_result.h"

/* Shows a message to the user during a run. */
typedef void fence_notice_fn(const char *text);

/*
 * Runs the plan's command to completion with the caller's stdin, stdout and stderr (a terminal is
 * replaced by one private to the fence). Always fills the result.
 */
void fence_run(const struct fence_plan *plan, fence_notice_fn *notice,
	       struct fence_result *ret_result);

/*
 * If a requested limit can only be enforced by a cgroup that systemd owns, re-executes this program
 * with its arguments under `systemd-run --user --scope` (as root without --user) and does not
 * return. If root has become the project's owner, the place's broker moves this process to a scope
 * instead, once. Returns without effect if a scope is unnecessary or impossible.
 */
void fence_enter_scope(const struct fence_place *place, const struct fence_spec *spec);

/* The same before a place is found, and only if a trial shows that systemd provides scopes. */
void fence_try_scope(const struct fence_spec *spec);

/* In a new scope, as root: see scope_adopt() in watch/scope.h. */
int fence_adopt(pid_t member, uint64_t started, struct error *err);

#endif
