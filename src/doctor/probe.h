/* A live trial of the fence: the real one, with every limit, around nothing. */
#ifndef DOCTOR_PROBE_H
#define DOCTOR_PROBE_H

#include "fence/fence_limit.h"

#include <stdbool.h>
#include <stdint.h>

struct probe {
	bool tried; /* else something was missing before */
	bool held;
	char mechanism[32];
	unsigned int canaries_held, canaries_total;
	uint64_t duration_ms;
	enum fence_how limits[FENCE_LIMIT_COUNT]; /* what keeps each */
	char why[2048];
};

/* Takes some milliseconds, and at most the time that a fence has to come up (5 s). */
void probe_fence(struct probe *ret_probe);

#endif
