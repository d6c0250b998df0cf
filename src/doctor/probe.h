/* A trial run of the real fence, with every limit, on an empty folder. */
#ifndef DOCTOR_PROBE_H
#define DOCTOR_PROBE_H

#include "fence/fence_limit.h"

#include <stdbool.h>
#include <stdint.h>

struct probe {
	bool tried; /* false if the plan already failed */
	bool held;
	char mechanism[32];
	unsigned int canaries_held, canaries_total;
	uint64_t duration_ms;
	unsigned int weaker; /* bits of fence_weaker.h that the mechanism lacks */
	enum fence_how limits[FENCE_LIMIT_COUNT]; /* the mechanism that enforces each */
	char why[2048];
};

/* Restarts the program in a scope, as other commands do if they have limits (fence_try_scope()). */
void probe_enter_scope(void);

/* Tries a mechanism, or "auto". Takes a few milliseconds, at most the time limit for starting a
 * fence (5 s). */
void probe_fence(const char *mechanism, struct probe *ret_probe);

#endif
