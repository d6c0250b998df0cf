/*
 * Where a run takes place, and as whom: the project, Ringfence's own folder and the identity.
 *
 * Real root becomes the project's owner here, for good; identity.h has the rules.
 */
#ifndef FENCE_FENCE_PLACE_H
#define FENCE_FENCE_PLACE_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Who runs the command, and whose files it sees. */
struct fence_identity {
	uid_t uid; /* inside and outside: the same number, never 0 */
	gid_t gid;
	uid_t caller; /* whose home and state are meant */
	gid_t caller_group;
	bool switched; /* root has become the project's owner: the environment is another's */
	bool mapped;   /* the files are root's; an idmapped mount lends them to uid */
	char *name;
	char *home;        /* the real home of the caller; empty if there is none */
	char *passwd_home; /* the one that /etc/passwd names, if another */
};

struct fence_place {
	struct fence_identity identity;
	char *project; /* a real path */
	char *state;   /* Ringfence's own folder */
};

/* Finds the place of a project as it was given (NULL: the current directory). Everything that is
 * read afterwards is read with the owner's rights. Returns 0, or -1 with err set. */
int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err);
void fence_place_release(struct fence_place *place);

#endif
