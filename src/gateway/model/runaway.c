/* Requests that are repeated in vain: see runaway.h. */
#include "gateway/model/runaway.h"

#include <inttypes.h>
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

bool runaway_slows(const struct runaway *runaway)
{
	return runaway->count >= RUNAWAY_SLOW;
}

bool runaway_refuses(const struct runaway *runaway)
{
	return runaway->count >= RUNAWAY_MOST &&
	       failure_row(runaway->failure)->response != FAILURE_WAIT;
}

enum failure runaway_failure(const struct runaway *runaway)
{
	return failure_row(runaway->failure)->vague ? FAILURE_RUNAWAY : runaway->failure;
}

void runaway_explain(const struct runaway *runaway, char ret_text[LEDGER_ERROR])
{
	snprintf(ret_text, LEDGER_ERROR,
		 "%" PRIu32 " requests in a row failed with the same error (HTTP %" PRIu32
		 "%s%.64s); further ones are refused in this run",
		 runaway->count, runaway->status, runaway->error[0] ? ", " : "", runaway->error);
}
