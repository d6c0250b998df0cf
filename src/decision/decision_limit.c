/* Limits: see decision_limit.h. */
#include "decision/decision_limit.h"

#include "decision/decision_done.h"

#include <inttypes.h>
#include <stdio.h>

int64_t decision_limit_elapsed_s(const struct decision_input *in, int64_t at)
{
	int64_t seconds;

	if (__builtin_sub_overflow(at, in->started_at, &seconds))
		return at > in->started_at ? INT64_MAX : 0;
	return seconds;
}

bool decision_limit_used_up(const struct decision_input *in, struct decision *d)
{
	const struct decision_limits *l = &in->limits;

	if (l->cost_nusd > 0 && in->cost_nusd >= l->cost_nusd) {
		d->limit = DECISION_LIMIT_COST;
		decision_reason_add(
			d,
			"the total cost of %s has reached its limit of %s (change it with --max-cost)",
			decision_reason_cost(in).text, decision_reason_money(l->cost_nusd).text);
	} else if (l->total_s > 0 && decision_limit_elapsed_s(in, in->now) >= l->total_s) {
		d->limit = DECISION_LIMIT_TIME;
		decision_reason_add(
			d, "the total time has reached its limit of %s (change it with --max-time)",
			decision_reason_duration(l->total_s).text);
	}
	if (d->limit != DECISION_LIMIT_NONE)
		d->action = DECISION_LIMIT;
	return d->limit != DECISION_LIMIT_NONE;
}

bool decision_limit_reached(const struct decision_input *in, struct decision *d)
{
	uint32_t most = in->limits.iterations;

	if (!decision_limit_used_up(in, d) && most > 0 && d->iterations >= most) {
		d->limit = DECISION_LIMIT_ITERATIONS;
		if (most == 1)
			decision_reason_add(
				d,
				"the only iteration is used up (change the limit with --max-iterations)");
		else
			decision_reason_add(
				d,
				"all %" PRIu32
				" iterations are used up (change the limit with --max-iterations)",
				most);
	}
	if (d->limit == DECISION_LIMIT_NONE)
		return false;
	if (decision_done_unpromised(in))
		decision_reason_append(d, decision_done_choose_check(in).text);
	d->action = DECISION_LIMIT;
	return true;
}

bool decision_limit_early(const struct decision_input *in, struct decision *d)
{
	const struct decision_limits *l = &in->limits;
	uint32_t idle = d->breakers[BREAKER_NO_PROGRESS].count;
	struct decision missing = { 0 };

	if (!l->early_stop || !l->early_stop_after || d->confidence < l->early_stop ||
	    idle < l->early_stop_after || d->failure != FAILURE_NONE || in->findings_stop ||
	    in->review.blocking || in->facts.interrupted || in->phase.next || in->unread)
		return false;
	d->action = DECISION_LIMIT;
	d->limit = DECISION_LIMIT_EARLY;
	decision_reason_add(
		d,
		"stopped early, although not every rule holds: %" PRIu32
		" iterations brought no progress, at a confidence of %.2f (--early-stop %.2f, "
		"--early-stop-after %" PRIu32 ")",
		idle, d->confidence / 1000.0, l->early_stop / 1000.0, l->early_stop_after);
	if (in->rules.boxes && !decision_done_boxes(in, &missing))
		decision_reason_append(d, missing.reasons[0]);
	if (in->rules.promise && !in->promised)
		decision_reason_append(d, "the promise was not given");
	if (decision_done_unpromised(in))
		decision_reason_append(d, decision_done_choose_check(in).text);
	if (in->phase.name && !in->phase.held)
		decision_reason_append(d, "the last phase is not over");
	return true;
}

void decision_limit_leave_phase(struct decision *d)
{
	d->next_phase = true;
	d->level = d->stalled = 0;
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_reset(&d->breakers[i]);
}

bool decision_limit_phase(const struct decision_input *in, struct decision *d)
{
	const struct phase_facts *phase = &in->phase;
	struct phase_facts now = *phase;
	char text[DECISION_REASON_SIZE / 2];

	now.iterations += d->counts_as_iteration;
	if (d->next_phase || !phase_is_limited(&now, text, sizeof text))
		return false;
	if (phase->skips && phase->next) {
		decision_limit_leave_phase(d);
		decision_reason_add(d, "%s; next phase: '%.100s'", text, phase->next);
		return true;
	}
	d->action = phase->skips ? DECISION_LIMIT : DECISION_PAUSE;
	if (phase->next)
		decision_reason_add(
			d,
			"%s; for another try: ringfence resume; for the next phase, '%.100s': ringfence "
			"resume --next-phase",
			text, phase->next);
	else
		decision_reason_add(d, "%s; for another try: ringfence resume", text);
	return true;
}

/* Returns what the user can do about an open breaker. */
static struct decision_remark advice(const struct decision_input *in, const struct decision *d,
				     enum breaker_kind kind)
{
	static const char *const texts[] = {
		[BREAKER_ERRORS] = "see the log of the last iteration and fix what stops the agent",
		[BREAKER_SAME_ERROR] =
			"the agent cannot get past it: fix it, or explain it in the prompt",
		[BREAKER_NO_PROGRESS] =
			"make the task smaller or the prompt clearer, or use a stronger model",
		[BREAKER_INTERRUPTED] =
			"find out what stops Ringfence or this machine (memory, power, a time limit)",
	};
	struct decision_remark r = { "" };

	if (kind == BREAKER_NO_PROGRESS && decision_done_unpromised(in))
		return decision_done_choose_check(in); /* no work was left to make progress on */
	snprintf(r.text, sizeof r.text, "%s",
		 kind == BREAKER_NO_PROGRESS && d->failure == FAILURE_BUDGET
			 ? "the budget of an iteration is too small for this task: raise --budget"
		 : kind < BREAKER_COUNT ? texts[kind]
					: "");
	return r;
}

bool decision_limit_breakers(const struct decision_input *in, struct decision *d)
{
	bool open = false;

	for (int i = 0; i < BREAKER_COUNT; i++) {
		const struct breaker *b = &d->breakers[i];
		enum breaker_kind kind = (enum breaker_kind)i;

		if (breaker_state(b, in->now) != BREAKER_OPEN)
			continue;
		if (!open)
			d->breaker = kind;
		open = true;
		decision_reason_add(d,
				    "%" PRIu32 " %s (the limit is %" PRIu32
				    "; change it with %s): %s",
				    b->count, breaker_counted(kind, b->count), b->open_at,
				    breaker_flag(kind), advice(in, d, kind).text);
	}
	if (open)
		d->action = DECISION_FAILED;
	return open;
}

void decision_limit_warn(const struct decision_input *in, struct decision *d)
{
	for (int i = 0; i < BREAKER_COUNT; i++) {
		const struct breaker *b = &d->breakers[i];
		enum breaker_kind kind = (enum breaker_kind)i;

		if (breaker_state(b, in->now) == BREAKER_HALF_OPEN)
			decision_reason_add(d, "%" PRIu32 " %s; the loop stops at %" PRIu32 " (%s)",
					    b->count, breaker_counted(kind, b->count), b->open_at,
					    breaker_flag(kind));
	}
}

bool decision_limit_cost(const struct decision_input *in, struct decision *d)
{
	const struct decision_limits *l = &in->limits;

	if (l->cost_warning_nusd <= 0 || in->cost_nusd < l->cost_warning_nusd || in->warned)
		return false;
	d->warned = true;
	decision_reason_add(
		d,
		"the total cost of %s has reached the warning level of %s (change it with --warn-cost)",
		decision_reason_cost(in).text, decision_reason_money(l->cost_warning_nusd).text);
	if (!l->pause_on_warning)
		return false;
	d->action = DECISION_PAUSE;
	return true;
}
