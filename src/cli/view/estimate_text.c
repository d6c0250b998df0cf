/* Estimates as text: see estimate_text.h. */
#include "cli/view/estimate_text.h"

#include "cli/cli.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdio.h>

/* Returns a time without the digits that an estimate does not have. The caller frees it. */
static char *rough_time(json_int_t ms)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	json_int_t unit = ms >= 600000 ? 60000 : 1000;

	text_add_duration(&text, (uint64_t)((ms + unit / 2) / unit * unit));
	return mem_dup(ms < 1000 ? "1s" : buffer_text(&text));
}

static char *usd(json_int_t nusd)
{
	return mem_format(nusd && nusd < 10000000 ? "%.4f" : "%.2f", (double)nusd / 1e9);
}

static char *count(json_int_t number)
{
	return mem_format("%lld", (long long)number);
}

typedef char *format_fn(json_int_t value);

static char *level(const json_t *levels, const char *name, format_fn *format)
{
	return format(jsonget_number(levels, name));
}

/* "LIKELY (LOW to HIGH)", or one value if they are the same. The caller frees it. */
static char *range(const json_t *levels, format_fn *format)
{
	AUTO_FREE char *low = level(levels, "low", format);
	AUTO_FREE char *high = level(levels, "high", format);
	AUTO_FREE char *likely = level(levels, "likely", format);

	return jsonget_number(levels, "low") == jsonget_number(levels, "high")
		       ? mem_dup(likely)
		       : mem_format("%s (%s to %s)", likely, low, high);
}

/* Reports whether the loop is expected to cost money, as far as that is known. */
static bool is_paid(const json_t *estimate)
{
	return json_is_object(json_object_get(estimate, "cost_nusd")) &&
	       !jsonget_flag(estimate, "local");
}

char *estimate_text(const json_t *estimate)
{
	const json_t *cost = json_object_get(estimate, "cost_nusd");
	AUTO_FREE char *time = range(json_object_get(estimate, "time_ms"), rough_time);
	AUTO_FREE char *money = is_paid(estimate) ? range(cost, usd) : NULL;

	return money ? mem_format("US$ %s, %s", money, time) : mem_dup(time);
}

int64_t estimate_text_worked_ms(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	int64_t until = state->step == LOOP_STEP_finished || state->step == LOOP_STEP_paused
				? state->step_ms
				: clock_wall_ms();
	int64_t worked = until - state->created_ms - state->rested_ms;

	return worked > 0 ? worked : 0;
}

char *estimate_text_compare(const struct client_loop *loop)
{
	const json_t *estimate = json_object_get(loop->state.config, "estimate");
	AUTO_FREE char *wanted = estimate ? estimate_text(estimate) : NULL;
	AUTO_FREE char *money = usd(loop->state.spent_nusd);
	AUTO_FREE char *time = rough_time(estimate_text_worked_ms(loop));

	if (!wanted)
		return NULL;
	return is_paid(estimate)
		       ? mem_format("spent US$ %s in %s; the estimate was %s", money, time, wanted)
		       : mem_format("it took %s; the estimate was %s", time, wanted);
}

/* ---- the table ---- */

static void print_row(const char *name, const json_t *levels, format_fn *format, bool capped)
{
	AUTO_FREE char *low = level(levels, "low", format);
	AUTO_FREE char *likely = level(levels, "likely", format);
	AUTO_FREE char *high = level(levels, "high", format);

	printf("%-12s%10s%10s%10s%s\n", name, low, likely, high,
	       capped ? "  (a limit of the loop)" : "");
}

static void print_basis(const struct outlook *outlook)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	AUTO_FREE char *sources = text_size(outlook->source_bytes);

	if (outlook->estimate.from_past)
		buffer_printf(&text,
			      "Based on your %zu past loops with this agent and model: the "
			      "median, and the tenth and the ninetieth percentile.",
			      outlook->past_count);
	else
		buffer_printf(&text,
			      "Based on assumptions about agents (docs/preflight.md), an objective "
			      "of %llu bytes, and a repository of %s%s. There are %zu past loops "
			      "with this agent and model; %d would count more.",
			      (unsigned long long)outlook->prompt_bytes,
			      outlook->source_cut ? "more than " : "", sources, outlook->past_count,
			      ESTIMATE_LEAST_PAST);
	if (outlook->local)
		buffer_add_text(&text, " The model costs nothing: it is yours, or a tape.");
	else if (!outlook->estimate.priced)
		buffer_printf(&text, " The cost is not known: %s%s (see ringfence prices).",
			      outlook->model ? "there is no price for " : "name the model with ",
			      outlook->model ? outlook->model : "--model");
	else if (!outlook->model)
		buffer_add_text(&text, " The cost is what the agent reported.");
	else
		buffer_printf(&text, " Prices of %s for %s%s.", outlook->prices_dated,
			      outlook->model,
			      outlook->model_assumed
				      ? ", which is assumed: name the agent's model with --model"
				      : "");
	cli_print_wrapped(buffer_text(&text), 0);
}

void estimate_text_print(const struct outlook *outlook)
{
	json_t *estimate = outlook_json(outlook);
	const json_t *cost = json_object_get(estimate, "cost_nusd");

	printf("%-12s%10s%10s%10s\n", "", "low", "likely", "high");
	if (json_is_object(cost))
		print_row("cost in US$", cost, usd, jsonget_flag(estimate, "cost_capped"));
	print_row("time", json_object_get(estimate, "time_ms"), rough_time,
		  jsonget_flag(estimate, "time_capped"));
	print_row("iterations", json_object_get(estimate, "iterations"), count, false);
	puts("");
	print_basis(outlook);
	json_decref(estimate);
}
