/* Requests that are repeated in vain are counted, slowed down and refused. */
#include "unit.h"

#include "gateway/model/runaway.h"

#include <stdio.h>
#include <string.h>

enum { BODY = 7, OTHER_BODY = 8 };

/* At most a minute passes between requests; they have different bodies. */
static void add(struct runaway *runaway, enum failure failure, uint32_t status, const char *error,
		int times)
{
	struct ledger_row row = { .failure = failure, .status = status };
	static uint64_t body = 100;

	snprintf(row.error, sizeof row.error, "%s", error);
	while (times-- > 0)
		runaway_add(runaway, body++, &row, 5000);
}

static enum runaway_verdict judged(const struct runaway *runaway)
{
	struct runaway copy = *runaway;

	return runaway_judge(&copy, BODY, 6000);
}

static void counting(void)
{
	struct runaway runaway = { 0 };
	char text[LEDGER_ERROR];

	CHECK("at first nothing is slowed down", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 2);
	CHECK("nor after two failures", judged(&runaway) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("after three, requests are slowed down", judged(&runaway) == RUNAWAY_HOLD);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 6);
	CHECK("nine failures are not refused", judged(&runaway) == RUNAWAY_HOLD);
	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 1);
	CHECK("ten are, as a failure of their own",
	      judged(&runaway) == RUNAWAY_REFUSE &&
		      runaway_explain(&runaway, BODY, text) == FAILURE_RUNAWAY);
	CHECK("the text has the number, the status and the error",
	      strstr(text, "10 requests in a row") &&
		      strstr(text, "HTTP 400, invalid_request_error"));
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

static void bodies(void)
{
	const struct ledger_row failed = { .failure = FAILURE_OTHER, .status = 400 };
	const struct ledger_row fine = { .status = 200 };
	struct runaway runaway = { 0 };
	char text[LEDGER_ERROR];

	for (int i = 0; i < 10; i++) {
		runaway_add(&runaway, BODY, &failed, 5000);
		add(&runaway, FAILURE_NONE, 200, "", 1);
	}
	CHECK("a body that failed ten times is refused, whatever was answered in between",
	      runaway_judge(&runaway, BODY, 6000) == RUNAWAY_REFUSE &&
		      runaway_explain(&runaway, BODY, text) == FAILURE_RUNAWAY &&
		      strstr(text, "10 attempts of one request failed"));
	CHECK("another body passes", runaway_judge(&runaway, OTHER_BODY, 6000) == RUNAWAY_PASS);
	add(&runaway, FAILURE_OTHER, 400, "x", 2);
	CHECK("other failures do not displace it",
	      runaway_judge(&runaway, BODY, 6000) == RUNAWAY_REFUSE);
	runaway_add(&runaway, BODY, &fine, 6000);
	CHECK("its own answer starts again", runaway_judge(&runaway, BODY, 6000) == RUNAWAY_PASS);
	CHECK("the hash is that of all bytes, in any pieces",
	      runaway_hash(runaway_hash(0, "ab", 2), "c", 1) == runaway_hash(0, "abc", 3) &&
		      runaway_hash(0, "abc", 3) != runaway_hash(0, "abd", 3) &&
		      runaway_hash(0, "\0", 1) != runaway_hash(0, "\0\0", 2));
}

static void kinds(void)
{
	struct runaway runaway = { 0 };
	char text[LEDGER_ERROR];

	add(&runaway, FAILURE_AUTHENTICATION, 401, "authentication_error", 10);
	CHECK("a failure that has a name keeps it",
	      judged(&runaway) == RUNAWAY_REFUSE &&
		      runaway_explain(&runaway, BODY, text) == FAILURE_AUTHENTICATION);
	add(&runaway, FAILURE_RATE_LIMIT, 429, "rate_limit_error", 1000);
	CHECK("one that passes is slowed down and never refused", judged(&runaway) == RUNAWAY_HOLD);
}

static void forgetting(void)
{
	struct runaway runaway = { 0 };

	add(&runaway, FAILURE_OTHER, 400, "invalid_request_error", 10);
	CHECK("within a minute, requests are refused again and again",
	      runaway_judge(&runaway, BODY, 65000) == RUNAWAY_REFUSE &&
		      runaway_judge(&runaway, BODY, 125000) == RUNAWAY_REFUSE);
	CHECK("after a minute without one, a request passes",
	      runaway_judge(&runaway, BODY, 185001) == RUNAWAY_PASS);
}

int main(void)
{
	counting();
	bodies();
	kinds();
	forgetting();
	return unit_failures > 0;
}
