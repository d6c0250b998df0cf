/*
 * What this program can do at worst. It reads what an agent has written, with a library of a hundred thousand lines; so
 * from the first byte on it can write to the repository alone, or to the few other places that are its work, start no
 * program, and reach no network. On kernels without Landlock only the rest of the program's care remains.
 */
#ifndef SNAPSHOT_BASE_SNAPSHOT_CONFINE_H
#define SNAPSHOT_BASE_SNAPSHOT_CONFINE_H

#include "util/error.h"

/* places: folders, ended by NULL. For this thread and those that it starts. Returns 0, or -1 with err set. */
int snapshot_confine_writes(const char *const *places, struct error *err);

#endif
