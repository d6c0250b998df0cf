/*
 * Detects the kind of a project by the files in its root, which are read as data.
 *
 * Nothing in the project is executed, and nothing outside it is looked at.
 * The files are untrusted: symlinks are not followed, and only a bounded size is read.
 */
#ifndef PROJECT_PROJECT_H
#define PROJECT_PROJECT_H

#include "util/error.h"
#include "util/list.h"

#include <stddef.h>

struct project_kind {
	const char *name;     /* "node", "python", ... */
	const char *evidence; /* the file that shows it */
};

struct project {
	struct project_kind *kinds;
	size_t count;
	struct list checks;  /* commands that must exit 0 when the work is done */
	struct list secrets; /* files in the project that are not hidden by default */
};

/* Returns 0, or -1 with err set if the folder cannot be read. A project without a known kind is
 * valid. */
int project_detect(const char *folder, struct project *ret_project, struct error *err);
void project_release(struct project *project);

#endif
