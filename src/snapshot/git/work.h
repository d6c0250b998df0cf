/*
 * Work on the user's repository, and on the private git directory of a loop:
 *
 *	git-open	makes the private directory, if it is not there; says what to show where inside
 *	git-import	brings in what was committed there
 */
#ifndef SNAPSHOT_GIT_WORK_H
#define SNAPSHOT_GIT_WORK_H

#include "snapshot/git/import.h"

struct gitwork {
	const char *project;
	struct import_options import;
};

/* Is this the name of such a work? */
bool gitwork_is(const char *name);

/* Returns 0, or -1 with err set. */
int gitwork_run(const char *name, const struct gitwork *work, struct json *json, struct error *err);

#endif
