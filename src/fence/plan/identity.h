/*
 * The user that runs the command.
 *
 * A regular user keeps their uid. Real root never runs a command as uid 0, which even without
 * capabilities owns /etc/shadow and the kernel's settings: it first switches to the owner of the
 * project. If that owner is also root, the command runs under a uid that owns nothing, and idmapped
 * mounts lend it the project and other writable folders.
 */
#ifndef FENCE_PLAN_IDENTITY_H
#define FENCE_PLAN_IDENTITY_H

#include "fence/fence_place.h"

/* A uid outside the login, system and systemd's dynamic ranges, so that nobody has it. */
enum { IDENTITY_NOBODY_ELSE = 60600 };

/* Determines the identity and, for real root, switches to the project's owner. Then *ret_broker can
 * still ask systemd for a scope; otherwise, and without systemd, it is NULL. Returns 0, or -1 with
 * err set. */
int identity_assume(const char *project, struct fence_identity *ret_identity,
		    struct scope_broker **ret_broker, struct error *err);
void identity_release(struct fence_identity *identity);

/* Reports whether this text of /proc/self/uid_map is that of the initial user namespace, which maps
 * every uid to itself. */
bool identity_is_initial_map(const char *map);

/* In a child: switches permanently to the mapped uid. Returns 0, or -1 with err set. */
int identity_drop(const struct fence_identity *identity, struct error *err);

#endif
