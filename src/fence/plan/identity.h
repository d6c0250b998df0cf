/*
 * Who runs the command.
 *
 * A plain user stays who they are. Real root never lends its own uid to a fence (uid 0 without
 * capabilities still owns /etc/shadow and the kernel's settings): it becomes the owner of the
 * project before anything else happens. Where that owner is root too, the command runs under a uid
 * that owns nothing, and the user's folders are lent to it by idmapped mounts.
 */
#ifndef FENCE_PLAN_IDENTITY_H
#define FENCE_PLAN_IDENTITY_H

#include "fence/fence_place.h"

/* A uid that no system hands out (outside of login, system and systemd's dynamic ranges). */
enum { IDENTITY_NOBODY_ELSE = 60600 };

/* Decides, and becomes the project's owner where that is called for. Returns 0, or -1 with err set.
 */
int identity_assume(const char *project, struct fence_identity *ret_identity, struct error *err);
void identity_release(struct fence_identity *identity);

/* In a child: becomes the mapped uid for good. */
int identity_drop(const struct fence_identity *identity, struct error *err);

#endif
