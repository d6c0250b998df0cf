/* Iterations and models: see report_section.h. */
#include "report/report_section.h"

#include "util/mem.h"

#include <inttypes.h>
#include <string.h>

static double known(int64_t number)
{
	return number > 0 ? (double)number : 0;
}

static void add_plots(struct document *document, const struct view_iterations *all)
{
	struct plot cost = { .title = "Cost by iteration, US$",
			     .unit = FIGURE_USD,
			     .series = { "US$" },
			     .series_count = 1 };
	struct plot tokens = { .title = "Tokens by iteration",
			       .unit = FIGURE_COUNT,
			       .series = { "new input", "output", "to the cache", "cached" },
			       .series_count = 4 };
	struct plot time = { .title = "Time by iteration",
			     .unit = FIGURE_MS,
			     .series = { "agent", "checks" },
			     .series_count = 2 };
	struct plot tests = { .title = "Tests by iteration",
			      .unit = FIGURE_COUNT,
			      .series = { "passing", "failing" },
			      .colors = { PLOT_GREEN, PLOT_RED },
			      .series_count = 2 };

	for (size_t i = 0; i < all->count; i++) {
		const struct view_iteration *item = &all->items[i];
		const uint64_t *used = item->tokens;

		if (item->iteration) {
			plot_add(&cost, item->iteration,
				 (double[PLOT_SERIES]){ known(item->cost_nusd) / 1e9 });
			plot_add(&tokens, item->iteration,
				 (double[PLOT_SERIES]){
					 (double)used[PRICE_INPUT], (double)used[PRICE_OUTPUT],
					 (double)(used[PRICE_WRITE_5M] + used[PRICE_WRITE_1H]),
					 (double)used[PRICE_READ] });
		}
		plot_add(&time, item->iteration,
			 (double[PLOT_SERIES]){ (double)item->agent_ms, (double)item->checks_ms });
		plot_add(&tests, item->iteration,
			 (double[PLOT_SERIES]){ known(item->tests_passing),
						known(item->tests_failing) });
	}
	document_plot(document, &cost);
	document_plot(document, &tokens);
	document_plot(document, &time);
	document_plot(document, &tests);
}

static enum document_tone action_tone(const struct view_iteration *item)
{
	if (strcmp(item->action, "done") == 0)
		return DOCUMENT_GOOD;
	return strcmp(item->action, "failed") == 0        ? DOCUMENT_BAD
	       : strcmp(item->action, "interrupted") == 0 ? DOCUMENT_WARNING
							  : DOCUMENT_PLAIN;
}

/* Names the attempt, and its agent if there are several. */
static void add_number(struct document *document, const struct view_iteration *item)
{
	if (item->attempt > 1)
		document_cell_format(document, DOCUMENT_NUMBER, "%u.%u", item->iteration,
				     item->attempt);
	else if (item->iteration)
		document_cell_format(document, DOCUMENT_NUMBER, "%u", item->iteration);
	else
		document_cell(document, DOCUMENT_DIM, "start");
}

static void add_why(struct document *document, const struct report *report,
		    const struct view_iteration *item)
{
	const struct loop_options *options = &report->loop->state.options;
	AUTO_BUFFER struct buffer why = BUFFER_INIT(4096);

	if (options->part_count > 1 && item->part < DECISION_AGENTS_MAX && item->iteration)
		buffer_printf(&why, "%s; ", loop_part_name(&options->agents[item->part]));
	if (item->phase)
		buffer_printf(&why, "%s; ", item->phase);
	if (item->ended)
		buffer_printf(&why, "agent: %s; ", item->ended);
	buffer_add_text(&why, item->reason ? item->reason : "");
	document_cell(document, DOCUMENT_PLAIN, buffer_text(&why));
}

static void add_iteration(struct document *document, const struct report *report,
			  const struct view_iteration *item)
{
	AUTO_FREE char *lasted = figure_time(view_iterations_lasted_ms(item, report->now_ms));
	AUTO_FREE char *checks = report_checks_text(item);
	AUTO_FREE char *cost = item->cost_nusd >= 0 ? figure_usd(item->cost_nusd) : mem_dup("-");
	bool pass = item->check_count && item->checks_passing == (int64_t)item->check_count;

	add_number(document, item);
	document_cell(document, action_tone(item), item->action);
	document_cell(document, pass ? DOCUMENT_GOOD : DOCUMENT_PLAIN, checks);
	report_section_count(document, item->tests_passing);
	document_cell(document, DOCUMENT_NUMBER, lasted);
	document_cell(document, DOCUMENT_NUMBER, cost);
	report_section_count(document, item->tool_calls);
	report_section_count(document, item->files_changed);
	report_section_count(document, item->denials);
	add_why(document, report, item);
}

void report_section_iterations(struct document *document, const struct report *report)
{
	const struct view_iterations *all = &report->iterations;
	bool whole = all->count <= REPORT_FIRST + REPORT_LAST;

	if (!all->count)
		return;
	document_section(document, "iterations", "Iterations");
	add_plots(document, all);
	document_table(document,
		       DOCUMENT_COLUMNS({ "#", true }, { "decision", false }, { "checks", false },
					{ "tests", true }, { "time", true }, { "US$", true },
					{ "tools", true }, { "files", true }, { "denials", true },
					{ "reason", false }));
	for (size_t i = 0; i < all->count; i++)
		if (whole || i < REPORT_FIRST || i >= all->count - REPORT_LAST)
			add_iteration(document, report, &all->items[i]);
	if (!whole)
		document_add(document, DOCUMENT_NOTE,
			     "The first %d and the last %d of %zu are shown (all of them: "
			     "ringfence history %s).",
			     REPORT_FIRST, REPORT_LAST, all->count + all->dropped,
			     report->loop->id);
}

static void add_use(struct document *document, const char *name, enum document_tone tone,
		    const struct view_use *use)
{
	const uint64_t counts[] = { use->requests, use->tokens[PRICE_INPUT],
				    use->tokens[PRICE_OUTPUT], use->tokens[PRICE_READ],
				    use->tokens[PRICE_WRITE_5M] + use->tokens[PRICE_WRITE_1H] };
	AUTO_FREE char *cost = figure_usd(use->cost_nusd);

	document_cell(document, tone, name);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		AUTO_FREE char *text = figure_count(counts[i]);

		document_cell(document, DOCUMENT_NUMBER, text);
	}
	document_cell_format(document, DOCUMENT_NUMBER, "%s%s", cost,
			     use->estimated_nusd > 0 ? " ~" : "");
}

void report_section_models(struct document *document, const struct view_iterations *all)
{
	if (!all->metered && !all->trouble)
		return;
	document_section(document, "models", "Models");
	document_table(document,
		       DOCUMENT_COLUMNS({ "model", false }, { "requests", true }, { "input", true },
					{ "output", true }, { "cached", true },
					{ "to cache", true }, { "US$", true }));
	for (size_t i = 0; i < all->models.count; i++)
		add_use(document, all->models.items[i], DOCUMENT_CODE, &all->totals[i]);
	if (all->models.count > 1)
		add_use(document, "total", DOCUMENT_PLAIN, &all->total);
	if (all->total.estimated_nusd > 0)
		document_add(document, DOCUMENT_NOTE,
			     "~ partly estimated: an answer was cut off or never came.");
	if (all->replay)
		document_add(document, DOCUMENT_NOTE, "A replay: nobody was paid.");
	if (all->trouble)
		document_add(document, DOCUMENT_NOTE, "The ledger could not be read: %s",
			     all->trouble);
}
