/*
 * What this program can do at worst. It reads what an agent has written, with a library of a hundred thousand lines; so
 * from the first byte on it can write to the repository alone, or to the project as well if that is its work, start no
 * program, and reach no network. On kernels without Landlock only the rest of the program's care remains.
 */
#ifndef SNAPSHOT_CONFINE_H
#define SNAPSHOT_CONFINE_H

#include "util/error.h"

/* project NULL: it is only read. For this thread and those that it starts. Returns 0, or -1 with err set. */
int confine_writes(const char *repository, const char *project, struct error *err);

/* The same with any folders; NULL ends them. */
int confine_to(const char *const *folders, struct error *err);

#endif
