/*
 * A run in the fence as a separate process, so that the supervisor can keep listening. It dies with
 * the supervisor, and so does everything in the fence.
 */
#ifndef LOOP_RUN_RUNNER_H
#define LOOP_RUN_RUNNER_H

#include "fence/fence_index.h"
#include "fence/fence_result.h"
#include "fence/fence_spec.h"
#include "gateway/owner/ledger.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The index of the project (fence/fence_index.h) after a run. */
enum runner_index {
	RUNNER_INDEX_NOT,      /* none was made */
	RUNNER_INDEX_MADE,     /* it is in the file */
	RUNNER_INDEX_UNWATCHED /* not all folders are watched, so it is of no use later */
};

/* The result of a run; passed through a pipe. */
struct runner_result {
	/* The process that held the fence was killed; this is not a verdict on the work. */
	bool lost;
	/* Nothing was started, because the process that mounts the view was killed. */
	bool unviewed;
	enum fence_exit kind;
	int code;
	enum fence_limit tripped;
	unsigned int weaker, weaker_limits;
	unsigned int canaries_held, canaries_total;
	uint32_t denials, quarantined;
	uint32_t denials_late; /* failure_denial_explains() */
	struct fence_use use;
	uint64_t duration_ms;
	bool metered;            /* it had access to models: */
	struct ledger_news news; /* their cost, and how it ended */
	enum runner_index index;
	char mechanism[16];
	char why[1024];
};

/* Was the command stopped because its time was up? */
static inline bool runner_out_of_time(const struct runner_result *result)
{
	return result->kind == FENCE_LIMITED && result->tripped == FENCE_LIMIT_TIME;
}

struct runner {
	pid_t pid;
	int lifeline; /* our end */
	int output;   /* stdout of the command */
	int complaints;
	int result;
};

#define RUNNER_INIT \
	((struct runner){ .lifeline = -1, .output = -1, .complaints = -1, .result = -1 })

struct runner_request {
	const struct fence_spec *spec;
	const struct ledger_options *ledger; /* cost limits, if the spec has models */
	const char *draft;         /* the folder of the draft that the command works in, or NULL */
	const char *over;          /* another draft below that, or NULL */
	const char *front;         /* files in place of those below, or NULL */
	struct fence_index *index; /* of the project, for a draft, or NULL */
	int index_file;    /* if the index is to be kept: for its paths, each with a NUL; or -1 */
	const char *input; /* for its stdin */
	size_t size;
	const char *report; /* the file for the full report (fence_report_write()) */
	int lock;           /* the runner holds it until it is gone */
};

/* Starts the command of the spec. Returns 0, or -1 with err set. */
int runner_start(const struct runner_request *request, struct runner *ret_runner,
		 struct error *err);

/* Stops the run: TERM to all, grace period, KILL. */
void runner_stop(const struct runner *runner);

/*
 * Waits for the process once `result` is readable. A runner that died without a result is lost.
 * When this returns, nothing that it ran is alive.
 */
void runner_end(struct runner *runner, struct runner_result *ret_result);

#endif
