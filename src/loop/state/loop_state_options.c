/* The configuration of a loop in its first event: see loop_state.h. */
#include "loop/state/loop_state.h"

#include "util/id.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

/* A missing key leaves the value unchanged, here and below. */
static void read_number(const json_t *config, const char *key, int64_t *number)
{
	const json_t *value = json_object_get(config, key);

	if (value)
		*number = (int64_t)json_integer_value(value);
}

static void read_count(const json_t *config, const char *key, uint32_t *count)
{
	int64_t number = *count;

	read_number(config, key, &number);
	*count = (uint32_t)number;
}

static void read_flag(const json_t *config, const char *key, bool *flag)
{
	const json_t *value = json_object_get(config, key);

	if (value)
		*flag = json_is_true(value);
}

/* A rule of a later version is ignored. */
static void change_alerts(const json_t *list, struct alert_settings *alerts)
{
	size_t index;
	const json_t *change;
	struct error ignored;

	json_array_foreach(list, index, change) if (json_is_string(change))
		alert_change(alerts, json_string_value(change), &ignored);
}

void loop_options_change(const json_t *config, struct loop_state *state)
{
	static const char *const breakers[BREAKER_COUNT] = {
		[BREAKER_ERRORS] = "max_errors",
		[BREAKER_SAME_ERROR] = "max_same_error",
		[BREAKER_NO_PROGRESS] = "max_no_progress",
		[BREAKER_INTERRUPTED] = "max_interrupted",
	};
	struct loop_options *options = &state->options;
	struct decision_limits *limits = &options->limits;
	bool checkpoints = !options->checkpoints_off;
	int64_t total_ms = limits->total_s * 1000;
	int64_t git = options->git;
	int64_t progress = !limits->results_only;

	for (int i = 0; i < BREAKER_COUNT; i++)
		read_count(config, breakers[i], &state->breakers[i].open_at);
	read_flag(config, "checkpoints", &checkpoints);
	read_flag(config, "check_view", &options->check_view);
	read_count(config, "final_tries", &options->final_tries);
	read_count(config, "mutate", &options->mutants);
	read_flag(config, "checkpoint_ignored", &options->checkpoint_ignored);
	read_number(config, "checkpoint_ms", &options->checkpoint_ms);
	read_number(config, "checkpoint_bytes", &options->checkpoint_bytes);
	read_number(config, "checkpoint_age_ms", &options->checkpoint_age_ms);
	read_number(config, "git", &git);
	read_number(config, "git_bytes", &options->git_bytes);
	read_number(config, "loop_disk_bytes", &options->loop_disk_bytes);
	read_number(config, "min_free_bytes", &options->min_free_bytes);
	read_count(config, "max_iterations", &limits->iterations);
	read_number(config, "max_time_ms", &total_ms);
	read_number(config, "max_cost_nusd", &limits->cost_nusd);
	read_number(config, "warn_cost_nusd", &limits->cost_warning_nusd);
	read_flag(config, "pause_on_warning", &limits->pause_on_warning);
	read_count(config, "max_unreachable", &limits->unreachable);
	read_count(config, "early_stop", &limits->early_stop);
	read_count(config, "early_stop_after", &limits->early_stop_after);
	read_number(config, "progress", &progress);
	read_count(config, "prompt_history", &options->prompt.history);
	read_count(config, "prompt_messages", &options->prompt.messages);
	read_number(config, "prompt_message_bytes", &options->prompt.message_bytes);
	read_number(config, "prompt_output_bytes", &options->prompt.output_bytes);
	read_number(config, "budget_nusd", &options->budget_nusd);
	read_number(config, "daily_nusd", &options->daily_nusd);
	read_number(config, "patience_ms", &options->patience_ms);
	read_count(config, "climb_after", &options->climb_after);
	read_number(config, "review_nusd", &options->review_nusd);
	read_count(config, "review_rounds", &options->review_rounds);
	read_number(config, "timeout_ms", &options->timeout_ms);
	read_number(config, "check_timeout_ms", &options->check_timeout_ms);
	read_number(config, "idle_ms", &options->idle_ms);
	change_alerts(json_object_get(config, "alert"), &options->alerts);
	options->checkpoints_off = !checkpoints;
	options->git = git > 0;
	limits->results_only = progress == 0;
	limits->total_s = total_ms / 1000;
	json_object_update_existing(json_object_get(options->fence, "models"),
				    json_object_get(config, "models"));
}

/* Reads parts after those before. *ret_count: how many. */
static int read_parts(const json_t *list, struct loop_options *options, uint32_t *ret_count,
		      struct error *err)
{
	size_t index;
	const json_t *entry;

	json_array_foreach(list, index, entry)
	{
		if (options->part_count == DECISION_AGENTS_MAX)
			return error_set(err, "the journal names more than %d agents",
					 DECISION_AGENTS_MAX);
		if (loop_part_read(entry, &options->agents[options->part_count], err) < 0)
			return -1;
		options->part_count++;
		++*ret_count;
	}
	return 0;
}

/* The first agent is described by the configuration itself. */
static int read_agents(const json_t *config, struct loop_options *options, struct error *err)
{
	if (loop_part_read(config, &options->agents[0], err) < 0)
		return -1;
	options->agent_count = options->part_count = 1;
	if (read_parts(json_object_get(config, "hand_over"), options, &options->agent_count, err) <
	    0)
		return -1;
	return read_parts(json_object_get(config, "escalate"), options, &options->rung_count, err);
}

/* Reads the agents of a phase; without its own, it has those of the loop. */
static int read_team(const json_t *list, struct loop_options *options,
		     struct loop_phase_team otherwise, struct loop_phase_team *ret_team,
		     struct error *err)
{
	struct loop_phase_team team = { .first = options->part_count };

	if (read_parts(list, options, &team.count, err) < 0)
		return -1;
	*ret_team = list ? team : otherwise;
	return 0;
}

static int read_phases(const json_t *list, struct loop_options *options, struct error *err)
{
	const struct loop_phase_team agents = { 0, options->agent_count };
	const struct loop_phase_team rungs = { options->agent_count, options->rung_count };
	size_t index;
	const json_t *entry;

	if (json_array_size(list) > LOOP_PHASES_MAX)
		return error_set(err, "the journal has more than %d phases", LOOP_PHASES_MAX);
	json_array_foreach(list, index, entry)
	{
		struct loop_phase *phase = &options->phases[index];

		if (loop_phase_read(entry, phase, err) < 0 ||
		    read_team(json_object_get(entry, "agents"), options, agents, &phase->agents,
			      err) < 0 ||
		    read_team(json_object_get(entry, "escalate"), options, rungs, &phase->rungs,
			      err) < 0)
			return -1;
		if (!phase->agents.count ||
		    phase->agents.count + phase->rungs.count > DECISION_AGENTS_MAX)
			return error_set(err, "the journal has a phase with no agent, or too many");
		options->phase_count++;
	}
	return 0;
}

int loop_options_read(json_t *config, struct loop_state *state, struct error *err)
{
	struct loop_options *options = &state->options;
	const char *session = jsonget_string(config, "session");
	const char *name = jsonget_string(config, "loop_name");
	size_t index;
	json_t *check;

	if (!jsonget_string(config, "project") || !jsonget_string(config, "objective") ||
	    !json_is_object(json_object_get(config, "fence")))
		return error_set(
			err,
			"the journal lacks the project, the objective or the fence of the loop");
	if (read_agents(config, options, err) < 0 ||
	    read_phases(json_object_get(config, "phases"), options, err) < 0 ||
	    (json_object_get(config, "review") &&
	     loop_part_read(json_object_get(config, "review"), &options->reviewer, err) < 0))
		return -1;
	options->reviewer.review = true;
	state->config = json_incref(config);
	options->project = jsonget_string(config, "project");
	options->origin = jsonget_string(config, "origin");
	options->work_tree = jsonget_string(config, "work_tree");
	options->draft = jsonget_string(config, "draft");
	options->from = jsonget_string(config, "from");
	options->from_commit = jsonget_string(config, "from_commit");
	options->with = jsonget_string(config, "with");
	options->conflicts = json_object_get(config, "conflicts");
	options->conflict_paths = json_object_get(config, "conflict_paths");
	options->name = name && id_is_name(name) ? name : NULL;
	options->batch = jsonget_string(config, "batch");
	options->task = jsonget_string(config, "task");
	options->objective = jsonget_string(config, "objective");
	options->record = jsonget_string(config, "record");
	options->replay = jsonget_string(config, "replay");
	options->prices = jsonget_string(config, "prices");
	options->sessions = jsonget_string(config, "sessions");
	options->keep_session = session && strcmp(session, "continue") == 0;
	options->promise = jsonget_string(config, "promise");
	options->tasks = jsonget_string(config, "tasks");
	options->fence = json_object_get(config, "fence");
	options->findings = json_object_get(config, "findings");
	options->final_checks = json_object_get(config, "final_checks");
	options->hold_out = jsonget_string(config, "hold_out");
	options->check_cache = json_object_get(config, "check_cache");
	options->pin = json_object_get(config, "pin");
	options->unpin = json_object_get(config, "unpin");
	options->checkpoints_off = true; /* for journals from before checkpoints */
	options->limits = DECISION_LIMITS_DEFAULT;
	options->prompt = LOOP_PROMPT_LIMITS_DEFAULT;
	alert_init(&options->alerts);
	loop_options_change(config, state);
	json_array_foreach(json_object_get(config, "checks"), index,
			   check) if (json_is_string(check))
		list_add(&options->checks, json_string_value(check));
	options->prove_check = jsonget_flag(config, "prove_check");
	options->check_found = jsonget_flag(config, "check_found") && options->checks.count == 1;
	state->checks = mem_zero((options->checks.count + 1) * sizeof *state->checks);
	return 0;
}

size_t loop_options_check_count(const struct loop_options *options)
{
	return options->checks.count + json_array_size(options->final_checks);
}

const char *loop_options_check(const struct loop_options *options, size_t index)
{
	return index < options->checks.count
		       ? options->checks.items[index]
		       : json_string_value(json_array_get(options->final_checks,
							  index - options->checks.count));
}
