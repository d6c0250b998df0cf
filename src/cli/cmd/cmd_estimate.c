/* ringfence estimate: the cost and time of a loop before it starts. */
#include "cli/intended.h"
#include "cli/loops.h"
#include "cli/view/estimate_text.h"
#include "estimate/estimate.h"
#include "settings/prices.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdio.h>

struct estimate_options {
	struct intended intended;
	bool per_hour;
};

static const struct cli_option options[] = {
	INTENDED_OPTIONS(struct estimate_options),
	OPTION_FLAG("per-hour", "show what an hour of work costs with each model",
		    struct estimate_options, per_hour),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES",
	  "  ringfence estimate -p PROMPT.md --check \"npm test\" --model claude-opus-5-5\n"
	  "  ringfence estimate --per-hour\n" },
	{ 0 },
};

/* ---- an hour of work with each model ---- */

static void print_models(const struct price_table *prices)
{
	const uint64_t *tokens = estimate_hour.tokens;

	printf("%-36s%12s\n", "model", "US$ an hour");
	for (size_t i = 0; i < prices->count; i++)
		printf("%-36s%12.2f\n", prices->models[i].name,
		       (double)estimate_hour_nusd(prices, &prices->models[i]) / 1e9);
	printf("\nAn agent that is at work all the time: %llu requests an hour, which read %g\n"
	       "million tokens from the provider's cache, send %g million new ones, and return\n"
	       "%g million. Prices of %s (ringfence prices).\n",
	       (unsigned long long)estimate_hour_requests, (double)tokens[PRICE_READ] / 1e6,
	       (double)tokens[PRICE_WRITE_5M] / 1e6, (double)tokens[PRICE_OUTPUT] / 1e6,
	       prices->dated);
}

static void print_models_json(const struct price_table *prices)
{
	json_t *list = json_array();
	const uint64_t *tokens = estimate_hour.tokens;

	for (size_t i = 0; i < prices->count; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:I}", "model", prices->models[i].name, "hour_nusd",
				  (json_int_t)estimate_hour_nusd(prices, &prices->models[i])));
	loops_print(json_pack("{s:s, s:{s:I, s:I, s:I, s:I}, s:o}", "dated", prices->dated,
			      "assumed", "requests", (json_int_t)estimate_hour_requests,
			      "cached_tokens", (json_int_t)tokens[PRICE_READ], "new_tokens",
			      (json_int_t)tokens[PRICE_WRITE_5M], "output_tokens",
			      (json_int_t)tokens[PRICE_OUTPUT], "models", list));
}

static int show_models(const struct intended *intended)
{
	struct fence_place place;
	struct price_table prices;
	struct error err;
	int result;

	if (effective_find(intended->effective.spec.project, &place, &err) < 0)
		return cli_fail(&err);
	result = prices_load(&place, &prices, &err);
	fence_place_release(&place);
	if (result < 0)
		return cli_fail(&err);
	if (intended->json)
		print_models_json(&prices);
	else
		print_models(&prices);
	price_table_release(&prices);
	return cli_flush();
}

/* ---- one loop ---- */

static int show(const struct intended *intended)
{
	struct outlook outlook;
	struct error err;

	/* A model server that does not run yet changes nothing. */
	if (!intended->request.agents.items[0].agent)
		return cli_fail(&intended->agent_error);
	if (outlook_make(&intended->request, intended->objective, OUTLOOK_THOROUGH, &outlook,
			 &err) < 0)
		return cli_fail(&err);
	if (intended->json)
		loops_print(outlook_json(&outlook));
	else
		estimate_text_print(&outlook);
	outlook_release(&outlook);
	return cli_flush();
}

static int run_estimate(const struct cli_command *command, char **argv)
{
	struct estimate_options opts = { 0 };
	char **rest;
	int code = 0;

	intended_init(&opts.intended);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest && opts.per_hour) { /* needs no loop */
		code = show_models(&opts.intended);
		rest = NULL;
	}
	return intended_finish(&opts.intended, command->name, rest, code, show);
}

const struct cli_command cmd_estimate = {
	.name = "estimate",
	.args = "[OBJECTIVE | -p FILE] [--per-hour] [options of run]",
	.summary = "estimate what a loop will cost, and how long it takes",
	.description =
		"Estimates cost, time and iterations of the loop that ringfence run would start with the "
		"same options: low, likely and high. It is based on your own past loops with the same agent "
		"and model, if there are a few, or else on the model's prices, the objective, the repository, "
		"and assumptions about agents. The limits of the loop cap it. ringfence history compares the "
		"estimate with what was spent.",
	.options = options,
	INTENDED_COMMAND,
	.sections = sections,
	.run = run_estimate,
};
