/* Work on the user's repository, and on the private git directory of a loop. */
#ifndef SNAPSHOT_GIT_GITWORK_H
#define SNAPSHOT_GIT_GITWORK_H

#include "snapshot/git/import.h"

struct gitwork {
	const char *project;
	struct import_options import;
};

/* Makes the private directory, if it is not there; says what to show where inside. Returns 0, or -1 with err set. */
int gitwork_open(const struct gitwork *work, struct json *json, struct error *err);

/* Brings in what was committed there. */
int gitwork_import(const struct gitwork *work, struct json *json, struct error *err);

/* Removes from the user's repository what an import that was killed has left there. */
int gitwork_forget(const struct gitwork *work, struct json *json, struct error *err);

#endif
