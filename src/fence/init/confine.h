/* The walls that a process puts around itself: Landlock, seccomp, limits. */
#ifndef FENCE_INIT_CONFINE_H
#define FENCE_INIT_CONFINE_H

#include "fence/init/order.h"

#include <sys/resource.h>

/*
 * Makes the Landlock rules that repeat what the mounts say: write only where the order has it
 * writable. *ret_ruleset is -1 where the kernel has none and the order does not
 * insist. Returns 0, or -1 with err set.
 */
int confine_landlock_prepare(const struct order *order, int *ret_ruleset, struct error *err);

/* Enters the rules (ruleset < 0: nothing). Returns 0, or -1 with err set. */
int confine_landlock_enter(int ruleset, struct error *err);

/* What was asked for (order->limits), as far as a process can keep it itself. Returns 0, or -1 with
 * err set. */
int confine_limits(const struct order *order, struct error *err);

/* What nobody asks for: no core files, no real-time priority, a bound on processes; and the CPUs that
 * were chosen stay the only ones. */
int confine_always(const struct order *order, struct error *err);

/* The bound on processes in the fence's user namespace, with init. */
rlim_t confine_processes(const struct order *order);

/* What is asked about outside, so that denials can be explained. */
enum confine_notice { CONFINE_SILENT, CONFINE_NOTICE, CONFINE_TRACE };

/*
 * The last step: from here on refused system calls are refused. *ret_listener is where the questions
 * come out, for whoever is outside; -1 where none is wanted or this kernel has none. Returns 0, or
 * -1 with err set.
 */
int confine_seccomp(enum confine_notice notice, int *ret_listener, struct error *err);

#endif
