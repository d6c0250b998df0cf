/* From settings to a request for a loop: see loop_request.h. */
#include "settings/loop_request.h"

#include "settings/effective_models.h"
#include "settings/loop_limits.h"
#include "settings/preflight.h"
#include "settings/prices.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void loop_request_begin(struct loop_request *ret_request, struct effective *effective)
{
	struct loop_request request = { .effective = effective,
					.limits = json_object(),
					.here = getcwd(NULL, 0) };

	request.start = (struct op_start_request){
		.place = &effective->place,
		.spec = &effective->spec,
		.here = request.here ? request.here : "/",
		.workspace = (enum op_start_workspace)config_get(&effective->config,
								 SETTING_WORKSPACE)
				     ->number,
		.min_free_bytes = (int64_t)config_get(&effective->config, SETTING_MIN_FREE)->number,
		.draft = { .kind = config_get(&effective->config, SETTING_DRAFT_KIND)->text,
			   .most_bytes =
				   config_get(&effective->config, SETTING_DRAFT_SIZE)->number },
	};
	*ret_request = request;
}

void loop_request_release(struct loop_request *request)
{
	choice_release(&request->agents);
	phase_request_release(&request->phases);
	goal_release(&request->goal);
	watch_request_release(&request->watch);
	list_release(&request->notices);
	buffer_release(&request->prices);
	json_decref(request->limits);
	json_decref(request->estimate);
	free(request->here);
}

static int load_prices(struct loop_request *request, struct error *err)
{
	struct price_table table;

	if (prices_load_with(&request->effective->place, &table, &request->prices, err) < 0)
		return -1;
	price_table_release(&table);
	return 0;
}

static struct op_start_agent agent_of(const struct choice *choice)
{
	return (struct op_start_agent){
		.adapter = choice->agent,
		.command = choice->command,
		.format = choice->format,
		.model = choice->model,
		.login = choice->login,
		.name = choice->name,
	};
}

static struct op_start_phase phase_of(const struct phase_request *phase)
{
	return (struct op_start_phase){
		.terms = phase->terms,
		.own_agents = phase->own_agents,
		.own_rungs = phase->own_rungs,
		.first_agent = phase->agents.first,
		.agent_count = phase->agents.count,
		.first_rung = phase->rungs.first,
		.rung_count = phase->rungs.count,
	};
}

static void fill(struct loop_request *request, const char *objective)
{
	struct op_start_request *start = &request->start;
	const struct goal *goal = &request->goal;

	start->objective = objective;
	for (size_t i = 0; i < request->agents.total; i++)
		start->agents[i] = agent_of(&request->agents.items[i]);
	start->agent_count = request->agents.count;
	start->rung_count = request->agents.rungs;
	for (size_t i = 0; i < request->phases.count; i++)
		start->phases[i] = phase_of(&request->phases.items[i]);
	start->phase_count = request->phases.count;
	start->review = agent_of(&request->agents.review);
	start->session = config_get(&request->effective->config, SETTING_SESSION)->text;
	start->goal = (struct op_start_goal){ .checks = goal->checks,
					      .found = goal->found,
					      .findings = goal->findings,
					      .final_checks = goal->final_checks,
					      .hold_out = goal->hold_out,
					      .check_cache = goal->check_cache,
					      .pin = goal->pin,
					      .unpin = goal->unpin,
					      .prove_check = goal->prove_check,
					      .promise = goal->promise,
					      .tasks = goal->tasks };
	start->watch = (struct op_start_watch){ .alerts = request->watch.alerts,
						.targets = request->watch.targets,
						.events = request->watch.events };
	start->limits = request->limits;
	start->prices = buffer_text(&request->prices);
}

static int check_workspace(const struct loop_request *request, struct error *err)
{
	if (request->start.workspace != OP_START_DRAFT ||
	    effective_loop_number(&request->effective->config, SETTING_CHECKPOINTS))
		return 0;
	return error_set(err, "a draft needs checkpoints: leave them on, or use --workspace "
			      "in-place or --workspace worktree");
}

/* Returns the option that breaks code to see which checks notice, or NULL. */
static const char *breaks_code(const struct config *config)
{
	if (config_get(config, SETTING_PROVE_CHECK)->number)
		return "--prove-check";
	return effective_loop_number(config, SETTING_MUTATE) ? "--mutate" : NULL;
}

/* Code is broken only in views, by the checkpoints, and only checks can notice. */
static int check_proofs(const struct loop_request *request, struct error *err)
{
	const struct config *config = &request->effective->config;
	const char *option = breaks_code(config);

	if (!option)
		return 0;
	if (!json_array_size(request->goal.checks) && !json_array_size(request->goal.final_checks))
		return error_set(err, "%s needs a check: add --check COMMAND", option);
	if (!effective_loop_number(config, SETTING_CHECK_VIEW) ||
	    !effective_loop_number(config, SETTING_CHECKPOINTS))
		return error_set(err,
				 "%s needs the views that checks run in: leave check-view and "
				 "checkpoints on",
				 option);
	return 0;
}

int loop_request_choose_agent(struct loop_request *request, struct error *err)
{
	struct effective *effective = request->effective;
	const struct config *config = &effective->config;

	if (preflight_inactive(config, SETTING_AGENT_COMMAND, SETTING_AGENT, err) < 0 ||
	    preflight_inactive(config, SETTING_AGENT, SETTING_AGENT_COMMAND, err) < 0)
		return -1;
	return choice_make(effective, &request->agents, &request->notices, err);
}

int loop_request_choose(struct loop_request *request, const char *objective, struct error *err)
{
	struct effective *effective = request->effective;
	const struct config *config = &effective->config;

	if (check_workspace(request, err) < 0 ||
	    preflight_unwritable(&effective->spec, effective->place.project, err) < 0 ||
	    loop_request_choose_agent(request, err) < 0 ||
	    goal_decide(effective, &request->goal, err) < 0 ||
	    phase_request_make(effective, request->goal.promise, &request->agents, &request->phases,
			       &request->notices, err) < 0 ||
	    watch_request_make(effective, &request->watch, err) < 0 ||
	    check_proofs(request, err) < 0)
		return -1;
	if (!json_array_size(request->goal.checks))
		list_printf(&request->notices,
			    "no --check is configured%s: only the agent's word%s will count",
			    config_text(config, SETTING_PROMISE)
				    ? ""
				    : ", and none was found in the project",
			    request->goal.tasks ? " and the task list" : "");
	loop_limits_set_all(request->limits, config);
	if (load_prices(request, err) < 0)
		return -1;
	fill(request, objective);
	return 0;
}

void loop_request_want_promise(struct loop_request *request)
{
	if (!request->goal.promise)
		request->goal.promise = request->start.goal.promise = PROMISE_DEFAULT;
}

static bool uses_builtin(const struct choice_list *agents)
{
	for (size_t i = 0; i < agents->total; i++)
		if (agents->items[i].agent == &agent_adapter_builtin)
			return true;
	return agents->review.agent == &agent_adapter_builtin;
}

void loop_request_set_estimate(struct loop_request *request, json_t *estimate)
{
	json_decref(request->estimate);
	request->estimate = estimate;
	request->start.estimate = estimate;
}

int loop_request_find_models(const struct loop_request *request, struct error *err)
{
	/* Any other agent may reach a model in its own way. */
	if (!uses_builtin(&request->agents) ||
	    config_get(&request->effective->config, SETTING_REPLAY)->number)
		return 0;
	return effective_models_check_listening(&request->effective->spec.models, err);
}

static int check_agents(const struct choice_list *agents, const struct fence_plan *plan,
			struct error *err)
{
	for (size_t i = 0; i < agents->total; i++)
		if (preflight_hidden(plan, "the agent's command", agents->items[i].command, err) <
		    0)
			return -1;
	return agents->review.agent ? preflight_hidden(plan, "the reviewer's command",
						       agents->review.command, err)
				    : 0;
}

int loop_request_check(const struct loop_request *request, const struct fence_plan *plan,
		       struct error *err)
{
	size_t index;
	json_t *check;

	if (plan->weaker & FENCE_WEAKER_NO_FENCE)
		return 0;
	if (check_agents(&request->agents, plan, err) < 0)
		return -1;
	json_array_foreach(request->goal.checks, index, check)
	{
		AUTO_FREE char *what = mem_format("the check '%.300s'", json_string_value(check));

		if (preflight_hidden(plan, what, json_string_value(check), err) < 0)
			return -1;
	}
	return 0;
}
