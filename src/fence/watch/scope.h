/*
 * Scopes: cgroups that systemd makes for a process. On most machines systemd owns the cgroups, and
 * only systemd may move processes between them.
 *
 * Root becomes the project's owner before it knows the limits, because the limits are in files of
 * that owner. So it first leaves a broker behind: a process that is still root and can do one
 * thing, once: ask systemd for a scope, hand it to the owner and move this process there.
 */
#ifndef FENCE_WATCH_SCOPE_H
#define FENCE_WATCH_SCOPE_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct scope_broker;

/* Returns whether systemd accepts connections: the user's instance, or for root the system's. */
bool scope_manager_answers(void);

/* Adds the command line that executes this program with the arguments that follow in a new scope.
 * Returns the path of systemd-run, which the caller frees, or NULL if that is not possible. */
char *scope_command(struct list *arguments);

/* Returns whether systemd provides scopes, after trying it. */
bool scope_works(void);

/* Starts the broker of this process, which must be root. It ends with the broker's owner. Returns
 * NULL if there is no systemd to ask. */
struct scope_broker *scope_broker_new(void);
void scope_broker_free(struct scope_broker *broker);

/* Moves this process to a scope if one is wanted and systemd provides it. Then the broker ends; a
 * second request has no effect. */
void scope_broker_ask(struct scope_broker *broker, bool wanted);

/*
 * In the new scope, as root: hands the cgroup of this process, in which it must be alone, to the
 * user that `member` runs as, and moves `member` there. started: when that process started; its
 * number may be that of another process by now. Returns 0, or -1 with err set.
 */
int scope_adopt(pid_t member, uint64_t started, struct error *err);

#endif
