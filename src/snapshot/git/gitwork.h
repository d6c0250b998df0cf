/* Tasks on the user's repository and on the private git directory of a loop. */
#ifndef SNAPSHOT_GIT_GITWORK_H
#define SNAPSHOT_GIT_GITWORK_H

#include "snapshot/git/import.h"

struct gitwork {
	const char *project;
	struct import_options import;
	struct list hidden; /* paths in the project that do not exist for the agent */
	const char *head;   /* the commit that a new directory begins with; NULL: the user's HEAD */
};

/*
 * Creates the private directory if it does not exist, and reports which mounts it needs inside the
 * fence. Returns 0, or -1 with err set.
 */
int gitwork_open(const struct gitwork *work, struct json *json, struct error *err);

/*
 * Reports which mounts an existing private directory needs inside the fence, also while somebody
 * uses it; none if there is no such directory. Returns 0, or -1 with err set.
 */
int gitwork_look(const struct gitwork *work, struct json *json, struct error *err);

/* Imports the agent's commits. */
int gitwork_import(const struct gitwork *work, struct json *json, struct error *err);

/* Removes temporary files that a killed import left in the user's repository. */
int gitwork_clean(const struct gitwork *work, struct json *json, struct error *err);

#endif
