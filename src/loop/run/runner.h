/*
 * A run in the fence as a process of its own, so that the supervisor can go on listening. It dies with
 * the supervisor, and everything in the fence with it.
 */
#ifndef LOOP_RUN_RUNNER_H
#define LOOP_RUN_RUNNER_H

#include "fence/fence_result.h"
#include "fence/fence_spec.h"
#include "gateway/owner/ledger.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of it; travels through a pipe. */
struct runner_result {
	bool lost; /* the process that held the fence was killed; it says nothing about the work */
	enum fence_exit kind;
	int code;
	enum fence_limit tripped;
	unsigned int weaker, weaker_limits;
	unsigned int canaries_held, canaries_total;
	uint32_t denials, quarantined;
	struct fence_use use;
	uint64_t duration_ms;
	bool metered;            /* it had a way to models, and: */
	struct ledger_news news; /* what that cost, and how it ended */
	char mechanism[16];
	char why[1024];
};

struct runner {
	pid_t pid;
	int lifeline; /* our end */
	int output;   /* of the command */
	int complaints;
	int result;
};

#define RUNNER_INIT \
	((struct runner){ .lifeline = -1, .output = -1, .complaints = -1, .result = -1 })

/* Starts spec->command with this text on its stdin; the lock is held until it is gone. What became of it in
 * full (fence_report_write()) goes to the file `report`. books: what models may cost, if the spec has any. Returns 0, or -1 with err set. */
int runner_start(const struct fence_spec *spec, const struct ledger_options *books, int lock,
		 const char *input, size_t size, const char *report, struct runner *ret_runner,
		 struct error *err);

/* Asks for its end: TERM to all, grace, KILL. */
void runner_stop(const struct runner *runner);

/* When `result` is readable: waits for the process. One that died without a word is lost; nothing
 * of what it ran is alive when this returns. */
void runner_end(struct runner *runner, struct runner_result *ret_result);

#endif
