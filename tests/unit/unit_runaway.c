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

static enum runaway_verdict judged(const struct runaway *runaway)
{
	struct runaway copy = *runaway;

	return runaway_judge(&copy, copy.last_ms + 1000);
}

static void counting(void)
{
	struct runaway runaway = { 0 };
	char text[LEDGER_ERROR];

	CHECK("at first nothing is slowed down", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 2);
	CHECK("nor after two failures", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("after three, requests are slowed down and not refused",
	      judged(&runaway) == RUNAWAY_HOLD);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 6);
	CHECK("nine failures are not refused", judged(&runaway) == RUNAWAY_HOLD);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("ten are, as a failure of their own",
	      judged(&runaway) == RUNAWAY_REFUSE && runaway_failure(&runaway) == FAILURE_RUNAWAY);
	runaway_explain(&runaway, text);
	CHECK("the text has the number, the status and the error",
	      strstr(text, "10 requests") && strstr(text, "HTTP 400, invalid_request_error"));
	add(&runaway, FAILURE_OTHER, 413, "invalid_request_error", 1);
	CHECK("another status starts again", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 413, "invalid_request_error", 9);
	add(&runaway, FAILURE_OTHER, 413, "other_error", 1);
	CHECK("so does another error", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 413, "other_error", 9);
	add(&runaway, FAILURE_NONE, 200, "", 1);
	CHECK("and so does an answer", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_NONE, 200, "", 20);
	CHECK("answers are not counted", judged(&runaway) == RUNAWAY_PASS);
}

static void kinds(void)
{
	struct runaway runaway = { 0 };

	add(&runaway, FAILURE_AUTHENTICATION, 401, "authentication_error", 10);
	CHECK("a failure that has a name keeps it",
	      judged(&runaway) == RUNAWAY_REFUSE &&
		      runaway_failure(&runaway) == FAILURE_AUTHENTICATION);
	add(&runaway, FAILURE_RATE_LIMIT, 429, "rate_limit_error", 1000);
	CHECK("one that passes is slowed down and never refused", judged(&runaway) == RUNAWAY_HOLD);
}

static void forgetting(void)
{
	struct runaway runaway = { .last_ms = 5000 };

	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 10);
	CHECK("within a minute, requests are refused again and again",
	      runaway_judge(&runaway, 65000) == RUNAWAY_REFUSE &&
		      runaway_judge(&runaway, 125000) == RUNAWAY_REFUSE);
	CHECK("after a minute without one, a request passes",
	      runaway_judge(&runaway, 185001) == RUNAWAY_PASS);
}

int main(void)
{
	counting();
	forgetting();
	kinds();
	return unit_failures > 0;
}
