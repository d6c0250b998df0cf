/*
 * When to restart a process that dies: at once at first, then after a delay, and not at all once it
 * has died too often in a row. One that has worked for a while begins a new row, so that single
 * deaths never add up in a long run. Pure arithmetic; the time is passed in.
 */
#ifndef GATEWAY_OWNER_RESTARTS_H
#define GATEWAY_OWNER_RESTARTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RESTARTS_MOST = 10,         /* in a row */
	RESTARTS_HURRIED = 3,       /* of these, without a delay */
	RESTARTS_APART_MS = 1000,   /* later ones: minimum time since the last start */
	RESTARTS_WORKED_MS = 10000, /* after this long, a death begins a new row */
};

struct restarts {
	unsigned int count;  /* in this row */
	uint64_t started_ms; /* the last start */
};

/* Records a start, the first or a later one. */
void restarts_started(struct restarts *restarts, uint64_t now_ms);

/* Records a death. Returns true with how long to wait before the next start, or false if there
 * should be none. */
bool restarts_died(struct restarts *restarts, uint64_t now_ms, uint64_t *ret_wait_ms);

#endif
