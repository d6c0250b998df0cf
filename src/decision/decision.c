/* The decision: see decision.h. */
#include "decision/decision.h"

#include "decision/decision_done.h"
#include "decision/decision_limit.h"
#include "decision/decision_pause.h"
#include "decision/decision_reason.h"
#include "decision/decision_wait.h"

#include <inttypes.h>
#include <string.h>

/* Starts the mutants, unless they have been tried or are not wanted. */
static bool mutates(const struct decision_input *in, struct decision *d)
{
	if (!in->mutate)
		return false;
	d->action = DECISION_MUTATE;
	d->completion = d->completion < 999 ? d->completion : 999;
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

void decision_make(const struct decision_input *input, struct decision *ret_decision)
{
	struct decision *d = ret_decision;
	struct decision proof = { 0 };

	init_decision(input, d);
	d->failure = input->facts.interrupted ? FAILURE_NONE : failure_of(&input->facts);

	bool ended = !input->facts.interrupted && decision_done_worked(input, d->failure);
	bool over = ended && !input->findings_stop &&
		    phase_is_over(&input->phase,
				  decision_done_rules(input, &(struct decision){ 0 }));
	bool done = ended && decision_done_rules(input, &proof) &&
		    (!input->phase.name || (over && !input->phase.next));
	bool weakened = input->findings_stop + input->findings_review > 0;
	bool disputed = done && !weakened && input->review.given && input->review.blocking > 0;
	bool accepted = done && !weakened && !input->final_failed && !input->unread;

	d->blocked = ended && !decision_done_kept(d->failure) && input->blocked &&
		     (!done || input->final_failed || disputed);
	measure_progress(input, d);
	count_iteration(input, d);
	choose_level(input, d);
	d->review_rounds = input->review.rounds + disputed;
	if (accepted && mutates(input, d))
		return;
	if (accepted && decision_pause_opinion(input, d)) {
		d->completion = d->completion < 999 ? d->completion : 999;
		d->should_continue = d->action == DECISION_REVIEW || d->action == DECISION_WAIT;
		return;
	}
	if (accepted && !disputed) {
		d->action = DECISION_DONE;
		d->completion = 1000;
		decision_reason_add(d, "every rule holds");
		for (uint32_t i = 0; i < proof.reason_count; i++)
			decision_reason_add(d, "%s", proof.reasons[i]);
		if (input->phase.name)
			decision_reason_add(d, "the last phase, '%.100s', is over",
					    input->phase.name);
		if (input->review.given)
			decision_reason_add(d, "the reviewer has no blocking findings");
		return;
	}
	d->completion = d->completion < 999 ? d->completion : 999;
	if (over && input->phase.next && !d->blocked)
		decision_limit_leave_phase(d);
	if (!decision_pause_blocked(input, d) && !decision_pause_findings(input, d, done) &&
	    !decision_pause_pins(input, d) && !decision_pause_final(input, d) &&
	    !(disputed && decision_pause_review(input, d)) && !decision_limit_reached(input, d) &&
	    !decision_limit_early(input, d) && !decision_limit_breakers(input, d) &&
	    !decision_pause_failure(input, d) && !decision_wait_begin(input, d) &&
	    !decision_limit_phase(input, d) && !decision_limit_cost(input, d) &&
	    d->reason_count == 0 && !d->next_phase)
		decision_reason_add(d, "%s", decision_done_unfinished(input, done));
	if (over && d->next_phase)
		decision_reason_add(d, "the phase '%.100s' is over; next: '%.100s'",
				    input->phase.name, input->phase.next);
	d->should_continue = d->action == DECISION_GO_ON || d->action == DECISION_WAIT;
	explain(input, d);
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
