/*
 * Which of the well-known places at home can be there?
 *
 * The built-in tables name some hundred, and few exist. Home is read once, and only what a name in it speaks
 * for is looked at.
 */
#ifndef FENCE_PLAN_HOME_H
#define FENCE_PLAN_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* A bit for each name, by its hash: two names may share one, which costs a look. */
struct home {
	uint64_t seen[32];
	bool unsure; /* it cannot be read, or not believed: everything may be there */
};

void home_read(const char *path, struct home *ret_home);

/* False only if there was no such entry when home was read. `place` is relative to it. */
bool home_may_have(const struct home *home, const char *place);

#endif
