/* The decision: see decision.h. */
#include "decision/decision.h"

#include "decision/decision_done.h"
#include "decision/decision_limit.h"
#include "decision/decision_pause.h"
#include "decision/decision_reason.h"
#include "decision/decision_wait.h"

#include <inttypes.h>
#include <string.h>

static void leave_incomplete(struct decision *d)
{
	d->completion = d->completion < 999 ? d->completion : 999;
}

/* Starts the mutants, unless they have been tried or are not wanted. */
static bool mutates(const struct decision_input *in, struct decision *d)
{
	if (!in->mutate)
		return false;
	d->action = DECISION_MUTATE;
	leave_incomplete(d);
	d->should_continue = true;
	decision_reason_add(
		d, "every rule holds; changing the agent's lines to see which checks notice");
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
	bool error = failure_row(d->failure)->response == FAILURE_COUNT_ERROR;
	bool failed = error || d->failure == FAILURE_CHECK_FAILED;
	const struct breaker_outcome outcome = {
		.error = error,
		.progress = d->progressed,
		.interrupted = in->facts.interrupted,
		/* A check may keep failing while more and more of its tests pass. */
		.signature = failed && !has_results(d) ? in->signature : 0,
	};

	if (decision_done_kept(d->failure) || d->blocked)
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

static void explain_level(const struct decision_input *in, struct decision *d)
{
	const struct decision_agents *agents = &in->agents;

	if (d->action != DECISION_GO_ON || d->level == agents->level)
		return;
	if (d->level > agents->level)
		decision_reason_add(
			d,
			"%" PRIu32
			" iteration%s without progress: climbing to %s (--escalate-after)",
			agents->climb_after, agents->climb_after == 1 ? "" : "s",
			agents->names[agents->count + d->level - 1]);
	else
		decision_reason_add(d, "progress: back to %s",
				    agents->names[d->level ? agents->count + d->level - 1 : 0]);
}

/* Adds why the iteration ended as it did, and what is missing. */
static void explain(const struct decision_input *in, struct decision *d)
{
	const struct failure_row *row = failure_row(d->failure);
	struct decision missing = { 0 };

	if (d->failure == FAILURE_RUNAWAY && in->unreached)
		decision_reason_add(d, "%s: %s", row->what, in->unreached);
	else if (failure_row(d->failure)->response == FAILURE_COUNT_ERROR)
		decision_reason_add(d, "%s: %s", row->what, row->remedy);
	else if (d->failure != FAILURE_NONE)
		decision_reason_add(d, "the iteration ended with: %s", row->name);
	if (d->failure == FAILURE_DENIAL)
		decision_reason_add(d, "the fence denied %" PRIu32 " operation%s right before",
				    in->facts.denials, in->facts.denials == 1 ? "" : "s");
	if (in->policy_why)
		decision_reason_add(
			d, "the gateway refused a request to a model, and the agent went on: %s",
			in->policy_why);
	if (in->facts.interrupted)
		decision_reason_add(d, "the iteration was interrupted and will be repeated");
	if (in->unread && !d->should_continue)
		decision_reason_add(d, "the agent has not read yet what you told it");
	decision_done_rules(in, &missing);
	for (uint32_t i = 0; i < missing.reason_count; i++)
		decision_reason_add(d, "%s", missing.reasons[i]);
	if (!d->next_phase)
		explain_level(in, d);
	if (d->progress.oscillates)
		decision_reason_add(
			d, "the files alternate between two states, which is not progress");
	decision_limit_warn(in, d);
}

/* How far the work is. */
struct standing {
	bool ended;    /* the agent has worked */
	bool over;     /* the phase is over */
	bool done;     /* the rules hold, in the last phase */
	bool accepted; /* and nothing but a reviewer may speak against that */
	bool disputed; /* the reviewer does */
};

/* Returns how far the work is, with the reasons in *proof. */
static struct standing find_standing(const struct decision_input *in, const struct decision *d,
				     struct decision *proof)
{
	bool weakened = in->findings_stop + in->findings_review > 0;
	struct standing s = { .ended = !in->facts.interrupted &&
				       decision_done_worked(in, d->failure) };
	bool hold = s.ended && decision_done_rules(in, proof);

	s.over = s.ended && !in->findings_stop && phase_is_over(&in->phase, hold);
	s.done = hold && (!in->phase.name || (s.over && !in->phase.next));
	s.accepted = s.done && !weakened && !in->final_failed && !in->unread;
	s.disputed = s.done && !weakened && in->review.given && in->review.blocking > 0;
	return s;
}

/* Does it count that the agent says that it is blocked? */
static bool is_blocked(const struct decision_input *in, const struct decision *d,
		       const struct standing *s)
{
	return s->ended && !decision_done_kept(d->failure) && in->blocked &&
	       (!s->done || in->final_failed || s->disputed);
}

/* Asks for the opinion that is missing, if so. */
static bool asks_reviewer(const struct decision_input *in, struct decision *d)
{
	if (!decision_pause_opinion(in, d))
		return false;
	leave_incomplete(d);
	d->should_continue = d->action == DECISION_REVIEW || d->action == DECISION_WAIT;
	return true;
}

static void finish(const struct decision_input *in, struct decision *d,
		   const struct decision *proof)
{
	d->action = DECISION_DONE;
	d->completion = 1000;
	decision_reason_add(d, "every rule holds");
	for (uint32_t i = 0; i < proof->reason_count; i++)
		decision_reason_add(d, "%s", proof->reasons[i]);
	if (in->phase.name)
		decision_reason_add(d, "the last phase, '%.100s', is over", in->phase.name);
	if (in->review.given)
		decision_reason_add(d, "the reviewer has no blocking findings");
}

/* Applies the rules for work that is not done; the first one decides. */
static void go_on(const struct decision_input *in, struct decision *d, const struct standing *s)
{
	leave_incomplete(d);
	if (s->over && in->phase.next && !d->blocked)
		decision_limit_leave_phase(d);
	if (!decision_pause_blocked(in, d) && !decision_pause_findings(in, d, s->done) &&
	    !decision_pause_pins(in, d) && !decision_pause_final(in, d) &&
	    !(s->disputed && decision_pause_review(in, d)) && !decision_limit_reached(in, d) &&
	    !decision_limit_early(in, d) && !decision_limit_breakers(in, d) &&
	    !decision_pause_failure(in, d) && !decision_wait_begin(in, d) &&
	    !decision_limit_phase(in, d) && !decision_limit_cost(in, d) && d->reason_count == 0 &&
	    !d->next_phase)
		decision_reason_add(d, "%s", decision_done_unfinished(in, s->done));
	if (s->over && d->next_phase)
		decision_reason_add(d, "the phase '%.100s' is over; next: '%.100s'", in->phase.name,
				    in->phase.next);
	d->should_continue = d->action == DECISION_GO_ON || d->action == DECISION_WAIT;
	explain(in, d);
}

void decision_make(const struct decision_input *input, struct decision *ret_decision)
{
	struct decision *d = ret_decision;
	struct decision proof = { 0 };
	struct standing s;

	init_decision(input, d);
	d->failure = input->facts.interrupted ? FAILURE_NONE : failure_of(&input->facts);
	s = find_standing(input, d, &proof);
	d->blocked = is_blocked(input, d, &s);
	measure_progress(input, d);
	count_iteration(input, d);
	choose_level(input, d);
	d->review_rounds = input->review.rounds + s.disputed;
	if (s.accepted && (mutates(input, d) || asks_reviewer(input, d)))
		return;
	if (s.accepted && !s.disputed)
		finish(input, d, &proof);
	else
		go_on(input, d, &s);
}

void decision_before(const struct decision_input *input, struct decision *ret_decision)
{
	struct decision *d = ret_decision;

	init_decision(input, d);
	d->waits = input->waits;
	if (!decision_limit_reached(input, d) && !decision_limit_breakers(input, d) &&
	    !decision_limit_phase(input, d) && !decision_limit_cost(input, d) &&
	    d->reason_count == 0)
		decision_reason_add(d, "no limit is reached");
	d->should_continue = d->action == DECISION_GO_ON;
	decision_limit_warn(input, d);
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
