/*
 * The result of a run: how it ended, what it used, and what the fence denied or quarantined.
 *
 * A fence that could not be set up is also a result (FENCE_SETUP).
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
	FENCE_LIMITED, /* the command reached a limit, then failed or was stopped */
	FENCE_DENIED,  /* the command was denied something, then failed */
	FENCE_SETUP
};

/* An operation that the fence denied; repeated attempts by one program are counted. */
struct fence_denial {
	const char *kind; /* write, create, remove, link, read, connect, socket, syscall */
	char *target;
	char *rule;
	const char *origin;
	char *program;
	pid_t pid; /* of the first attempt, as seen inside; 0 if unknown */
	struct list argv;
	uint64_t count;
	uint64_t last_ms; /* of the last attempt, on the steady clock */
	uint64_t hash;
	const char *harmless; /* why it is not announced, or NULL (watch/harmless.h) */
};

struct fence_denials {
	struct fence_denial *items; /* ordered by first attempt */
	size_t count;
	uint64_t unlisted; /* attempts beyond the maximum that is listed */
};

struct fence_limited {
	uint64_t value; /* 0 if not requested */
	enum fence_how how;
};

/* Resource use, summed over all processes inside. */
struct fence_use {
	uint64_t cpu_ms;
	uint64_t memory_peak; /* without a cgroup or a watch: of the largest process */
	uint64_t disk_written;
	uint64_t processes_peak; /* without a cgroup or a watch: the total number started */
};

struct fence_result {
	enum fence_exit kind;
	int code;       /* the exit status to pass on */
	char why[2048]; /* the error, for FENCE_SETUP or a command that could not be started */
	bool changed; /* with FENCE_SETUP: the project changed during setup; a retry may succeed */
	unsigned int canaries_held, canaries_total;
	unsigned int weaker;        /* bits of enum fence_weaker */
	unsigned int weaker_limits; /* a bit for each limit not enforced as requested */
	struct fence_limited limits[FENCE_LIMIT_COUNT];
	enum fence_limit tripped; /* the limit that was reached, or FENCE_LIMIT_COUNT */
	struct fence_use use;
	const char *mechanism;
	uint64_t began_ms, ended_ms; /* the command, on the steady clock */
	uint64_t duration_ms;        /* with set-up and sweep */
	struct fence_found found;    /* quarantined files */
	struct fence_denials denials;
	struct outlet_host *hosts; /* connections through the outlet, by host */
	size_t host_count;
	struct list warnings;
};

void fence_denial_release(struct fence_denial *denial);

/* Returns how many denials are not harmless. */
size_t fence_denials_count(const struct fence_denials *denials);

const char *fence_exit_name(enum fence_exit kind);
void fence_result_release(struct fence_result *result);

#endif
