/* libgit2, as all of this program uses it. */
#ifndef SNAPSHOT_LIBGIT_H
#define SNAPSHOT_LIBGIT_H

#include "util/error.h"

/* Begins with it: nothing is ever read as configuration but what it is given, and each object that is read is compared with
 * its name. */
void libgit_begin(void);

/* What it said last. */
const char *libgit_reason(void);

/* The same as the reason of a failure: returns -1. */
int libgit_trouble(const char *what, struct error *err);

#endif
