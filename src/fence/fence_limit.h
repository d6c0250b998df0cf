/*
 * The resource limits of a run: their names, and parsing and formatting of their values.
 *
 * limit.h enforces them.
 */
#ifndef FENCE_FENCE_LIMIT_H
#define FENCE_FENCE_LIMIT_H

#include "util/error.h"

#include <stdint.h>

/* The limits. Values are bytes, thousandths of a CPU, counts or milliseconds. */
enum fence_limit {
	FENCE_LIMIT_MEMORY,
	FENCE_LIMIT_CPUS,
	FENCE_LIMIT_PROCESSES, /* including threads */
	FENCE_LIMIT_OPEN_FILES,
	FENCE_LIMIT_FILE_SIZE,
	FENCE_LIMIT_TMP_SIZE,
	FENCE_LIMIT_DISK,
	FENCE_LIMIT_TIME,
	FENCE_LIMIT_COUNT /* also stands for "no limit" */
};

/* The facility that enforces a limit. */
enum fence_how {
	FENCE_HOW_NONE,
	FENCE_HOW_CGROUP_V2,
	FENCE_HOW_CGROUP_V1,
	FENCE_HOW_RLIMIT,
	FENCE_HOW_TMPFS,
	FENCE_HOW_AFFINITY,
	FENCE_HOW_WATCHED,
	FENCE_HOW_TIMER,
};

/* Names are "memory", "open-files", "time" and so on. fence_limit_find() returns FENCE_LIMIT_COUNT
 * for an unknown name. */
const char *fence_limit_name(enum fence_limit limit);
enum fence_limit fence_limit_find(const char *name);
const char *fence_how_name(enum fence_how how);

/* Parses a value such as 512M, 1.5, 64 or 30s. Returns 0, or -1 with err set. */
int fence_limit_parse(enum fence_limit limit, const char *text, uint64_t *ret_value,
		      struct error *err);

/* Formats a value so that fence_limit_parse() accepts it. The caller frees the result. */
char *fence_limit_text(enum fence_limit limit, uint64_t value);

#endif
