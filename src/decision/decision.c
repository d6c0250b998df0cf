/* The decision: see decision.h. */
#include "decision/decision.h"

#include "decision/civil.h"
#include "decision/lines.h"
#include "decision/reset.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void reason(struct decision *d, const char *format,
							 ...)
{
	va_list args;

	if (d->reason_count == DECISION_REASONS_MAX)
		return;
	va_start(args, format);
	vsnprintf(d->reasons[d->reason_count++], DECISION_REASON_SIZE, format, args);
	va_end(args);
}

/* Appends a clause to the last reason. */
static void add_to_reason(struct decision *d, const char *text)
{
	char *last = d->reasons[d->reason_count - 1];
	size_t size = strlen(last);

	snprintf(last + size, DECISION_REASON_SIZE - size, "; %s", text);
}

struct brief {
	char text[48];
};

struct cause {
	char text[160];
};

struct remark {
	char text[360];
};

/* US$ 25.00 */
static struct brief money(int64_t nusd)
{
	struct brief b;
	int64_t cents = nusd / 10000000;

	snprintf(b.text, sizeof b.text, "US$ %" PRId64 ".%02" PRId64, cents / 100,
		 cents < 0 ? -(cents % 100) : cents % 100);
	return b;
}

/* US$ 25.00 (partly estimated) */
static struct brief total_cost(const struct decision_input *in)
{
	struct brief b;

	snprintf(b.text, sizeof b.text, "%.24s%s", money(in->cost_nusd).text,
		 in->estimated_nusd <= 0              ? ""
		 : in->estimated_nusd < in->cost_nusd ? " (partly estimated)"
						      : " (estimated)");
	return b;
}

/* 8 h; 90 min; 45 s */
static struct brief duration(int64_t seconds)
{
	struct brief b;

	if (seconds >= 3600 && seconds % 3600 == 0)
		snprintf(b.text, sizeof b.text, "%" PRId64 " h", seconds / 3600);
	else if (seconds >= 60 && seconds % 60 == 0)
		snprintf(b.text, sizeof b.text, "%" PRId64 " min", seconds / 60);
	else
		snprintf(b.text, sizeof b.text, "%" PRId64 " s", seconds);
	return b;
}

/* 2026-11-20 17:00:00 UTC */
static struct brief utc_time(int64_t time)
{
	struct brief b;
	int64_t year = 0;
	int64_t month = 0;
	int64_t day = 0;

	if (time < 0 || time > INT64_C(250000000000)) {
		snprintf(b.text, sizeof b.text, "%" PRId64, time);
		return b;
	}
	civil_date(time / 86400, &year, &month, &day);
	snprintf(b.text, sizeof b.text, "%04d-%02d-%02d %02d:%02d:%02d UTC", (int)year, (int)month,
		 (int)day, (int)(time % 86400 / 3600), (int)(time % 3600 / 60), (int)(time % 60));
	return b;
}

int64_t decision_back_off_s(uint32_t waits)
{
	int64_t seconds = DECISION_BACK_OFF_FIRST_S;

	for (; waits > 0 && seconds < DECISION_BACK_OFF_MOST_S; waits--)
		seconds *= 2;
	return seconds < DECISION_BACK_OFF_MOST_S ? seconds : DECISION_BACK_OFF_MOST_S;
}

static int64_t elapsed(const struct decision_input *in, int64_t at)
{
	int64_t seconds;

	if (__builtin_sub_overflow(at, in->started_at, &seconds))
		return at > in->started_at ? INT64_MAX : 0;
	return seconds;
}

static enum failure_response response(enum failure failure)
{
	return failure_row(failure)->response;
}

/* Did the provider keep the agent from working? Such an iteration does not count. */
static bool was_kept_from_work(enum failure failure)
{
	return response(failure) == FAILURE_WAIT || response(failure) == FAILURE_PAUSE;
}

/* Do all checks hold? Adds a reason either way. */
static bool checks_hold(const struct decision_input *in, struct decision *d)
{
	const struct failure_facts *f = &in->facts;
	uint32_t held = failure_checks_held(f);

	if (f->checks > 0 && held == f->checks) {
		reason(d, "%" PRIu32 " of %" PRIu32 " checks passed", held, f->checks);
		return true;
	}
	if (f->checks == 0)
		reason(d, "no check ran");
	else
		reason(d, "%" PRIu32 " of %" PRIu32 " checks passed", held, f->checks);
	if (f->checks_vacuous > 0)
		reason(d, "%" PRIu32 " exited 0 but ran no test, or too few, which is not a pass",
		       f->checks_vacuous);
	return false;
}

static bool boxes_hold(const struct decision_input *in, struct decision *d)
{
	if (in->boxes.open == 0 && in->boxes.ticked > 0) {
		reason(d, "all %" PRIu32 " boxes are ticked", in->boxes.ticked);
		return true;
	}
	if (in->boxes.open == 0)
		reason(d, "the task list has no boxes");
	else
		reason(d, "%" PRIu32 " %s open, %" PRIu32 " ticked", in->boxes.open,
		       in->boxes.open == 1 ? "box is" : "boxes are", in->boxes.ticked);
	return false;
}

static bool promise_holds(const struct decision_input *in, struct decision *d)
{
	reason(d, in->promised ? "the promise was given" : "the promise was not given");
	return in->promised;
}

/* Do all configured rules hold? Each adds its reason. */
static bool rules_hold(const struct decision_input *in, struct decision *d)
{
	bool failing = failure_checks_held(&in->facts) < in->facts.checks;
	bool hold = in->rules.checks || in->rules.boxes || in->rules.promise;

	if (in->rules.checks || failing)
		hold &= checks_hold(in, d);
	if (in->rules.boxes)
		hold &= boxes_hold(in, d);
	if (in->rules.promise)
		hold &= promise_holds(in, d);
	if (in->promised && failing)
		reason(d, "the promise was given, but it does not count while a check fails");
	return hold;
}

/* Was the agent able to work? */
static bool worked(const struct decision_input *in, enum failure failure)
{
	return in->facts.files_changed > 0 || !was_kept_from_work(failure);
}

/* Is the agent's promise all that is missing, because nobody chose the check? */
static bool only_unpromised(const struct decision_input *in)
{
	return in->found && !in->promised && !in->facts.interrupted && in->facts.checks > 0 &&
	       failure_checks_held(&in->facts) == in->facts.checks;
}

static struct remark choose_check(const struct decision_input *in)
{
	struct remark r;

	snprintf(
		r.text, sizeof r.text,
		"the check '%.100s' passes, but nobody chose it and the agent did not say that it is done; "
		"to stop as soon as it passes: ringfence run --check '%.100s'",
		in->found, in->found);
	return r;
}

/* Is the money or the time used up, with which anything could be started? */
static bool is_used_up(const struct decision_input *in, struct decision *d)
{
	const struct decision_limits *l = &in->limits;

	if (l->cost_nusd > 0 && in->cost_nusd >= l->cost_nusd) {
		d->limit = DECISION_LIMIT_COST;
		reason(d,
		       "the total cost of %s has reached its limit of %s (change it with --max-cost)",
		       total_cost(in).text, money(l->cost_nusd).text);
	} else if (l->total_s > 0 && elapsed(in, in->now) >= l->total_s) {
		d->limit = DECISION_LIMIT_TIME;
		reason(d, "the total time has reached its limit of %s (change it with --max-time)",
		       duration(l->total_s).text);
	}
	if (d->limit != DECISION_LIMIT_NONE)
		d->action = DECISION_LIMIT;
	return d->limit != DECISION_LIMIT_NONE;
}

static bool limit_reached(const struct decision_input *in, struct decision *d)
{
	uint32_t most = in->limits.iterations;

	if (!is_used_up(in, d) && most > 0 && d->iterations >= most) {
		d->limit = DECISION_LIMIT_ITERATIONS;
		if (most == 1)
			reason(d,
			       "the only iteration is used up (change the limit with --max-iterations)");
		else
			reason(d,
			       "all %" PRIu32
			       " iterations are used up (change the limit with --max-iterations)",
			       most);
	}
	if (d->limit == DECISION_LIMIT_NONE)
		return false;
	if (only_unpromised(in))
		add_to_reason(d, choose_check(in).text);
	d->action = DECISION_LIMIT;
	return true;
}

/*
 * Does more work promise nothing? Everything that a program can verify holds, or this would be a
 * failure, and the agent gets no further with the rest.
 */
static bool stops_early(const struct decision_input *in, struct decision *d)
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
	reason(d,
	       "stopped early, although not every rule holds: %" PRIu32
	       " iterations brought no progress, at a confidence of %.2f (--early-stop %.2f, "
	       "--early-stop-after %" PRIu32 ")",
	       idle, d->confidence / 1000.0, l->early_stop / 1000.0, l->early_stop_after);
	if (in->rules.boxes && !boxes_hold(in, &missing))
		add_to_reason(d, missing.reasons[0]);
	if (in->rules.promise && !in->promised)
		add_to_reason(d, "the promise was not given");
	if (only_unpromised(in))
		add_to_reason(d, choose_check(in).text);
	if (in->phase.name && !in->phase.held)
		add_to_reason(d, "the last phase is not over");
	return true;
}

/* Returns what the user can do about an open breaker. */
static struct remark advice(const struct decision_input *in, const struct decision *d,
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
	struct remark r = { "" };

	if (kind == BREAKER_NO_PROGRESS && only_unpromised(in))
		return choose_check(in); /* no work was left to make progress on */
	snprintf(r.text, sizeof r.text, "%s",
		 kind == BREAKER_NO_PROGRESS && d->failure == FAILURE_BUDGET
			 ? "the budget of an iteration is too small for this task: raise --budget"
		 : kind < BREAKER_COUNT ? texts[kind]
					: "");
	return r;
}

static bool breaker_open(const struct decision_input *in, struct decision *d)
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
		reason(d, "%" PRIu32 " %s (the limit is %" PRIu32 "; change it with %s): %s",
		       b->count, breaker_counted(kind, b->count), b->open_at, breaker_flag(kind),
		       advice(in, d, kind).text);
	}
	if (open)
		d->action = DECISION_FAILED;
	return open;
}

/* Adds a warning for each half-open breaker. */
static void warn_of_breakers(const struct decision_input *in, struct decision *d)
{
	for (int i = 0; i < BREAKER_COUNT; i++) {
		const struct breaker *b = &d->breakers[i];
		enum breaker_kind kind = (enum breaker_kind)i;

		if (breaker_state(b, in->now) == BREAKER_HALF_OPEN)
			reason(d, "%" PRIu32 " %s; the loop stops at %" PRIu32 " (%s)", b->count,
			       breaker_counted(kind, b->count), b->open_at, breaker_flag(kind));
	}
}

static bool cost_pauses(const struct decision_input *in, struct decision *d)
{
	const struct decision_limits *l = &in->limits;

	if (l->cost_warning_nusd <= 0 || in->cost_nusd < l->cost_warning_nusd || in->warned)
		return false;
	d->warned = true;
	reason(d,
	       "the total cost of %s has reached the warning level of %s (change it with --warn-cost)",
	       total_cost(in).text, money(l->cost_warning_nusd).text);
	if (!l->pause_on_warning)
		return false;
	d->action = DECISION_PAUSE;
	return true;
}

/* Returns the cause of a wait, as the start of a sentence. */
static struct cause cause(const struct decision_input *in, enum failure failure)
{
	struct cause c;

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
	struct cause why = cause(in, d->failure);

	if (d->failure != FAILURE_RATE_LIMIT || stated)
		reason(d, "%s", why.text);
	else if (at > in->now && at <= lines_add(in->now, (int64_t)366 * 86400))
		reason(d, "%s until %s, more than %d days ahead; the loop tries again before",
		       why.text, utc_time(at).text, RESET_AHEAD_S / 86400);
	else
		reason(d, "%s, and it did not state until when", why.text);
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
	reason(d, "%s until %s; %s takes over until then (--patience %s)",
	       cause(in, d->failure).text, utc_time(*until).text, agents.names[next],
	       duration(agents.patience_s).text);
	return true;
}

/* Decides to wait, or to stop if the wait would exceed the total time. */
static bool must_wait(const struct decision_input *in, struct decision *d)
{
	bool stated;
	int64_t until = wait_until(in, &stated);

	if (response(d->failure) != FAILURE_WAIT)
		return false;
	if (hand_over(in, d, &until))
		return true;
	if (in->limits.total_s > 0 && elapsed(in, until) >= in->limits.total_s) {
		d->action = DECISION_LIMIT;
		d->limit = DECISION_LIMIT_TIME;
		reason(d,
		       "%s, and waiting until %s would exceed the total time of %s (change it with --max-time)",
		       cause(in, d->failure).text, utc_time(until).text,
		       duration(in->limits.total_s).text);
		return true;
	}
	d->action = DECISION_WAIT;
	d->wait_until = until;
	d->waits = in->waits < UINT32_MAX ? in->waits + 1 : in->waits;
	explain_wait(in, d, stated);
	reason(d, "waiting until %s", utc_time(until).text);
	return true;
}

static bool needs_person(const struct decision_input *in, struct decision *d)
{
	const struct failure_row *row = failure_row(d->failure);

	if (d->failure == FAILURE_REFUSED && in->unreached)
		reason(d, "%s: %s. To continue: ringfence resume", row->what, in->unreached);
	else if (d->failure == FAILURE_MODEL_NOT_FOUND && in->unreached)
		reason(d,
		       "the provider does not know the model '%.120s': %s, then ringfence resume",
		       in->unreached, row->remedy);
	else if (row->response == FAILURE_PAUSE)
		reason(d, "%s: %s, then ringfence resume", row->what, row->remedy);
	else if (d->failure == FAILURE_UNREACHABLE && in->limits.unreachable &&
		 in->waits >= in->limits.unreachable)
		reason(d,
		       "%s, after %" PRIu32 " waits (--max-unreachable); %s Then run ringfence "
		       "resume",
		       cause(in, d->failure).text, in->waits, row->remedy);
	else
		return false;
	d->action = DECISION_PAUSE;
	return true;
}

/* Signs that the changes weaken the checks. The agent gets one chance to take back what stops the
 * loop; what needs a review waits until the rest of the work is done. */
static bool findings_pause(const struct decision_input *in, struct decision *d, bool done)
{
	uint32_t count = in->findings_stop + (done ? in->findings_review : 0);

	d->findings_told = in->findings_stop > 0;
	if (!count || (!in->findings_told && !(done && in->findings_review)))
		return false;
	d->action = DECISION_PAUSE;
	d->only_findings = done;
	if (in->untested >= count)
		reason(d,
		       "every rule holds, but there %s %" PRIu32 " change%s to the agent's lines "
		       "that no check notices (see: ringfence history); to accept: ringfence resume "
		       "--accept-findings",
		       count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
	else
		reason(d,
		       "%s%s %" PRIu32
		       " sign%s that the changes weaken the checks (see: ringfence diff "
		       "--findings); to accept: ringfence resume --accept-findings",
		       done ? "every rule holds, but there "
			    : "the agent was told, but there still ",
		       count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
	return true;
}

/* Only the opinion is missing. The iteration is not over, and is judged again with the next one. */
static void wait_for_opinion(const struct decision_input *in, struct decision *d)
{
	struct decision_input asked = *in;

	d->iterations = in->iterations;
	d->counts_as_iteration = false;
	d->level = in->agents.level;
	d->stalled = in->agents.stalled;
	memcpy(d->breakers, in->breakers, sizeof d->breakers);
	d->recheck = true;
	d->failure = in->review.failure;
	asked.agents.count = asked.agents.rungs = 0; /* nobody takes over a review */
	asked.facts.reset_at = in->review.reset_at;
	asked.unreached = in->review.unreached;
	if (needs_person(&asked, d) || must_wait(&asked, d))
		return;
	d->action = DECISION_PAUSE;
	reason(d,
	       "every rule holds, but the reviewer gave no opinion: %s (see: ringfence logs "
	       "--review); to ask again: ringfence resume",
	       in->review.why ? in->review.why : "it was cut off again and again");
}

/* Is the opinion that was asked for missing? Decides how to get it if so. */
static bool lacks_opinion(const struct decision_input *in, struct decision *d)
{
	const struct decision_review *r = &in->review;

	if (!r->wanted || r->given)
		return false;
	if ((r->unanswered && (was_kept_from_work(r->failure) || r->failure == FAILURE_BUDGET)) ||
	    r->unanswered >= DECISION_REVIEW_ANSWERS || r->runs >= DECISION_REVIEW_RUNS) {
		wait_for_opinion(in, d);
	} else if (!is_used_up(in, d)) {
		d->action = DECISION_REVIEW;
		reason(d, "every rule holds; asking for a second opinion");
	}
	return true;
}

/* Starts the mutants, unless they have been tried or are not wanted. */
static bool mutates(const struct decision_input *in, struct decision *d)
{
	if (!in->mutate)
		return false;
	d->action = DECISION_MUTATE;
	d->completion = d->completion < 999 ? d->completion : 999;
	d->should_continue = true;
	reason(d, "every rule holds; changing the agent's lines to see which checks notice");
	return true;
}

/* A reviewer and an agent that never agree need a person. */
static bool disagree(const struct decision_input *in, struct decision *d)
{
	const struct decision_review *r = &in->review;

	if (!d->review_rounds || !r->most_rounds || d->review_rounds < r->most_rounds)
		return false;
	d->action = DECISION_PAUSE;
	reason(d,
	       "every rule holds, but the reviewer still has blocking findings in round %" PRIu32
	       " of %" PRIu32 " (see: ringfence history); to let the agent try again: ringfence "
	       "resume (change the limit with --review-rounds)",
	       d->review_rounds, r->most_rounds);
	return true;
}

/*
 * Does the agent wait for a person? It is repeated once the person has acted, as if it had not run:
 * what it was to be told next stays the same.
 */
static bool waits_for_person(const struct decision_input *in, struct decision *d)
{
	int size;

	if (!d->blocked || !in->blocked)
		return false;
	size = (int)text_first(in->blocked, strlen(in->blocked), DECISION_BLOCKED_BYTES);
	d->action = DECISION_PAUSE;
	d->findings_told = in->findings_told;
	d->pins_told = in->pins_told;
	reason(d, "blocked: \"%.*s%s\" (to answer: ringfence answer TEXT)", size, in->blocked,
	       in->blocked[size] ? " [...]" : "");
	return true;
}

/* The agent gets one chance to make the checks pass without its changes to pinned files. */
static bool pins_pause(const struct decision_input *in, struct decision *d)
{
	d->pins_told = in->checks_own > 0 &&
		       failure_checks_held(&in->facts) + in->checks_own == in->facts.checks;
	if (!d->pins_told || !in->pins_told)
		return false;
	d->action = DECISION_PAUSE;
	reason(d,
	       "the checks pass only with the agent's version of pinned files (see: ringfence diff); "
	       "to check with it: ringfence resume --unpin PATH");
	return true;
}

/* A hidden check fails. The agent learns no more than that, and not too often. */
static bool final_pauses(const struct decision_input *in, struct decision *d)
{
	if (!in->final_failed || !in->final_tries || d->final_failures < in->final_tries)
		return false;
	d->action = DECISION_PAUSE;
	reason(d,
	       "everything else holds, but final checks have failed %" PRIu32
	       " time%s (see: ringfence logs --checks); to allow more failures in all: ringfence "
	       "resume --final-tries NUMBER",
	       d->final_failures, d->final_failures == 1 ? "" : "s");
	return true;
}

static void weigh_evidence(const struct decision_input *in, struct decision *d)
{
	const struct confidence_evidence evidence = {
		.checks = in->facts.checks,
		.checks_held = failure_checks_held(&in->facts),
		.tests_passed = in->tests_passed,
		.tests_failed = in->tests_failed,
		.boxes_open = in->boxes.open,
		.boxes_ticked = in->boxes.ticked,
		.promise_wanted = in->rules.promise,
		.promised = in->promised,
	};

	d->confidence = confidence_estimate(&evidence);
	d->completion = confidence_completion(&evidence);
}

/* Do more boxes, checks or tests hold than ever before? */
static bool has_results(const struct decision *d)
{
	return d->progress.boxes || d->progress.checks || d->progress.tests;
}

static void measure_progress(const struct decision_input *in, struct decision *d)
{
	if (in->facts.interrupted)
		return;
	d->progressed = progress_made(&in->snapshot, in->earlier, in->earlier_count, &d->progress);
	if (in->limits.results_only)
		d->progressed = has_results(d);
}

/* Feeds the breakers and counts the iteration. */
static void count_iteration(const struct decision_input *in, struct decision *d)
{
	bool error = response(d->failure) == FAILURE_COUNT_ERROR;
	bool failed = error || d->failure == FAILURE_CHECK_FAILED;
	const struct breaker_outcome outcome = {
		.error = error,
		.progress = d->progressed,
		.interrupted = in->facts.interrupted,
		/* A check may keep failing while more and more of its tests pass. */
		.signature = failed && !has_results(d) ? in->signature : 0,
	};

	if (was_kept_from_work(d->failure) || d->blocked)
		return;
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_feed(&d->breakers[i], &outcome, in->now);
	if (in->facts.interrupted)
		return;
	d->counts_as_iteration = true;
	d->iterations += d->iterations < UINT32_MAX;
}

/* Climbs to a stronger agent after iterations without progress, and down again after progress. */
static void choose_level(const struct decision_input *in, struct decision *d)
{
	const struct decision_agents *agents = &in->agents;

	if (!d->counts_as_iteration)
		return;
	d->stalled = d->progressed ? 0 : agents->stalled + 1;
	if (d->progressed && agents->level) {
		d->level = agents->level - 1;
	} else if (agents->climb_after && d->stalled >= agents->climb_after &&
		   agents->level < agents->rungs) {
		d->level = agents->level + 1;
		d->stalled = 0;
	}
}

/* Makes way for the next phase, which starts afresh. */
static void leave_phase(struct decision *d)
{
	d->next_phase = true;
	d->level = d->stalled = 0;
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_reset(&d->breakers[i]);
}

/* A limit of the phase, which is not one of the loop. */
static bool phase_limited(const struct decision_input *in, struct decision *d)
{
	const struct phase_facts *phase = &in->phase;
	struct phase_facts now = *phase;
	char text[DECISION_REASON_SIZE / 2];

	now.iterations += d->counts_as_iteration;
	if (d->next_phase || !phase_is_limited(&now, text, sizeof text))
		return false;
	if (phase->skips && phase->next) {
		leave_phase(d);
		reason(d, "%s; next phase: '%.100s'", text, phase->next);
		return true;
	}
	d->action = phase->skips ? DECISION_LIMIT : DECISION_PAUSE;
	if (phase->next)
		reason(d,
		       "%s; for another try: ringfence resume; for the next phase, '%.100s': ringfence "
		       "resume --next-phase",
		       text, phase->next);
	else
		reason(d, "%s; for another try: ringfence resume", text);
	return true;
}

static void init_decision(const struct decision_input *in, struct decision *d)
{
	*d = (struct decision){ .action = DECISION_GO_ON,
				.iterations = in->iterations,
				.level = in->agents.level,
				.stalled = in->agents.stalled,
				.warned = in->warned,
				.final_failures = in->final_failures + in->final_failed };
	memcpy(d->breakers, in->breakers, sizeof d->breakers);
	weigh_evidence(in, d);
}

/* A failing check is reported on its own. If all checks pass, say why the loop continues. */
static const char *unfinished(const struct decision_input *in, bool done)
{
	const struct failure_facts *f = &in->facts;

	if (done && in->unread)
		return "every rule holds, but the agent has not read yet what you told it";
	if (in->phase.next)
		return "the phase is not over yet";
	if (in->final_failed)
		return "everything else holds, but a final check fails";
	if (in->review.blocking)
		return "every rule holds, but the reviewer has blocking findings";
	if (in->findings_stop)
		return "the changes weaken the checks (see: ringfence diff --findings)";
	if (f->interrupted || failure_checks_held(f) < f->checks || !in->rules.promise ||
	    in->promised)
		return in->phase.name && !in->phase.held ? "the last phase is not over yet"
							 : "not done yet";
	return f->checks > 0 ? "the checks pass, but the agent did not end with the promise"
			     : "the agent did not end with the promise";
}

static void explain_level(const struct decision_input *in, struct decision *d)
{
	const struct decision_agents *agents = &in->agents;

	if (d->action != DECISION_GO_ON || d->level == agents->level)
		return;
	if (d->level > agents->level)
		reason(d,
		       "%" PRIu32
		       " iteration%s without progress: climbing to %s (--escalate-after)",
		       agents->climb_after, agents->climb_after == 1 ? "" : "s",
		       agents->names[agents->count + d->level - 1]);
	else
		reason(d, "progress: back to %s",
		       agents->names[d->level ? agents->count + d->level - 1 : 0]);
}

/* Adds why the iteration ended as it did, and what is missing. */
static void explain(const struct decision_input *in, struct decision *d)
{
	const struct failure_row *row = failure_row(d->failure);
	struct decision missing = { 0 };

	if (d->failure == FAILURE_RUNAWAY && in->unreached)
		reason(d, "%s: %s", row->what, in->unreached);
	else if (response(d->failure) == FAILURE_COUNT_ERROR)
		reason(d, "%s: %s", row->what, row->remedy);
	else if (d->failure != FAILURE_NONE)
		reason(d, "the iteration ended with: %s", row->name);
	if (d->failure == FAILURE_DENIAL)
		reason(d, "the fence denied %" PRIu32 " operation%s right before",
		       in->facts.denials, in->facts.denials == 1 ? "" : "s");
	if (in->policy_why)
		reason(d, "the gateway refused a request to a model, and the agent went on: %s",
		       in->policy_why);
	if (in->facts.interrupted)
		reason(d, "the iteration was interrupted and will be repeated");
	if (in->unread && !d->should_continue)
		reason(d, "the agent has not read yet what you told it");
	rules_hold(in, &missing);
	for (uint32_t i = 0; i < missing.reason_count; i++)
		reason(d, "%s", missing.reasons[i]);
	if (!d->next_phase)
		explain_level(in, d);
	if (d->progress.oscillates)
		reason(d, "the files alternate between two states, which is not progress");
	warn_of_breakers(in, d);
}

void decision_make(const struct decision_input *input, struct decision *ret_decision)
{
	struct decision *d = ret_decision;
	struct decision proof = { 0 };

	init_decision(input, d);
	d->failure = input->facts.interrupted ? FAILURE_NONE : failure_of(&input->facts);

	bool ended = !input->facts.interrupted && worked(input, d->failure);
	bool over = ended && !input->findings_stop &&
		    phase_is_over(&input->phase, rules_hold(input, &(struct decision){ 0 }));
	bool done = ended && rules_hold(input, &proof) &&
		    (!input->phase.name || (over && !input->phase.next));
	bool weakened = input->findings_stop + input->findings_review > 0;
	bool disputed = done && !weakened && input->review.given && input->review.blocking > 0;
	bool accepted = done && !weakened && !input->final_failed && !input->unread;

	d->blocked = ended && !was_kept_from_work(d->failure) && input->blocked &&
		     (!done || input->final_failed || disputed);
	measure_progress(input, d);
	count_iteration(input, d);
	choose_level(input, d);
	d->review_rounds = input->review.rounds + disputed;
	if (accepted && mutates(input, d))
		return;
	if (accepted && lacks_opinion(input, d)) {
		d->completion = d->completion < 999 ? d->completion : 999;
		d->should_continue = d->action == DECISION_REVIEW || d->action == DECISION_WAIT;
		return;
	}
	if (accepted && !disputed) {
		d->action = DECISION_DONE;
		d->completion = 1000;
		reason(d, "every rule holds");
		for (uint32_t i = 0; i < proof.reason_count; i++)
			reason(d, "%s", proof.reasons[i]);
		if (input->phase.name)
			reason(d, "the last phase, '%.100s', is over", input->phase.name);
		if (input->review.given)
			reason(d, "the reviewer has no blocking findings");
		return;
	}
	d->completion = d->completion < 999 ? d->completion : 999;
	if (over && input->phase.next && !d->blocked)
		leave_phase(d);
	if (!waits_for_person(input, d) && !findings_pause(input, d, done) &&
	    !pins_pause(input, d) && !final_pauses(input, d) && !(disputed && disagree(input, d)) &&
	    !limit_reached(input, d) && !stops_early(input, d) && !breaker_open(input, d) &&
	    !needs_person(input, d) && !must_wait(input, d) && !phase_limited(input, d) &&
	    !cost_pauses(input, d) && d->reason_count == 0 && !d->next_phase)
		reason(d, "%s", unfinished(input, done));
	if (over && d->next_phase)
		reason(d, "the phase '%.100s' is over; next: '%.100s'", input->phase.name,
		       input->phase.next);
	d->should_continue = d->action == DECISION_GO_ON || d->action == DECISION_WAIT;
	explain(input, d);
}

void decision_before(const struct decision_input *input, struct decision *ret_decision)
{
	struct decision *d = ret_decision;

	init_decision(input, d);
	d->waits = input->waits;
	if (!limit_reached(input, d) && !breaker_open(input, d) && !phase_limited(input, d) &&
	    !cost_pauses(input, d) && d->reason_count == 0)
		reason(d, "no limit is reached");
	d->should_continue = d->action == DECISION_GO_ON;
	warn_of_breakers(input, d);
}

const char *decision_action_name(enum decision_action action)
{
	static const char *const names[] = {
		[DECISION_DONE] = "done",     [DECISION_MUTATE] = "mutate",
		[DECISION_REVIEW] = "review", [DECISION_GO_ON] = "go on",
		[DECISION_WAIT] = "wait",     [DECISION_PAUSE] = "pause",
		[DECISION_LIMIT] = "limit",   [DECISION_FAILED] = "failed",
	};

	_Static_assert(sizeof names / sizeof names[0] == DECISION_ACTIONS,
		       "every action has a name");
	return action < DECISION_ACTIONS ? names[action] : "unknown";
}
