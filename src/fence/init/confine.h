/* The walls that a process puts around itself: Landlock, seccomp, limits. */
#ifndef FENCE_INIT_CONFINE_H
#define FENCE_INIT_CONFINE_H

#include "fence/init/order.h"

#include <sys/resource.h>

/*
 * Prepares Landlock rules that repeat the mounts: writing is allowed only where the order allows
 * it. *ret_ruleset is -1 if the kernel has no Landlock and the order does not require it. Returns
 * 0, or -1 with err set.
 */
int confine_landlock_prepare(const struct order *order, int *ret_ruleset, struct error *err);

/* Prepares the rules of a command that shares the host's file tree: the grants of the order, and
 * nothing else. Returns 0, or -1 with err set. */
int confine_grants_prepare(const struct order *order, int *ret_ruleset, struct error *err);

/* Enforces the rules on this process (ruleset < 0: none). Returns 0, or -1 with err set. */
int confine_landlock_enter(int ruleset, struct error *err);

/* Sets the requested limits (order->limits) that a process can enforce on itself. Returns 0, or -1
 * with err set. */
int confine_limits(const struct order *order, struct error *err);

/* Sets the limits that always apply: no core files, no real-time priority, a maximum number of
 * processes, and no change of CPU affinity if CPUs are limited. Returns 0, or -1 with err set. */
int confine_always(const struct order *order, struct error *err);

/* The maximum number of processes in the fence's user namespace, including init. */
rlim_t confine_processes(const struct order *order);

/* The calls that the filter asks about outside, so that denials can be explained. */
enum confine_notice { CONFINE_SILENT, CONFINE_NOTICE, CONFINE_TRACE };

/* The filter for a command that shares the host's namespaces. */
struct confine_filter {
	enum confine_notice notice;
	bool shared;
	bool asks_opens; /* with shared */
	bool network;    /* with shared: the host's network is open to the command */
};

/*
 * Installs the seccomp filter; the last step. *ret_listener receives the filter's questions, for
 * the process outside; -1 if not wanted or not supported by this kernel; without it, a command
 * that shares the host's namespaces is refused. Returns 0, or -1 with err set.
 */
int confine_seccomp(const struct confine_filter *wanted, int *ret_listener, struct error *err);

#endif
