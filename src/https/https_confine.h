/*
 * ringfence-https gives up what it does not need: new privileges, writing and executing files, core
 * dumps, and being read by other processes of the user.
 */
#ifndef HTTPS_HTTPS_CONFINE_H
#define HTTPS_HTTPS_CONFINE_H

#include "util/error.h"

/* Returns 0, or -1 with err set. It is not a failure if the kernel lacks Landlock. */
int https_confine(struct error *err);

#endif
