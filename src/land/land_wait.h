/* How long to wait for CI, and when to read it again. Pure functions: the caller sleeps. */
#ifndef LAND_LAND_WAIT_H
#define LAND_LAND_WAIT_H

#include "land/land_forge.h"

enum {
	LAND_WAIT_FIRST_MS = 5000, /* the first interval, and that after a change */
	LAND_WAIT_LAST_MS = 60000, /* the longest one */
	LAND_WAIT_START_MS = 60000 /* how long a forge may take until CI begins */
};

struct land_wait {
	uint64_t began_ms, until_ms;
	uint64_t pause_ms;
	bool twice;
	size_t passed; /* how many jobs the last reading found passed, if all of them had */
};

enum land_wait_step {
	LAND_WAIT_AGAIN, /* read CI again after a pause */
	LAND_WAIT_OVER,  /* all jobs have ended, or there are none */
	LAND_WAIT_LATE   /* jobs are left, and the time is up */
};

/* Begins to wait, for most_ms. twice: two readings have to agree that CI has passed. */
void land_wait_begin(struct land_wait *wait, uint64_t now_ms, uint64_t most_ms, bool twice);

/* Decides what follows a reading of CI. changed: it differs from the last one. */
enum land_wait_step land_wait_next(struct land_wait *wait, const struct land_ci *ci, bool changed,
				   uint64_t now_ms, uint64_t *ret_pause_ms);

#endif
