/* Requests that are repeated in vain are counted, slowed down and refused. */
#include "unit.h"

#include "gateway/model/runaway.h"

#include <stdio.h>
#include <string.h>

static void add(struct runaway *runaway, enum failure failure, uint32_t status, const char *error,
		int times)
{
	struct ledger_row row = { .failure = failure, .status = status };

	snprintf(row.error, sizeof row.error, "%s", error);
	while (times-- > 0)
		runaway_add(runaway, &row);
}

static void counting(void)
{
	struct runaway runaway = { 0 };
	char text[LEDGER_ERROR];

	CHECK("at first nothing is slowed down", !runaway_slows(&runaway));
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 2);
	CHECK("nor after two failures", !runaway_slows(&runaway));
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("after three, requests are slowed down and not refused",
	      runaway_slows(&runaway) && !runaway_refuses(&runaway));
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 6);
	CHECK("nine failures are not refused", !runaway_refuses(&runaway));
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("ten are, as a failure of their own",
	      runaway_refuses(&runaway) && runaway_failure(&runaway) == FAILURE_RUNAWAY);
	runaway_explain(&runaway, text);
	CHECK("the text has the number, the status and the error",
	      strstr(text, "10 requests") && strstr(text, "HTTP 400, invalid_request_error"));
	add(&runaway, FAILURE_OTHER, 413, "invalid_request_error", 1);
	CHECK("another status starts again", !runaway_slows(&runaway));
	add(&runaway, FAILURE_OTHER, 413, "invalid_request_error", 9);
	add(&runaway, FAILURE_OTHER, 413, "other_error", 1);
	CHECK("so does another error", !runaway_slows(&runaway));
	add(&runaway, FAILURE_OTHER, 413, "other_error", 9);
	add(&runaway, FAILURE_NONE, 200, "", 1);
	CHECK("and so does an answer", !runaway_slows(&runaway));
	add(&runaway, FAILURE_NONE, 200, "", 20);
	CHECK("answers are not counted", !runaway_slows(&runaway));
}

static void kinds(void)
{
	struct runaway runaway = { 0 };

	add(&runaway, FAILURE_AUTHENTICATION, 401, "authentication_error", 10);
	CHECK("a failure that has a name keeps it",
	      runaway_refuses(&runaway) && runaway_failure(&runaway) == FAILURE_AUTHENTICATION);
	add(&runaway, FAILURE_RATE_LIMIT, 429, "rate_limit_error", 1000);
	CHECK("one that passes is slowed down and never refused",
	      runaway_slows(&runaway) && !runaway_refuses(&runaway));
}

int main(void)
{
	counting();
	kinds();
	return unit_failures > 0;
}
