/*
 * A cheap test for which well-known paths may exist in the home folder.
 *
 * The built-in tables name about a hundred, and few exist. Reading the folder once avoids a system
 * call for each.
 */
#ifndef FENCE_PLAN_HOME_H
#define FENCE_PLAN_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* A Bloom filter of the entries' names. */
struct home {
	uint64_t seen[32];
	bool unsure; /* the listing failed or may be incomplete, so anything may exist */
};

void home_read(const char *path, struct home *ret_home);

/* Returns false only if `place`, relative to home, did not exist when home was read. */
bool home_may_have(const struct home *home, const char *place);

#endif
