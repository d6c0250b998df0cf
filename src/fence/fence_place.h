/*
 * The place of a run: the project, Ringfence's state folder and the identity of the command.
 *
 * Finding it makes real root switch to the project's owner permanently; see identity.h.
 */
#ifndef FENCE_FENCE_PLACE_H
#define FENCE_FENCE_PLACE_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct scope_broker;

/* The user that the command runs as, and the user whose files it sees. */
struct fence_identity {
	uid_t uid; /* the same inside and outside, never 0 */
	gid_t gid;
	uid_t caller; /* owns the home and state folders */
	gid_t caller_group;
	bool switched; /* root became the project's owner; the environment is still root's */
	bool mapped;   /* root owns the files; an idmapped mount lends them to uid */
	char *name;
	char *home;        /* the caller's real home, or an empty string */
	char *passwd_home; /* the home in /etc/passwd, or an empty string */
};

struct fence_place {
	struct fence_identity identity;
	char *project;               /* a real path */
	char *state;                 /* Ringfence's state folder */
	struct scope_broker *broker; /* if root has switched: can ask systemd as root, or NULL */
};

/* Finds the place of a project (NULL: the current directory). From then on, files are read with
 * the owner's permissions. Returns 0, or -1 with err set. */
int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err);
void fence_place_release(struct fence_place *place);

#endif
