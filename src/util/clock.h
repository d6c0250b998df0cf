/* The current time in milliseconds, and times as text. */
#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read_ms(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For deadlines: this clock cannot be set and never goes backwards. */
static inline uint64_t clock_steady_ms(void)
{
	return (uint64_t)clock_read_ms(CLOCK_MONOTONIC);
}

/* Wall-clock time since the epoch. */
static inline int64_t clock_wall_ms(void)
{
	return clock_read_ms(CLOCK_REALTIME);
}

enum clock_form {
	CLOCK_ZONE,   /* 2026-11-19 02:00:05 CET */
	CLOCK_SECOND, /* 2026-11-19 02:00:05 */
	CLOCK_MINUTE, /* 2026-11-19 02:00 */
	CLOCK_TIME    /* 02:00:05 */
};

/* Returns a time in the local time zone. The caller frees it. */
char *clock_text(int64_t at_ms, enum clock_form form);

#endif
