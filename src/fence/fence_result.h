/*
 * The result of a run: how it ended, what it used, and what the fence refused or took away.
 *
 * A failure to set up a fence is a result as well (FENCE_SETUP).
 */
#ifndef FENCE_FENCE_RESULT_H
#define FENCE_FENCE_RESULT_H

#include "fence/fence_limit.h"
#include "fence/fence_quarantine.h"
#include "util/list.h"
#include "util/outlet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Exit statuses of a run that are not the command's own. */
enum {
	FENCE_EXIT_LIMIT = 123,
	FENCE_EXIT_TIMEOUT = 124,
	FENCE_EXIT_NOT_SET_UP = 125,
	FENCE_EXIT_NOT_EXECUTABLE = 126,
	FENCE_EXIT_NOT_FOUND = 127,
	FENCE_EXIT_SIGNAL = 128, /* plus the signal's number */
};

enum fence_exit {
	FENCE_OK,
	FENCE_COMMAND,
	FENCE_SIGNALLED,
	FENCE_LIMITED, /* it failed, or was ended, after it had reached a limit */
	FENCE_DENIED,  /* it failed, after it had been refused something */
	FENCE_SETUP
};

/* Something that the fence refused, as often as the same program tried it. */
struct fence_denial {
	const char *kind; /* write, create, remove, link, read, connect, socket, syscall */
	char *target;
	char *rule;
	const char *origin;
	char *program;
	pid_t pid; /* of the first attempt, as seen inside; 0: not known */
	struct list argv;
	uint64_t count;
	uint64_t hash;
};

struct fence_denials {
	struct fence_denial *items; /* in the order of their first attempts */
	size_t count;
	uint64_t unlisted; /* attempts beyond the most that are listed */
};

struct fence_limited {
	uint64_t value; /* 0: not asked for */
	enum fence_how how;
};

/* The sum over everything inside. */
struct fence_use {
	uint64_t cpu_ms;
	uint64_t memory_peak; /* without a group or a watch: of the largest process */
	uint64_t disk_written;
	uint64_t processes_peak; /* without a group or a watch: how many there were in all */
};

struct fence_result {
	enum fence_exit kind;
	int code;       /* the exit status to pass on */
	char why[2048]; /* for FENCE_SETUP, and for a command that could not be started */
	bool changed; /* with FENCE_SETUP: the project changed meanwhile; another try may succeed */
	unsigned int canaries_held, canaries_total;
	unsigned int weaker;        /* bits of enum fence_weaker */
	unsigned int weaker_limits; /* a bit for each limit that is not enforced as asked for */
	struct fence_limited limits[FENCE_LIMIT_COUNT];
	enum fence_limit tripped; /* the limit that was reached; FENCE_LIMIT_COUNT: none */
	struct fence_use use;
	const char *mechanism;
	uint64_t duration_ms;
	struct fence_found found; /* in quarantine */
	struct fence_denials denials;
	struct outlet_host *hosts; /* the outlet's use */
	size_t host_count;
	struct list warnings;
};

void fence_denial_release(struct fence_denial *denial);
void fence_denials_release(struct fence_denials *denials);

const char *fence_exit_name(enum fence_exit kind);
void fence_result_release(struct fence_result *result);

#endif
