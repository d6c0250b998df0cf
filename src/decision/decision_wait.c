/* Waits: see decision_wait.h. */
#include "decision/decision_wait.h"

#include "decision/decision_limit.h"
#include "decision/lines.h"
#include "decision/reset.h"

#include <inttypes.h>
#include <stdio.h>

int64_t decision_back_off_s(uint32_t waits)
{
	int64_t seconds = DECISION_BACK_OFF_FIRST_S;

	for (; waits > 0 && seconds < DECISION_BACK_OFF_MOST_S; waits--)
		seconds *= 2;
	return seconds < DECISION_BACK_OFF_MOST_S ? seconds : DECISION_BACK_OFF_MOST_S;
}

struct decision_cause decision_wait_cause(const struct decision_input *in, enum failure failure)
{
	struct decision_cause c;

	if (failure == FAILURE_UNREACHABLE && in->unreached)
		snprintf(c.text, sizeof c.text, "the model server at %.120s", in->unreached);
	else
		snprintf(c.text, sizeof c.text, "%s", failure_row(failure)->what);
	return c;
}

/* Adds the cause of a wait. A time that is too far ahead is named, but not waited for in one go.
 * More than a year ahead is a mistake. */
static void explain_wait(const struct decision_input *in, struct decision *d, bool stated)
{
	int64_t at = in->facts.reset_at;
	struct decision_cause why = decision_wait_cause(in, d->failure);

	if (d->failure != FAILURE_RATE_LIMIT || stated)
		decision_reason_add(d, "%s", why.text);
	else if (at > in->now && at <= lines_add(in->now, (int64_t)366 * 86400))
		decision_reason_add(
			d, "%s until %s, more than %d days ahead; the loop tries again before",
			why.text, decision_reason_time(at).text, RESET_AHEAD_S / 86400);
	else
		decision_reason_add(d, "%s, and it did not state until when", why.text);
}

static bool is_limited(const struct decision_agents *agents, uint32_t index, int64_t now)
{
	return agents->limited_until[index] > now;
}

uint32_t decision_next_agent(const struct decision_agents *agents, int64_t now)
{
	uint32_t soonest = 0;

	for (uint32_t rung = agents->level; rung > 0; rung--)
		if (!is_limited(agents, agents->count + rung - 1, now))
			return agents->count + rung - 1;
	for (uint32_t i = 0; i < agents->count; i++) {
		if (!is_limited(agents, i, now))
			return i;
		if (agents->limited_until[i] < agents->limited_until[soonest])
			soonest = i;
	}
	return soonest;
}

/* Returns until when to wait for a provider, and whether it stated that time. */
static int64_t wait_until(const struct decision_input *in, bool *ret_stated)
{
	int64_t until = in->facts.reset_at;
	int64_t later = lines_add(in->now, decision_back_off_s(in->waits));

	*ret_stated = until > in->now && until <= lines_add(in->now, RESET_AHEAD_S);
	/*
	 * Waits do not use up iterations: a provider that keeps stating one second would never end.
	 */
	return !*ret_stated || (in->waits >= DECISION_STATED_WAITS && until < later) ? later
										     : until;
}

/* Continues with another agent if the provider's limit lasts too long. Otherwise *until is when the
 * first of all agents can work again. */
static bool hand_over(const struct decision_input *in, struct decision *d, int64_t *until)
{
	struct decision_agents agents = in->agents;
	uint32_t next;

	if (d->failure != FAILURE_RATE_LIMIT || agents.count + agents.rungs < 2 ||
	    !agents.patience_s || *until - in->now <= agents.patience_s)
		return false;
	d->limited_until = agents.limited_until[agents.current] = *until;
	next = decision_next_agent(&agents, in->now);
	if (is_limited(&agents, next, in->now)) {
		*until = agents.limited_until[next];
		return false;
	}
	decision_reason_add(d, "%s until %s; %s takes over until then (--patience %s)",
			    decision_wait_cause(in, d->failure).text,
			    decision_reason_time(*until).text, agents.names[next],
			    decision_reason_duration(agents.patience_s).text);
	return true;
}

bool decision_wait_begin(const struct decision_input *in, struct decision *d)
{
	bool stated;
	int64_t until = wait_until(in, &stated);

	if (failure_row(d->failure)->response != FAILURE_WAIT)
		return false;
	if (hand_over(in, d, &until))
		return true;
	if (in->limits.total_s > 0 && decision_limit_elapsed_s(in, until) >= in->limits.total_s) {
		d->action = DECISION_LIMIT;
		d->limit = DECISION_LIMIT_TIME;
		decision_reason_add(
			d,
			"%s, and waiting until %s would exceed the total time of %s (change it with --max-time)",
			decision_wait_cause(in, d->failure).text, decision_reason_time(until).text,
			decision_reason_duration(in->limits.total_s).text);
		return true;
	}
	d->action = DECISION_WAIT;
	d->wait_until = until;
	d->waits = in->waits < UINT32_MAX ? in->waits + 1 : in->waits;
	explain_wait(in, d, stated);
	decision_reason_add(d, "waiting until %s", decision_reason_time(until).text);
	return true;
}
