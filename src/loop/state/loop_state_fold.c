/* The effect of each event on the state of a loop: see loop_state.h. */
#include "loop/state/loop_state.h"

#include "loop/state/loop_accepted.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records how the last run was fenced. */
static void read_fence(struct loop_state *state, const json_t *data)
{
	const char *mechanism = jsonget_string(data, "mechanism");

	snprintf(state->mechanism, sizeof state->mechanism, "%s", mechanism ? mechanism : "");
	state->weaker = (uint32_t)jsonget_number(data, "weaker");
	state->weaker_limits = (uint32_t)jsonget_number(data, "weaker_limits");
}

static int fold_checked(struct loop_state *state, const json_t *data, struct error *err)
{
	size_t index = (size_t)jsonget_number(data, "index");
	const char *signature = jsonget_string(data, "signature");
	const json_t *own = json_object_get(data, "own");
	struct loop_state_check *check;

	if (index != state->checks_done || index >= state->options.checks.count)
		return error_set(err, "the journal has a result of a check that is not configured");
	check = &state->checks[index];
	mem_replace(&check->excerpt, jsonget_string(data, "excerpt"));
	check->ran = true;
	check->code = (int)jsonget_number(data, "code");
	check->passed = jsonget_flag(data, "passed");
	check->vacuous = jsonget_flag(data, "vacuous");
	check->counted = jsonget_flag(data, "counted");
	check->summary = jsonget_flag(data, "summary");
	check->total = jsonget_number(data, "total");
	mem_replace(&check->unproven, jsonget_string(data, "unproven"));
	check->duration_ms = jsonget_number(data, "duration_ms");
	check->tests_passed = jsonget_number(data, "tests_passed");
	check->tests_failed = jsonget_number(data, "tests_failed");
	check->signature = signature ? strtoull(signature, NULL, 16) : 0;
	check->again = state->step == LOOP_STEP_checks;
	check->iteration = state->iteration;
	check->attempt = state->attempt;
	check->own = own;
	check->own_held = own && jsonget_flag(own, "passed") && !jsonget_flag(own, "vacuous");
	state->checks_done++;
	read_fence(state, data);
	return 0;
}

static void read_baseline(struct loop_state *state)
{
	for (size_t i = 0; i < state->options.checks.count; i++) {
		struct loop_state_check *check = &state->checks[i];

		check->held_before = check->passed && !check->vacuous;
		check->summary_before = check->summary;
		check->total_before = check->total;
		check->signature_before = check->signature;
	}
}

/* An id that can be passed on safely; any other is ignored. */
static bool is_session(const char *session)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._:-";
	size_t size = strlen(session);

	return size > 0 && size <= LOOP_SESSION_BYTES && session[0] != '-' &&
	       strspn(session, allowed) == size;
}

static void add_to(int64_t *sum, int64_t part)
{
	if (part > 0)
		*sum = *sum > INT64_MAX - part ? INT64_MAX : *sum + part;
}

static void add_use(struct agent_totals *use, const json_t *data)
{
	const json_t *tokens = json_object_get(data, "tokens");

	/* The agent continues from its own count. */
	add_to(&use->cost_nusd,
	       jsonget_number(data, json_object_get(data, "agent_cost_nusd") ? "agent_cost_nusd"
									     : "cost_nusd"));
	add_to(&use->tokens.input, jsonget_number(tokens, "input"));
	add_to(&use->tokens.output, jsonget_number(tokens, "output"));
	add_to(&use->tokens.cache_read, jsonget_number(tokens, "cache_read"));
	add_to(&use->tokens.cache_write_5m, jsonget_number(tokens, "cache_write_5m"));
	add_to(&use->tokens.cache_write_1h, jsonget_number(tokens, "cache_write_1h"));
	add_to(&use->tokens.reasoning, jsonget_number(tokens, "reasoning"));
}

static void add_cost(struct loop_state *state, const json_t *data)
{
	add_to(&state->spent_nusd, jsonget_number(data, "cost_nusd"));
	add_to(&state->phase.spent_nusd, jsonget_number(data, "cost_nusd"));
	add_to(&state->phase.sums[state->phase.at].spent_nusd, jsonget_number(data, "cost_nusd"));
	add_to(&state->estimated_nusd, jsonget_number(data, "estimated_nusd"));
}

/* Adds the agent's cost and its session. */
static void read_heard(struct loop_state *state, const json_t *data)
{
	const char *session = jsonget_string(data, "session");

	add_cost(state, data);
	if (!session || !is_session(session))
		return;
	if (!state->session || strcmp(state->session, session) != 0)
		state->session_use = (struct agent_totals){ 0 };
	mem_replace(&state->session, session);
	add_use(&state->session_use, data);
}

static void forget_session(struct loop_state *state)
{
	mem_replace(&state->session, NULL);
	state->session_use = (struct agent_totals){ 0 };
}

static void fold_held_out(struct loop_state *state, const json_t *data)
{
	state->finals_done++;
	state->final_failed = state->final_failed || !jsonget_flag(data, "passed") ||
			      jsonget_flag(data, "vacuous");
}

/* Keeps the first failure, for the next prompt. */
static void fold_probed(struct loop_state *state, const json_t *data)
{
	struct loop_state_phase *phase = &state->phase;
	bool failed = !jsonget_flag(data, "passed") || jsonget_flag(data, "vacuous");

	phase->checks_done++;
	if (failed && !phase->check_failed) {
		mem_replace(&phase->failed, jsonget_string(data, "command"));
		mem_replace(&phase->output, jsonget_string(data, "excerpt"));
	}
	phase->check_failed = phase->check_failed || failed;
}

/* The final checks, and those of a phase, run again after the others. */
static void forget_finals(struct loop_state *state)
{
	state->phase.checks_done = 0;
	state->phase.check_failed = false;
	mem_replace(&state->phase.failed, NULL);
	mem_replace(&state->phase.output, NULL);
	state->finals_done = 0;
	state->final_failed = false;
}

/* Other work has other mutants. */
static void forget_mutants(struct loop_state *state)
{
	json_decref(state->mutants.untested);
	free(state->mutants.why);
	state->mutants = (struct loop_state_mutants){ 0 };
}

static void fold_ended(struct loop_state *state, const json_t *data)
{
	forget_finals(state);
	forget_mutants(state);
	state->settled_before = state->settled;
	state->settled = loop_state_period(state);
	state->facts = loop_state_facts(data);
	read_heard(state, data);
	/* In the same session, the next agent would do the same, or meet the same limit. */
	if (state->facts.reported == FAILURE_RUNAWAY || state->facts.reported == FAILURE_TOO_LONG)
		forget_session(state);
	mem_replace(&state->final, jsonget_string(data, "final"));
	mem_replace(&state->unreached, jsonget_string(data, "unreached"));
	mem_replace(&state->policy_why, jsonget_string(data, "policy_why"));
	/* A gap remains a gap, even if recording resumes. */
	if (jsonget_string(data, "not_recorded"))
		mem_replace(&state->not_recorded, jsonget_string(data, "not_recorded"));
	state->checks_done = 0;
	read_fence(state, data);
}

static void reset_breakers(struct loop_state *state)
{
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_reset(&state->breakers[i]);
}

/*
 * Reads a decision, by the rules or by the user. A wish survives until it is granted: a pause for
 * another reason does not cancel an abort.
 */
static void fold_decision(struct loop_state *state, const json_t *data)
{
	loop_state_read_verdict(state, data);
	read_heard(state, data);
	state->wait_until_ms = jsonget_number(data, "until_ms");
	state->fence_failed = jsonget_flag(data, "fence_failed");
	state->refused = jsonget_flag(data, "refused");
	mem_replace(&state->blocked, jsonget_string(data, "blocked"));
	mem_replace(&state->reason, jsonget_string(data, "reason"));
	mem_replace(&state->status, jsonget_string(data, "status"));
}

/* If the loop was closed first, the decision has been read; only its reason may differ. */
static void fold_finished(struct loop_state *state, const json_t *data)
{
	if (state->step != LOOP_STEP_closing)
		fold_decision(state, data);
	state->wish = LOOP_WISH_NONE;
	mem_replace(&state->reason, jsonget_string(data, "reason"));
	mem_replace(&state->status, jsonget_string(data, "status"));
	mem_replace(&state->uncommitted, jsonget_string(data, "uncommitted"));
	json_decref(state->closing);
	state->closing = NULL;
}

static void fold_asked(struct loop_state *state, const json_t *data)
{
	const char *wish = jsonget_string(data, "wish");

	if (wish && strcmp(wish, "reset") != 0)
		mem_replace(&state->wish_why, NULL); /* the user's wish wins */
	if (wish && strcmp(wish, "reset") == 0)
		reset_breakers(state);
	else if (wish && strcmp(wish, "abort") == 0)
		state->wish = LOOP_WISH_ABORT;
	else if (wish && strcmp(wish, "pause") == 0 && state->wish == LOOP_WISH_NONE)
		state->wish = LOOP_WISH_PAUSE;
}

/* The supervisor accepts no more than there is room for. */
static void fold_told(struct loop_state *state, const json_t *data)
{
	if (state->told_count < TOLD_MOST)
		state->told[state->told_count++] =
			(struct loop_state_told){ .text = mem_dup(jsonget_text(data, "text")) };
}

static void fold_baselined(struct loop_state *state, const json_t *data)
{
	read_baseline(state);
	loop_state_read_snapshot(state, json_object_get(data, "snapshot"));
	state->final_failures += state->final_failed; /* of a merge: its agent is told so */
}

/* A new attempt has its own opinions; the last findings stand until then. */
static void begin_attempt(struct loop_state *state, const json_t *data)
{
	state->iteration = (uint32_t)jsonget_number(data, "iteration");
	state->attempt = (uint32_t)jsonget_number(data, "attempt");
	state->review.runs = state->review.unanswered = 0;
	state->review.given = false;
}

static void fold_begun(struct loop_state *state, const json_t *data)
{
	uint32_t agent = jsonget_index(data, "part", state->options.part_count);

	begin_attempt(state, data);
	if (agent != state->agent)
		forget_session(state); /* of another agent */
	state->agent = agent;
	state->review.changed = 0;
	state->recheck = state->only_findings = false;
	state->restored = false;
	for (size_t i = 0; i < state->told_count; i++)
		state->told[i].given = true;
}

static void fold_rechecks(struct loop_state *state, const json_t *data)
{
	state->settled_before = state->settled;
	forget_finals(state);
	forget_mutants(state);
	begin_attempt(state, data);
}

static void fold_proved(struct loop_state *state, const json_t *data)
{
	state->proofs_done++;
	state->cannot_fail += !jsonget_flag(data, "noticed");
}

static void fold_mutating(struct loop_state *state, const json_t *data)
{
	(void)data;
	forget_mutants(state);
}

static void fold_mutant(struct loop_state *state, const json_t *data)
{
	struct loop_state_mutants *mutants = &state->mutants;
	const char *result = jsonget_text(data, "result");

	mutants->done++;
	if (strcmp(result, "noticed") == 0)
		mutants->noticed++;
	else if (strcmp(result, "invalid") == 0)
		mutants->invalid++;
	else
		mutants->survived++;
	if (!json_object_get(data, "finding"))
		return;
	if (!mutants->untested)
		mutants->untested = json_array();
	json_array_append_new(mutants->untested, json_deep_copy(json_object_get(data, "finding")));
}

static void fold_mutated(struct loop_state *state, const json_t *data)
{
	state->mutants.tried = true;
	mem_replace(&state->mutants.why, jsonget_string(data, "why"));
}

static void fold_reviewing(struct loop_state *state, const json_t *data)
{
	state->review.runs++;
	state->review.given = false;
	state->review.changed = (uint32_t)jsonget_number(data, "changed");
}

/* Says why a reviewer had no opinion; the caller frees it. */
static char *no_opinion(const json_t *data, enum failure failure)
{
	const char *unreadable = jsonget_string(data, "unreadable");
	const char *limit = jsonget_string(data, "limit");
	const char *what = failure_row(failure)->what;

	if (unreadable)
		return mem_format("its answer could not be read: %s", unreadable);
	return mem_format("%s%s%s%s", what ? what : "it said nothing", limit ? " (" : "",
			  limit ? limit : "", limit ? ")" : "");
}

/* A reviewer that was cut off has said nothing. Its files may have changed since: the checks run
 * again before the next one. */
static void fold_reviewed(struct loop_state *state, const json_t *data)
{
	struct loop_state_review *review = &state->review;
	const json_t *findings = json_object_get(data, "findings");

	add_cost(state, data);
	add_to(&review->spent_nusd, jsonget_number(data, "cost_nusd"));
	if (jsonget_flag(data, "lost")) {
		state->checks_done = 0;
		forget_finals(state);
		return;
	}
	state->settled = loop_state_period(state);
	read_fence(state, data);
	review->failure = loop_state_failure(data);
	review->reset_at = jsonget_number(data, "reset_at");
	review->given = json_is_array(findings);
	mem_replace(&review->unreached, jsonget_string(data, "unreached"));
	free(review->why);
	review->why = review->given ? NULL : no_opinion(data, review->failure);
	review->unanswered += !review->given;
	if (!review->given)
		return;
	json_decref(review->findings);
	review->findings = json_deep_copy(findings);
}

static void fold_interrupted(struct loop_state *state, const json_t *data)
{
	/* The iteration is repeated, even if only its checks were cut off. */
	if (state->settled >> LOOP_PERIOD_RUNS == loop_state_period(state) >> LOOP_PERIOD_RUNS)
		state->settled = state->settled_before;
	fold_decision(state, data);
}

static void fold_paused(struct loop_state *state, const json_t *data)
{
	fold_decision(state, data);
	if (state->wish == LOOP_WISH_PAUSE)
		state->wish = LOOP_WISH_NONE;
}

/* A loop that has ended is closed again after a rollback; nothing else changes. */
static void fold_closing(struct loop_state *state, const json_t *data)
{
	if (state->step != LOOP_STEP_finished)
		fold_decision(state, data);
	json_decref(state->closing);
	state->closing = json_deep_copy(data);
}

static void fold_resumed(struct loop_state *state, const json_t *data)
{
	(void)data;
	mem_replace(&state->uncommitted, NULL);
	mem_replace(&state->reason, NULL);
	mem_replace(&state->status, NULL);
	mem_replace(&state->blocked, NULL);
	state->wish = LOOP_WISH_NONE;
	state->fence_failed = false;
	state->refused = false;
	state->review.rounds = 0;
	state->phase.used = 0;
	state->phase.spent_nusd = 0;
	reset_breakers(state);
}

/* If nothing else is missing, the last iteration is judged again, and needs no agent. */
static void accept_findings(struct loop_state *state)
{
	loop_accepted_add(&state->accepted, state->findings);
	loop_accepted_add(&state->accepted, state->mutants.untested);
	if (state->only_findings && !state->recheck && state->used) {
		state->recheck = true;
		state->used--;
	}
}

static void fold_changed(struct loop_state *state, const json_t *data)
{
	if (json_object_get(data, "warn_cost_nusd"))
		state->warned = false; /* nobody was warned about this level */
	if (jsonget_flag(data, "accept_findings"))
		accept_findings(state);
	if (jsonget_flag(data, "next_phase"))
		loop_state_next_phase(state);
	json_array_extend(json_object_get(state->config, "unpin"), json_object_get(data, "unpin"));
	loop_options_change(data, state);
	state->rested_ms += jsonget_number(data, "down_ms");
}

static void fold_started(struct loop_state *state, const json_t *data)
{
	state->supervisor = (pid_t)jsonget_number(data, "pid");
	state->rested_ms += jsonget_number(data, "down_ms");
}

/* If an examination failed, the last findings stand. */
static void fold_examined(struct loop_state *state, const json_t *data)
{
	if (jsonget_string(data, "error"))
		return;
	json_decref(state->findings);
	state->findings = json_deep_copy(json_object_get(data, "findings"));
	json_decref(state->pinned);
	state->pinned = json_deep_copy(json_object_get(data, "pinned"));
}

static void fold_checkpointed(struct loop_state *state, const json_t *data)
{
	const json_t *edited = json_object_get(data, "edited");

	mem_replace(&state->checkpoint_error, jsonget_string(data, "error"));
	if (edited) {
		free(state->edited);
		state->edited = json_dumps(edited, JSON_COMPACT);
	}
	if (state->checkpoint_error)
		return;
	state->checkpoint = jsonget_number(data, "number");
	if (strcmp(jsonget_text(data, "kind"), "start") == 0)
		state->start = state->checkpoint;
}

/* The state before the restore is also a checkpoint. */
static void fold_restored(struct loop_state *state, const json_t *data)
{
	state->checkpoint = jsonget_number(data, "saved");
	state->restored = true;
	state->restored_to = jsonget_number(data, "number");
}

static void fold_git(struct loop_state *state, const json_t *data)
{
	mem_replace(&state->git_mode, jsonget_string(data, "mode"));
	mem_replace(&state->git_why, jsonget_string(data, "why"));
}

static void fold_imported(struct loop_state *state, const json_t *data)
{
	mem_replace(&state->git_error, jsonget_string(data, "error"));
	list_release(&state->git_trouble);
	loop_state_git_trouble(data, &state->git_trouble);
	if (!jsonget_string(data, "ref"))
		return;
	mem_replace(&state->git_ref, jsonget_string(data, "ref"));
	mem_replace(&state->git_commit, jsonget_string(data, "commit"));
}

/* An event without an entry changes only the step. */
static void (*const folds[LOOP_EVENT_COUNT])(struct loop_state *state, const json_t *data) = {
	[LOOP_EVENT_started] = fold_started,
	[LOOP_EVENT_baselined] = fold_baselined,
	[LOOP_EVENT_begun] = fold_begun,
	[LOOP_EVENT_ended] = fold_ended,
	[LOOP_EVENT_rechecks] = fold_rechecks,
	[LOOP_EVENT_proved] = fold_proved,
	[LOOP_EVENT_mutating] = fold_mutating,
	[LOOP_EVENT_mutant] = fold_mutant,
	[LOOP_EVENT_mutated] = fold_mutated,
	[LOOP_EVENT_reviewing] = fold_reviewing,
	[LOOP_EVENT_reviewed] = fold_reviewed,
	[LOOP_EVENT_held_out] = fold_held_out,
	[LOOP_EVENT_probed] = fold_probed,
	[LOOP_EVENT_interrupted] = fold_interrupted,
	[LOOP_EVENT_continued] = fold_decision,
	[LOOP_EVENT_waits] = fold_decision,
	[LOOP_EVENT_paused] = fold_paused,
	[LOOP_EVENT_resumed] = fold_resumed,
	[LOOP_EVENT_asked] = fold_asked,
	[LOOP_EVENT_told] = fold_told,
	[LOOP_EVENT_alerted] = loop_state_fold_alerted,
	[LOOP_EVENT_changed] = fold_changed,
	[LOOP_EVENT_checkpointed] = fold_checkpointed,
	[LOOP_EVENT_examined] = fold_examined,
	[LOOP_EVENT_restored] = fold_restored,
	[LOOP_EVENT_git] = fold_git,
	[LOOP_EVENT_imported] = fold_imported,
	[LOOP_EVENT_closing] = fold_closing,
	[LOOP_EVENT_finished] = fold_finished,
};

static int fold_data(struct loop_state *state, enum loop_event event, const json_t *data,
		     struct error *err)
{
	if (event == LOOP_EVENT_created)
		return loop_options_read(json_object_get(data, "config"), state, err);
	if (event == LOOP_EVENT_checked)
		return fold_checked(state, data, err);
	state->quarantined += jsonget_number(data, "quarantined");
	if (folds[event])
		folds[event](state, data);
	return 0;
}

int loop_state_fold(struct loop_state *state, const struct journal_event *event, struct error *err)
{
	int kind = loop_event_find(event->kind);
	int next = kind < 0 ? -1 : loop_event_next(state->step, (enum loop_event)kind);
	json_t *data = json_loads(event->data, 0, NULL);
	int result = -1;

	if (!json_is_object(data))
		error_set(err, "event %lld of the journal is malformed", (long long)event->seq);
	else if (next < 0)
		error_set(err, "event %lld of the journal, '%s', is not legal in the step '%s'",
			  (long long)event->seq, event->kind, loop_event_step_name(state->step));
	else
		result = fold_data(state, (enum loop_event)kind, data, err);
	json_decref(data);
	if (result < 0)
		return -1;
	if ((int)state->step != next) {
		if (state->step == LOOP_STEP_paused || state->step == LOOP_STEP_finished)
			state->rested_ms += event->at_ms - state->step_ms;
		state->step_ms = event->at_ms;
		if (next != LOOP_STEP_checks && next != LOOP_STEP_mutants &&
		    next != LOOP_STEP_review)
			state->checks_done = 0;
	}
	if (kind == LOOP_EVENT_created)
		state->created_ms = event->at_ms;
	state->step = (enum loop_step)next;
	loop_state_forget_alerts(state, (enum loop_event)kind);
	state->last_seq = event->seq;
	return 0;
}
