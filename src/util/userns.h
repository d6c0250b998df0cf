/* User namespaces that have one user and one group. */
#ifndef UTIL_USERNS_H
#define UTIL_USERNS_H

#include "util/error.h"

#include <sys/types.h>

struct userns_ids {
	uid_t inside_uid, outside_uid;
	gid_t inside_gid, outside_gid;
};

/* Moves this process to a new user namespace, and to the other new namespaces in `flags`
 * (CLONE_NEW*). The process must have one thread. Returns 0, or -1 with err set. */
int userns_enter(const struct userns_ids *ids, int flags, struct error *err);

/* Returns a descriptor of a new user namespace, for idmapped mounts, or -1 with err set. */
int userns_open(const struct userns_ids *ids, struct error *err);

#endif
