/* Requests that are repeated in vain: see runaway.h. */
#include "gateway/model/runaway.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void runaway_add(struct runaway *runaway, const struct ledger_row *row)
{
	bool again = row->failure == (uint32_t)runaway->failure && row->status == runaway->status &&
		     strcmp(row->error, runaway->error) == 0;

	runaway->count = row->failure == FAILURE_NONE ? 0 : again ? runaway->count + 1 : 1;
	runaway->failure = (enum failure)row->failure;
	runaway->status = row->status;
	memcpy(runaway->error, row->error, sizeof runaway->error);
}

enum runaway_verdict runaway_judge(struct runaway *runaway, uint64_t now_ms)
{
	bool passes = failure_row(runaway->failure)->response == FAILURE_WAIT;

	if (now_ms - runaway->last_ms > RUNAWAY_FORGET_MS)
		runaway->count = 0;
	runaway->last_ms = now_ms;
	if (runaway->count >= RUNAWAY_MOST && !passes)
		return RUNAWAY_REFUSE;
	return runaway->count >= RUNAWAY_SLOW ? RUNAWAY_HOLD : RUNAWAY_PASS;
}

enum failure runaway_failure(const struct runaway *runaway)
{
	return failure_row(runaway->failure)->vague ? FAILURE_RUNAWAY : runaway->failure;
}

void runaway_explain(const struct runaway *runaway, char ret_text[LEDGER_ERROR])
{
	snprintf(ret_text, LEDGER_ERROR,
		 "%" PRIu32 " requests in a row failed with the same error (HTTP %" PRIu32
		 "%s%.64s); further ones are refused",
		 runaway->count, runaway->status, runaway->error[0] ? ", " : "", runaway->error);
}
