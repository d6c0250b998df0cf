/*
 * What a project is made of: found by the files in its root, read as data.
 *
 * Nothing of the project is executed, and nothing outside of it is looked at but whether a cache is
 * there. The files are foreign: they are opened without following symlinks, and read up to a bound.
 */
#ifndef PROJECT_PROJECT_H
#define PROJECT_PROJECT_H

#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

struct project_kind {
	const char *name;     /* "node", "python", ... */
	const char *evidence; /* the file that says so */
};

struct project {
	struct project_kind *kinds;
	size_t count;
	struct list checks;  /* commands that tell whether the work is done */
	struct list caches;  /* folders outside of the project that its tools read, as "~/..." */
	struct list secrets; /* in the project, not hidden by the built-in names */
};

/* Returns 0, or -1 with err set if the folder cannot be read. No kind at all is no error. */
int project_detect(const char *folder, const char *home, struct project *ret_project,
		   struct error *err);
void project_release(struct project *project);

/* Does this Makefile have a rule for the target? For the tests, too. */
bool project_makefile_has(const char *text, const char *target);

#endif
