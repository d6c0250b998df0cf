/*
 * Confines this program with Landlock. It parses data that an agent has written, using a library of
 * a hundred thousand lines; so before it reads the first byte, it gives up writing anywhere but to
 * the repository and the few other folders that its task needs, starting programs, and TCP. On
 * kernels without Landlock there is no such confinement.
 */
#ifndef SNAPSHOT_BASE_SNAPSHOT_CONFINE_H
#define SNAPSHOT_BASE_SNAPSHOT_CONFINE_H

#include "util/error.h"

/*
 * Confines this thread and the threads it starts. places: the writable folders, terminated by NULL.
 * Returns 0, or -1 with err set.
 */
int snapshot_confine_writes(const char *const *places, struct error *err);

#endif
