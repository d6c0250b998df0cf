/* The state of a loop: see loop_state.h. */
#include "loop/state/loop_state.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

void loop_state_init(struct loop_state *state)
{
	*state = (struct loop_state){ .step = LOOP_STEP_new, .checkpoint = -1 };
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_init(&state->breakers[i], (enum breaker_kind)i);
}

static void release_checks(struct loop_state *state)
{
	for (size_t i = 0; state->checks && i < state->options.checks.count; i++) {
		free(state->checks[i].excerpt);
		free(state->checks[i].unproven);
	}
	free(state->checks);
	state->checks = NULL;
}

void loop_state_release(struct loop_state *state)
{
	release_checks(state);
	list_release(&state->options.checks);
	json_decref(state->config);
	json_decref(state->closing);
	json_decref(state->findings);
	json_decref(state->pinned);
	json_decref(state->accepted);
	json_decref(state->mutants.untested);
	free(state->mutants.why);
	json_decref(state->review.findings);
	free(state->review.unreached);
	free(state->review.why);
	free(state->phase.failed);
	free(state->phase.output);
	free(state->final);
	free(state->unreached);
	free(state->policy_why);
	free(state->status);
	free(state->reason);
	free(state->checkpoint_error);
	free(state->edited);
	free(state->git_mode);
	free(state->git_why);
	free(state->git_ref);
	free(state->git_commit);
	free(state->git_error);
	list_release(&state->git_trouble);
	free(state->uncommitted);
	free(state->not_recorded);
	free(state->session);
	for (size_t i = 0; i < state->past_count; i++) {
		free(state->past[i].message);
		free(state->past[i].told);
	}
	for (size_t i = 0; i < state->told_count; i++)
		free(state->told[i].text);
	free(state->blocked);
	free(state->wish_why);
	loop_state_drop_alerts(state, ~0U);
	*state = (struct loop_state){ 0 };
}

const struct loop_part *loop_state_part(const struct loop_state *state)
{
	return state->step == LOOP_STEP_review ? &state->options.reviewer
					       : &state->options.agents[state->agent];
}

const struct loop_phase *loop_state_phase(const struct loop_state *state)
{
	return state->options.phase_count ? &state->options.phases[state->phase.at] : NULL;
}

static struct loop_phase_team agents_of(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);

	return phase ? phase->agents : (struct loop_phase_team){ 0, state->options.agent_count };
}

static struct loop_phase_team rungs_of(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	const struct loop_phase *phase = loop_state_phase(state);

	return phase ? phase->rungs
		     : (struct loop_phase_team){ options->agent_count, options->rung_count };
}

uint32_t loop_state_agent_at(const struct loop_state *state, uint32_t index)
{
	struct loop_phase_team agents = agents_of(state);

	return index < agents.count ? agents.first + index
				    : rungs_of(state).first + index - agents.count;
}

struct decision_agents loop_state_agents(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	struct decision_agents agents = {
		.count = agents_of(state).count,
		.rungs = rungs_of(state).count,
		.level = state->level,
		.stalled = state->stalled,
		.climb_after = options->climb_after,
		.patience_s = (options->patience_ms + 999) / 1000,
	};

	for (uint32_t i = 0; i < agents.count + agents.rungs; i++) {
		uint32_t at = loop_state_agent_at(state, i);

		agents.limited_until[i] = state->limited_ms[at] / 1000;
		agents.names[i] = loop_part_name(&options->agents[at]);
		if (at == state->agent)
			agents.current = i;
	}
	return agents;
}

/* Returns the budget of an iteration, by its own setting. */
static int64_t own_budget_nusd(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);

	if (loop_state_part(state)->review)
		return state->options.review_nusd;
	return loop_phase_tighter(state->options.budget_nusd, phase ? phase->budget_nusd : 0);
}

/* Returns what is left of the phase's limit, or -1 if there is none. At least a nano-dollar,
 * because 0 would be no limit. */
static int64_t phase_left_nusd(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);
	int64_t left;

	if (!phase || phase->cost_nusd <= 0)
		return -1;
	left = phase->cost_nusd - state->phase.spent_nusd;
	return left > 0 ? left : 1;
}

bool loop_state_budget_is_phase(const struct loop_state *state)
{
	int64_t own = own_budget_nusd(state);
	int64_t left = phase_left_nusd(state);

	return left >= 0 && (!own || left < own);
}

int64_t loop_state_budget_nusd(const struct loop_state *state)
{
	return loop_state_budget_is_phase(state) ? phase_left_nusd(state) : own_budget_nusd(state);
}

struct loop_budget_name loop_state_budget_name(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);
	int64_t own = own_budget_nusd(state);

	if (loop_state_budget_is_phase(state))
		return (struct loop_budget_name){ "this phase", "max-cost of the phase",
						  phase->cost_nusd };
	if (loop_state_part(state)->review)
		return (struct loop_budget_name){ "this review", "--review-budget", own };
	return (struct loop_budget_name){ "this iteration",
					  own == state->options.budget_nusd ? "--budget"
									    : "budget of the phase",
					  own };
}

uint64_t loop_state_period(const struct loop_state *state)
{
	return (uint64_t)state->iteration << 32 | (uint64_t)state->attempt << LOOP_PERIOD_RUNS |
	       state->review.runs;
}

struct failure_facts loop_state_facts(const json_t *data)
{
	return (struct failure_facts){
		.exit_code = (int)jsonget_number(data, "code"),
		.signal = (int)jsonget_number(data, "signal"),
		.timed_out = jsonget_flag(data, "timed_out"),
		.idle = jsonget_flag(data, "idle"),
		.denials = (uint32_t)jsonget_number(data, "denials_late"),
		.request_failed = jsonget_flag(data, "request_failed"),
		.output_bytes = (uint64_t)jsonget_number(data, "output_bytes"),
		.has_result = jsonget_flag(data, "finished"),
		.result_error = jsonget_flag(data, "finished") && !jsonget_flag(data, "ok"),
		.reported = failure_from_stream(jsonget_string(data, "error")),
		.reset_at = jsonget_number(data, "reset_at"),
	};
}

bool loop_state_protects_git(const struct loop_state *state)
{
	bool found = state->git_mode && strcmp(state->git_mode, "read-only") == 0;

	return state->options.draft && (!state->options.git || found);
}

bool loop_state_is_scripted(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;

	for (uint32_t i = 0; i < options->part_count; i++)
		if (strcmp(options->agents[i].agent, "command") != 0)
			return false;
	return !options->reviewer.command && state->spent_nusd == 0;
}

int loop_state_permits_tell(const struct loop_state *state, struct error *err)
{
	if (state->status && strcmp(state->status, "completed") == 0)
		return error_with(
			err, ERROR_REFUSED,
			"it is completed, and no agent will read it (for more work on its "
			"result: ringfence run --from)");
	if (state->told_count == TOLD_MOST)
		return error_with(err, ERROR_REFUSED,
				  "it has %d messages that no agent has worked with yet",
				  TOLD_MOST);
	return 0;
}

uint32_t loop_state_unread(const struct loop_state *state)
{
	uint32_t count = 0;

	for (size_t i = 0; i < state->told_count; i++)
		count += !state->told[i].given;
	return count;
}

enum failure loop_state_failure(const json_t *data)
{
	struct failure_facts facts = loop_state_facts(data);

	return failure_of(&facts);
}

void loop_state_git_trouble(const json_t *data, struct list *ret_trouble)
{
	size_t index;
	json_t *entry;

	*ret_trouble = (struct list){ 0 };
	json_array_foreach(json_object_get(data, "refused"), index,
			   entry) if (json_string_value(entry))
		list_printf(ret_trouble, "not imported: %s", json_string_value(entry));
	json_array_foreach(json_object_get(data, "trouble"), index,
			   entry) if (json_string_value(entry))
		list_add(ret_trouble, json_string_value(entry));
}

static int fold_event(void *context, const struct journal_event *event, struct error *err)
{
	return loop_state_fold(context, event, err);
}

int loop_state_read(struct journal *store, struct loop_state *ret_state, struct error *err)
{
	loop_state_init(ret_state);
	return journal_each(store, 0, fold_event, ret_state, err);
}

int loop_state_follow(struct journal *store, struct journal_mark *mark, struct loop_state *state,
		      struct error *err)
{
	return journal_follow(store, mark, fold_event, state, err);
}

const char *loop_state_status(const struct loop_state *state, bool alive)
{
	switch (state->step) {
	case LOOP_STEP_new:
	case LOOP_STEP_baseline:
		return alive ? "starting" : "interrupted";
	case LOOP_STEP_ready:
	case LOOP_STEP_agent:
	case LOOP_STEP_checks:
	case LOOP_STEP_mutants:
	case LOOP_STEP_review:
	case LOOP_STEP_closing:
		return alive ? "running" : "interrupted";
	case LOOP_STEP_waiting:
		return alive ? "waiting" : "interrupted";
	case LOOP_STEP_paused:
		return "paused";
	case LOOP_STEP_finished:
	case LOOP_STEP_COUNT:
		break;
	}
	return state->status ? state->status : "failed";
}
