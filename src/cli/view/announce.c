/* The summary before a loop starts: see announce.h. */
#include "cli/view/announce.h"

#include "cli/view/estimate_text.h"
#include "cli/view/page.h"
#include "settings/effective_models.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

static void print_row(const char *name, struct buffer *text)
{
	enum { COLUMN = 12 };

	printf("  %-9s ", name);
	page_print(buffer_text(text), COLUMN);
}

static void add_choice(struct buffer *out, const struct choice *choice)
{
	if (choice->agent->program) {
		buffer_add_text(out, choice->agent->title);
	} else {
		AUTO_FREE char *shown = text_escaped(choice->command);

		buffer_printf(out, "%.200s", shown);
	}
	if (choice->model) {
		AUTO_FREE char *shown = text_escaped(choice->model);

		buffer_printf(out, " with %.100s", shown);
	}
}

static void print_agent(const struct effective *effective, const struct choice_list *agents)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 13);
	const char *name = config_text(&effective->config, SETTING_AGENT);
	bool chosen = agents->items[0].agent->program && (!name || strcmp(name, "auto") == 0);

	for (size_t i = 0; i < agents->count; i++) {
		buffer_add_text(&text, i ? ", then " : "");
		add_choice(&text, &agents->items[i]);
	}
	for (size_t i = 0; i < agents->rungs; i++) {
		buffer_add_text(&text, "; when stalled ");
		add_choice(&text, &agents->items[agents->count + i]);
	}
	if (chosen)
		buffer_add_text(
			&text,
			" (the first agent that is installed and logged in; --agent selects another)");
	print_row("agent", &text);
}

static void print_fence(const struct effective *effective, const struct fence_plan *plan)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 13);

	if (plan->weaker & FENCE_WEAKER_NO_FENCE)
		buffer_add_text(&text, "NONE (--i-accept-no-fence)");
	else if (effective->spec.read_only)
		buffer_add_text(&text, "the project is read-only");
	else if (effective->spec.write.count)
		buffer_add_text(&text, "only the project paths you named are writable");
	else
		buffer_add_text(&text,
				effective->spec.draft
					? "the project is writable, except secrets"
					: "the project is writable, except secrets and settings");
	if (effective->spec.draft && !effective->spec.read_only)
		buffer_add_text(&text, "; changes go to a draft");
	if (!(plan->weaker & FENCE_WEAKER_NO_FENCE))
		buffer_add_text(&text, "; your home and keys are hidden (ringfence policy)");
	print_row("fence", &text);
}

static void print_network(const struct effective *effective)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 13);
	const struct fence_spec *spec = &effective->spec;

	if (spec->net == FENCE_NET_OPEN)
		buffer_add_text(&text, "OPEN: everything this machine can reach");
	else if (spec->allow.count)
		buffer_printf(&text, "only %zu named host%s", spec->allow.count,
			      spec->allow.count == 1 ? "" : "s");
	else
		buffer_add_text(&text, "none");
	effective_models_describe(&spec->models, &text);
	print_row("network", &text);
}

static void add_money(struct buffer *out, const struct config *config, enum setting_id id,
		      const char *of)
{
	uint64_t nusd = effective_loop_number(config, id);

	if (nusd)
		buffer_printf(out, ", US$ %g %s", (double)nusd / 1e9, of);
}

static void add_time(struct buffer *out, const struct config *config, enum setting_id id,
		     const char *of)
{
	uint64_t ms = effective_loop_number(config, id);

	if (!ms)
		return;
	buffer_add_text(out, ", ");
	text_add_duration(out, ms);
	buffer_printf(out, " %s", of);
}

static void print_review(const struct config *config, const struct choice *review,
			 bool free_of_cost)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 13);

	if (!review->agent)
		return;
	add_choice(&text, review);
	buffer_add_text(&text, " gives a second opinion, read-only");
	if (!free_of_cost)
		add_money(&text, config, SETTING_REVIEW_BUDGET, "each");
	print_row("review", &text);
}

static void print_limits(const struct config *config, bool free_of_cost)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 13);
	uint64_t iterations = effective_loop_number(config, SETTING_MAX_ITERATIONS);

	if (iterations)
		buffer_printf(&text, "%llu iteration%s", (unsigned long long)iterations,
			      iterations == 1 ? "" : "s");
	else
		buffer_add_text(&text, "unlimited iterations");
	add_time(&text, config, SETTING_TIMEOUT, "each");
	add_time(&text, config, SETTING_MAX_TIME, "in total");
	if (!free_of_cost) {
		add_money(&text, config, SETTING_BUDGET, "each");
		add_money(&text, config, SETTING_MAX_COST, "in total");
	}
	print_row("limits", &text);
}

static void add_checks(struct buffer *out, const json_t *checks, const char *note)
{
	size_t index;
	const json_t *check;

	json_array_foreach(checks, index, check)
	{
		AUTO_FREE char *shown = text_escaped(json_string_value(check));

		buffer_printf(out, "%s'%.200s' succeeds%s", out->used ? " and " : "", shown, note);
	}
}

static void print_goal(const struct goal *goal)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);

	add_checks(&text, goal->checks, goal->found ? " (found in the project)" : "");
	if (goal->tasks) {
		AUTO_FREE char *shown = text_escaped(goal->tasks);

		buffer_printf(&text, "%severy box in %.200s is ticked", text.used ? " and " : "",
			      shown);
	}
	if (goal->promise) {
		AUTO_FREE char *shown = text_escaped(goal->promise);

		buffer_printf(&text, "%sthe agent says %.200s", text.used ? " and " : "", shown);
	}
	add_checks(&text, goal->final_checks, " (final check, hidden from the agent)");
	print_row("done when", &text);
}

char *announce_trials(const struct config *config)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);
	uint64_t mutants = effective_loop_number(config, SETTING_MUTATE);

	if (config_get(config, SETTING_PROVE_CHECK)->number)
		buffer_add_text(&text, "before the loop, every check must fail when the code is "
				       "broken (--prove-check)");
	if (mutants)
		buffer_printf(&text,
			      "%s%llu of the agent's lines are changed at the end, and those that "
			      "no check notices are reported (--mutate)",
			      text.used ? "; " : "", (unsigned long long)mutants);
	return text.used ? mem_dup(buffer_text(&text)) : NULL;
}

static void print_trials(const struct config *config)
{
	AUTO_BUFFER struct buffer row = BUFFER_INIT(1024);
	AUTO_FREE char *text = announce_trials(config);

	if (!text)
		return;
	buffer_add_text(&row, text);
	print_row("trials", &row);
}

static void print_estimate(const json_t *estimate)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);
	AUTO_FREE char *line = estimate_text(estimate);

	buffer_printf(&text, "%s; see ringfence estimate", line);
	print_row("estimate", &text);
}

/* Adds who works in a phase, if it is not who works in the loop. */
static void add_team(struct buffer *out, const struct choice_list *agents,
		     const struct choice_team *team, const char *before)
{
	for (size_t i = 0; i < team->count; i++) {
		buffer_add_text(out, i ? ", then " : before);
		add_choice(out, &agents->items[team->first + i]);
	}
}

static void add_paths(struct buffer *out, const json_t *write)
{
	size_t index;
	const json_t *path;

	if (!write)
		return;
	buffer_add_text(out, json_array_size(write) ? "; may change only" : "; may change nothing");
	json_array_foreach(write, index, path)
	{
		AUTO_FREE char *shown = text_escaped(json_string_value(path));

		buffer_printf(out, "%s %.200s", index ? "," : "", shown);
	}
}

static void print_phase(const struct loop_request *request, size_t index)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 14);
	const struct phase_request *phase = &request->phases.items[index];
	json_int_t iterations = jsonget_number(phase->terms, "max_iterations");
	json_int_t nusd = jsonget_number(phase->terms, "max_cost_nusd");

	buffer_printf(&text, "%zu. %s, until ", index + 1, jsonget_text(phase->terms, "name"));
	phase_request_add_until(phase->terms, &text);
	add_team(&text, &request->agents, &phase->agents, "; by ");
	add_team(&text, &request->agents, &phase->rungs, "; when stalled ");
	add_paths(&text, json_object_get(phase->terms, "write"));
	if (iterations)
		buffer_printf(&text, "; at most %lld iteration%s", (long long)iterations,
			      iterations == 1 ? "" : "s");
	if (nusd)
		buffer_printf(&text, "; at most US$ %g", (double)nusd / 1e9);
	if ((iterations || nusd) && jsonget_flag(phase->terms, "skips"))
		buffer_add_text(&text, ", then the next phase");
	print_row(index ? "" : "phases", &text);
}

void announce_loop(const struct loop_request *request, const struct fence_plan *plan)
{
	const struct effective *effective = request->effective;
	bool free_of_cost = model_access_is_free(&effective->spec.models);

	print_agent(effective, &request->agents);
	print_review(&effective->config, &request->agents.review, free_of_cost);
	print_fence(effective, plan);
	print_network(effective);
	print_limits(&effective->config, free_of_cost);
	for (size_t i = 0; i < request->phases.count; i++)
		print_phase(request, i);
	print_goal(&request->goal);
	print_trials(&effective->config);
	if (request->estimate)
		print_estimate(request->estimate);
}
