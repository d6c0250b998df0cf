/* Requests that are repeated in vain: see runaway.h. */
#include "gateway/model/runaway.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

uint64_t runaway_hash(uint64_t hash, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3) + 1;
	return hash;
}

static void count(struct runaway_count *counted, const struct ledger_row *row, uint64_t now_ms)
{
	bool again = row->failure == (uint32_t)counted->failure && row->status == counted->status &&
		     strncmp(row->error, counted->error, RUNAWAY_ERROR - 1) == 0;

	counted->count = row->failure == FAILURE_NONE ? 0 : again ? counted->count + 1 : 1;
	counted->last_ms = now_ms;
	counted->failure = (enum failure)row->failure;
	counted->status = row->status;
	snprintf(counted->error, sizeof counted->error, "%.*s", RUNAWAY_ERROR - 1, row->error);
}

/* Returns the count of this body. A new body gets the oldest count, cleared, with `make`, and
 * otherwise NULL. */
static struct runaway_count *find(struct runaway *runaway, uint64_t body, bool make)
{
	struct runaway_count *oldest = &runaway->bodies[0];

	for (size_t i = 0; i < RUNAWAY_BODIES; i++) {
		struct runaway_count *at = &runaway->bodies[i];

		if (at->count > 0 && at->body == body)
			return at;
		if (at->count == 0 || (oldest->count > 0 && at->last_ms < oldest->last_ms))
			oldest = at;
	}
	if (!make)
		return NULL;
	*oldest = (struct runaway_count){ .body = body };
	return oldest;
}

void runaway_add(struct runaway *runaway, uint64_t body, const struct ledger_row *row,
		 uint64_t now_ms)
{
	struct runaway_count *same = find(runaway, body, row->failure != FAILURE_NONE);

	count(&runaway->row, row, now_ms);
	if (same)
		count(same, row, now_ms);
}

static bool refuses(const struct runaway_count *counted)
{
	return counted->count >= RUNAWAY_MOST &&
	       failure_row(counted->failure)->response != FAILURE_WAIT;
}

static enum runaway_verdict judge(struct runaway_count *counted, uint64_t now_ms)
{
	if (now_ms - counted->last_ms > RUNAWAY_FORGET_MS)
		counted->count = 0;
	counted->last_ms = now_ms;
	if (refuses(counted))
		return RUNAWAY_REFUSE;
	return counted->count >= RUNAWAY_SLOW ? RUNAWAY_HOLD : RUNAWAY_PASS;
}

enum runaway_verdict runaway_judge(struct runaway *runaway, uint64_t body, uint64_t now_ms)
{
	struct runaway_count *same = find(runaway, body, false);
	enum runaway_verdict row = judge(&runaway->row, now_ms);
	enum runaway_verdict alone = same ? judge(same, now_ms) : RUNAWAY_PASS;

	return alone > row ? alone : row;
}

enum failure runaway_explain(const struct runaway *runaway, uint64_t body,
			     char ret_text[LEDGER_ERROR])
{
	const struct runaway_count *counted = &runaway->row;
	const char *what = "requests in a row failed";

	for (size_t i = 0; i < RUNAWAY_BODIES && !refuses(counted); i++) {
		if (runaway->bodies[i].body != body || !refuses(&runaway->bodies[i]))
			continue;
		counted = &runaway->bodies[i];
		what = "attempts of one request failed";
	}
	snprintf(ret_text, LEDGER_ERROR,
		 "%" PRIu32 " %s with the same error (HTTP %" PRIu32
		 "%s%s); further ones are refused",
		 counted->count, what, counted->status, counted->error[0] ? ", " : "",
		 counted->error);
	return failure_row(counted->failure)->response == FAILURE_PAUSE ? counted->failure
									: FAILURE_RUNAWAY;
}
