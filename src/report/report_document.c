/* The report of a loop as a document: see report.h. */
#include "report/report.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS(...)                                                      \
	(const struct document_column[]){ __VA_ARGS__ },                  \
		sizeof((const struct document_column[]){ __VA_ARGS__ }) / \
			sizeof(struct document_column)

/* Appends a note if a table does not show everything. */
static void note_rest(struct document *document, size_t shown, size_t count, uint64_t unlisted)
{
	if (count > shown)
		document_add(document, DOCUMENT_NOTE, "%zu more are not shown.", count - shown);
	if (unlisted)
		document_add(document, DOCUMENT_NOTE,
			     "%" PRIu64 " more were counted, but there are too many to list.",
			     unlisted);
}

static size_t rows_of(size_t count)
{
	return count < REPORT_ROWS ? count : REPORT_ROWS;
}

static uint64_t all_input(const uint64_t *tokens)
{
	return tokens[PRICE_INPUT] + tokens[PRICE_READ] + tokens[PRICE_WRITE_5M] +
	       tokens[PRICE_WRITE_1H];
}

/* ---- the first glance ---- */

static void add_limited(struct document *document, const char *name, const char *used,
			const struct view_limit *limit, enum figure_unit unit)
{
	AUTO_FREE char *total = figure_of(unit, unit == FIGURE_USD ? (double)limit->total / 1e9
								   : (double)limit->total);

	if (limit->total)
		document_figure(document, DOCUMENT_PLAIN, name, "%s of %s", used, total);
	else
		document_figure(document, DOCUMENT_PLAIN, name, "%s", used);
}

static void add_money(struct document *document, const struct report *report)
{
	const struct view_limits *limits = &report->limits;
	const struct view_iterations *iterations = &report->iterations;
	AUTO_FREE char *cost = figure_usd(limits->cost_nusd);
	AUTO_FREE char *input = figure_count(all_input(iterations->total.tokens));
	AUTO_FREE char *output = figure_count(iterations->total.tokens[PRICE_OUTPUT]);

	add_limited(document, iterations->replay ? "US$, not paid" : "US$", cost,
		    &limits->of[VIEW_LIMIT_cost], FIGURE_USD);
	if (all_input(iterations->total.tokens))
		document_figure(document, DOCUMENT_PLAIN, "tokens in / out", "%s / %s", input,
				output);
}

static void add_files(struct document *document, const struct report *report)
{
	uint64_t added, removed;

	if (!report->changes)
		return;
	report_count_lines(report->changes, &added, &removed);
	document_figure(document, DOCUMENT_PLAIN, "files changed",
			"%zu (+%" PRIu64 " −%" PRIu64 ")", json_array_size(report->changes), added,
			removed);
}

static void add_figures(struct document *document, const struct report *report)
{
	const struct loop_state *state = &report->loop->state;
	const struct view_limits *limits = &report->limits;
	const struct view_iteration *last = report_last(&report->iterations);
	AUTO_FREE char *iterations = figure_count(state->iteration);
	AUTO_FREE char *elapsed = figure_time(limits->elapsed_ms);
	AUTO_FREE char *checks = report_checks_text(last);
	bool pass = last && last->checks_passing == (int64_t)last->check_count;

	add_limited(document, "iterations", iterations, &limits->of[VIEW_LIMIT_iterations],
		    FIGURE_COUNT);
	add_limited(document, "time", elapsed, &limits->of[VIEW_LIMIT_time], FIGURE_MS);
	add_money(document, report);
	if (last && last->check_count)
		document_figure(document, pass ? DOCUMENT_GOOD : DOCUMENT_BAD, "checks passing",
				"%s", checks);
	if (last && last->tests_passing >= 0)
		document_figure(document, DOCUMENT_PLAIN, "tests passing", "%" PRId64,
				last->tests_passing);
	add_files(document, report);
	if (report->tools.denials.count)
		document_figure(document, DOCUMENT_PLAIN, "denials", "%zu",
				report->tools.denials.count);
	if (json_array_size(state->findings))
		document_figure(document, DOCUMENT_WARNING, "findings", "%zu",
				json_array_size(state->findings));
}

static void add_head(struct document *document, const struct report *report)
{
	const struct client_loop *loop = report->loop;
	const struct loop_options *options = &loop->state.options;
	const char *status = client_status(loop);
	AUTO_FREE char *subject = client_subject(options);
	AUTO_FREE char *began = figure_moment(loop->state.created_ms);
	AUTO_FREE char *made = figure_moment(report->now_ms);
	AUTO_FREE char *reason = client_reason(loop);
	AUTO_FREE char *about = mem_format("%s · loop %s%s%s · since %s",
					   options->origin ? options->origin : options->project,
					   options->name ? options->name : "",
					   options->name ? ", " : "", loop->id, began);
	AUTO_FREE char *text = mem_format("%s%s%s", status, reason ? ": " : "",
					  reason ? reason : "");

	document_head(document, subject, about);
	document_status(document, report_tone(status), text);
	document->footer = mem_format("Written by Ringfence on %s. Words and paths in it come from "
				      "the agent and the project.",
				      made);
	add_figures(document, report);
}

/* ---- sections ---- */

static void add_agents(struct document *document, const struct loop_options *options)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(4096);

	for (uint32_t i = 0; i < options->part_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", loop_part_name(&options->agents[i]));
	document_fact(document, DOCUMENT_PLAIN, "agent", "%s", buffer_text(&names));
	if (options->reviewer.command)
		document_fact(document, DOCUMENT_PLAIN, "reviewer", "%s",
			      loop_part_name(&options->reviewer));
}

static void add_summary(struct document *document, const struct report *report)
{
	const struct loop_state *state = &report->loop->state;
	AUTO_FREE char *ended = figure_moment(state->step == LOOP_STEP_finished ? state->step_ms
										: 0);
	AUTO_FREE char *rested = figure_time(state->rested_ms);

	document_section(document, "summary", "Summary");
	if (state->blocked) {
		document_add(document, DOCUMENT_TEXT, "The agent needs a person:");
		document_add(document, DOCUMENT_QUOTE, "%s", state->blocked);
	}
	if (state->final && *state->final) {
		document_add(document, DOCUMENT_TEXT, "The agent's last words:");
		document_add(document, DOCUMENT_QUOTE, "%.4000s", state->final);
	}
	add_agents(document, &state->options);
	if (state->step == LOOP_STEP_finished)
		document_fact(document, DOCUMENT_PLAIN, "ended", "%s", ended);
	if (state->rested_ms > 0)
		document_fact(document, DOCUMENT_PLAIN, "paused for", "%s", rested);
	document_fact(document, DOCUMENT_CODE, "commit", "%s",
		      state->git_commit ? state->git_commit : "");
	document_fact(document, DOCUMENT_CODE, "branch", "%s",
		      state->git_ref ? state->git_ref : "");
	document_fact(document, DOCUMENT_PLAIN, "fence", "%s", state->mechanism);
	if (state->weaker || state->weaker_limits)
		document_fact(document, DOCUMENT_WARNING, "weaker fence",
			      "yes (see: ringfence status)");
}

static const struct view_check *check_in(const struct view_iteration *item,
					 const struct view_check *of)
{
	for (size_t i = 0; item && i < item->check_count; i++)
		if (item->checks[i].kind == of->kind && item->checks[i].index == of->index)
			return &item->checks[i];
	return NULL;
}

static const char *command_of(const struct loop_options *options, const struct view_check *check)
{
	if (check->kind == VIEW_CHECK_OWN && check->index < options->checks.count)
		return options->checks.items[check->index];
	return check->kind == VIEW_CHECK_FINAL ? "a final check" : "a check of the phase";
}

static void add_result(struct document *document, const struct view_check *check)
{
	if (!check)
		document_cell(document, DOCUMENT_DIM, "-");
	else if (check->passed)
		document_cell(document, DOCUMENT_GOOD, "passed");
	else
		document_cell_format(document, DOCUMENT_BAD,
				     check->code ? "exit %d" : "not counted", check->code);
}

static void add_tests(struct document *document, const struct view_check *check)
{
	if (check->tests_passed < 0)
		document_cell(document, DOCUMENT_DIM, "-");
	else if (check->tests_failed > 0)
		document_cell_format(document, DOCUMENT_NUMBER, "%" PRId64 " + %" PRId64 " failed",
				     check->tests_passed, check->tests_failed);
	else
		document_cell_format(document, DOCUMENT_NUMBER, "%" PRId64, check->tests_passed);
}

static void add_checks(struct document *document, const struct report *report)
{
	const struct view_iterations *all = &report->iterations;
	const struct view_iteration *last = report_last(all);
	const struct view_iteration *first = all->count && all->items[0].iteration == 0
						     ? &all->items[0]
						     : NULL;

	if (!last || !last->check_count)
		return;
	document_section(document, "checks", "Checks");
	document_table(document, COLUMNS({ "check", false }, { "before", false },
					 { last->ended_ms ? "in the end" : "now", false },
					 { "tests", true }, { "time", true }));
	for (size_t i = 0; i < last->check_count; i++) {
		const struct view_check *check = &last->checks[i];
		AUTO_FREE char *lasted = figure_time(check->duration_ms);

		document_cell(document, DOCUMENT_CODE,
			      command_of(&report->loop->state.options, check));
		add_result(document, check_in(first, check));
		add_result(document, check);
		add_tests(document, check);
		document_cell(document, DOCUMENT_NUMBER, lasted);
	}
}

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

static void add_count(struct document *document, int64_t count)
{
	AUTO_FREE char *text = count >= 0 ? figure_count((uint64_t)count) : mem_dup("-");

	document_cell(document, count > 0 ? DOCUMENT_NUMBER : DOCUMENT_DIM, text);
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
	add_count(document, item->tests_passing);
	document_cell(document, DOCUMENT_NUMBER, lasted);
	document_cell(document, DOCUMENT_NUMBER, cost);
	add_count(document, item->tool_calls);
	add_count(document, item->files_changed);
	add_count(document, item->denials);
	add_why(document, report, item);
}

static void add_iterations(struct document *document, const struct report *report)
{
	const struct view_iterations *all = &report->iterations;
	bool whole = all->count <= REPORT_FIRST + REPORT_LAST;

	if (!all->count)
		return;
	document_section(document, "iterations", "Iterations");
	add_plots(document, all);
	document_table(document, COLUMNS({ "#", true }, { "decision", false }, { "checks", false },
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

static void add_models(struct document *document, const struct view_iterations *all)
{
	if (!all->metered && !all->trouble)
		return;
	document_section(document, "models", "Models");
	document_table(document, COLUMNS({ "model", false }, { "requests", true },
					 { "input", true }, { "output", true }, { "cached", true },
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

/* The most frequent targets of a tool, on one line. */
static void add_targets(struct document *document, const struct view_names *targets,
			const size_t *order, size_t tool)
{
	enum { MOST = 3, BYTES = 60 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	size_t shown = 0, count = 0;

	for (size_t i = 0; i < targets->count; i++) {
		const struct view_name *target = &targets->items[order[i]];

		if (target->group != tool)
			continue;
		if (shown < MOST) {
			buffer_printf(&text, "%s%.*s%s", shown++ ? "\n" : "",
				      (int)text_first(target->text, strcspn(target->text, "\r\n"),
						      BYTES),
				      target->text, strlen(target->text) > BYTES ? " ..." : "");
			if (target->count > 1)
				buffer_printf(&text, " (%" PRIu64 ")", target->count);
		}
		count++;
	}
	if (count > shown)
		buffer_printf(&text, "\nand %zu more", count - shown);
	document_cell(document, DOCUMENT_CODE, buffer_text(&text));
}

static void add_tools(struct document *document, const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->tools);
	AUTO_FREE size_t *targets = view_names_order(&tools->targets);

	if (!tools->tools.count && !tools->unread && !tools->untold)
		return;
	document_section(document, "tools", "Tools");
	if (tools->tools.count)
		document_table(document, COLUMNS({ "tool", false }, { "calls", true },
						 { "failed", true }, { "most often", false }));
	for (size_t i = 0; i < rows_of(tools->tools.count); i++) {
		const struct view_name *tool = &tools->tools.items[order[i]];

		document_cell(document, DOCUMENT_CODE, tool->text);
		add_count(document, (int64_t)tool->count);
		add_count(document, (int64_t)tools->errors[order[i]]);
		add_targets(document, &tools->targets, targets, order[i]);
	}
	note_rest(document, REPORT_ROWS, tools->tools.count, tools->tools.unlisted);
	if (tools->unread)
		document_add(document, DOCUMENT_NOTE,
			     "%zu older transcripts are too large to be counted.", tools->unread);
	if (tools->untold)
		document_add(
			document, DOCUMENT_NOTE,
			"%zu transcripts are plain text and do not tell which tools were used.",
			tools->untold);
}

static void add_change(struct document *document, const json_t *change)
{
	const char *status = jsonget_text(change, "status");

	document_cell(document, DOCUMENT_CODE, jsonget_text(change, "path"));
	document_cell(document, strcmp(status, "deleted") == 0 ? DOCUMENT_BAD : DOCUMENT_PLAIN,
		      status);
	if (json_is_true(json_object_get(change, "binary"))) {
		document_cell(document, DOCUMENT_DIM, "binary");
		document_cell(document, DOCUMENT_DIM, "");
		return;
	}
	document_cell_format(document, DOCUMENT_GOOD, "+%lld",
			     (long long)jsonget_number(change, "added"));
	document_cell_format(document, DOCUMENT_BAD, "−%lld",
			     (long long)jsonget_number(change, "removed"));
}

static void add_changes(struct document *document, const struct report *report)
{
	enum { MOST = 60 };
	size_t count = json_array_size(report->changes);

	document_section(document, "files", "Files");
	if (report->unknown)
		document_add(document, DOCUMENT_NOTE, "No comparison: %s.", report->unknown);
	else if (!count)
		document_add(document, DOCUMENT_TEXT, "No file was changed.");
	if (count)
		document_table(document, COLUMNS({ "file", false }, { "", false },
						 { "lines", true }, { "", true }));
	for (size_t i = 0; i < count && i < MOST; i++)
		add_change(document, json_array_get(report->changes, i));
	note_rest(document, MOST, count, 0);
	if (count)
		document_add(document, DOCUMENT_NOTE,
			     "To read the changes: ringfence diff --loop %s", report->loop->id);
}

static void add_hosts(struct document *document, const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->hosts);

	if (!tools->hosts.count)
		return;
	document_section(document, "hosts", "Hosts");
	document_table(document,
		       COLUMNS({ "host", false }, { "connections", true }, { "refused", true },
			       { "received", true }, { "sent", true }));
	for (size_t i = 0; i < rows_of(tools->hosts.count); i++) {
		const struct view_host *host = &tools->traffic[order[i]];
		AUTO_FREE char *in = figure_bytes(host->bytes_in);
		AUTO_FREE char *out = figure_bytes(host->bytes_out);

		document_cell(document, DOCUMENT_CODE, tools->hosts.items[order[i]].text);
		add_count(document, (int64_t)host->connections);
		add_count(document, (int64_t)host->refusals);
		document_cell(document, DOCUMENT_NUMBER, in);
		document_cell(document, DOCUMENT_NUMBER, out);
	}
	note_rest(document, REPORT_ROWS, tools->hosts.count, tools->hosts.unlisted);
}

static void add_denials(struct document *document, const struct report *report)
{
	const struct view_tools *tools = &report->tools;
	AUTO_FREE size_t *order = view_names_order(&tools->denials);

	if (!tools->denials.count)
		return;
	document_section(document, "denials", "Denials");
	document_add(document, DOCUMENT_TEXT,
		     "The fence did not permit these. To permit more next time: ringfence suggest");
	document_table(document,
		       COLUMNS({ "denied", false }, { "rule", false }, { "attempts", true }));
	for (size_t i = 0; i < rows_of(tools->denials.count); i++) {
		const struct view_name *denial = &tools->denials.items[order[i]];

		document_cell(document, DOCUMENT_CODE, denial->text);
		document_cell(document, DOCUMENT_PLAIN, tools->rules.items[denial->group].text);
		add_count(document, (int64_t)denial->count);
	}
	note_rest(document, REPORT_ROWS, tools->denials.count, tools->denials.unlisted);
}

/* Adds findings: each has a place, and a sentence under one of two names. */
static void add_findings(struct document *document, const char *by, const json_t *findings,
			 const char *grade, const char *place, const char *sentence)
{
	size_t i;
	const json_t *finding;

	json_array_foreach(findings, i, finding)
	{
		if (i == REPORT_ROWS)
			break;
		document_cell(document, DOCUMENT_PLAIN, by);
		document_cell(document, DOCUMENT_PLAIN, jsonget_text(finding, grade));
		document_cell_format(document, DOCUMENT_CODE, "%s:%lld",
				     jsonget_text(finding, place),
				     (long long)jsonget_number(finding, "line"));
		document_cell(document, DOCUMENT_PLAIN, jsonget_text(finding, sentence));
	}
}

static void add_all_findings(struct document *document, const struct loop_state *state)
{
	size_t count = json_array_size(state->findings) + json_array_size(state->review.findings) +
		       json_array_size(state->mutants.untested);

	if (!count)
		return;
	document_section(document, "findings", "Findings");
	document_table(document, COLUMNS({ "by", false }, { "", false }, { "place", false },
					 { "says", false }));
	add_findings(document, "detectors", state->findings, "action", "path", "says");
	add_findings(document, "reviewer", state->review.findings, "severity", "file", "text");
	add_findings(document, "mutants", state->mutants.untested, "action", "path", "says");
}

static void add_task(struct document *document, const struct report *report)
{
	document_section(document, "task", "Task");
	document_add(document, DOCUMENT_QUOTE, "%.20000s", report->loop->state.options.objective);
}

void report_document(const struct report *report, struct document *ret_document)
{
	*ret_document = (struct document){ 0 };
	add_head(ret_document, report);
	add_summary(ret_document, report);
	add_checks(ret_document, report);
	add_changes(ret_document, report);
	add_all_findings(ret_document, &report->loop->state);
	add_iterations(ret_document, report);
	add_models(ret_document, &report->iterations);
	add_tools(ret_document, &report->tools);
	add_hosts(ret_document, &report->tools);
	add_denials(ret_document, report);
	add_task(ret_document, report);
}

/* Everything here is a command that can be repeated. */
static void add_reproduction(struct document *document, const struct report *report)
{
	const struct loop_options *options = &report->loop->state.options;

	document_section(document, "reproduce", "How to check it again");
	for (size_t i = 0; i < options->checks.count; i++)
		document_fact(document, DOCUMENT_CODE, "check", "%s", options->checks.items[i]);
	document_fact(document, DOCUMENT_CODE, "how it was done", "ringfence history %s",
		      report->loop->id);
	document_fact(document, DOCUMENT_CODE, "everything", "ringfence report %s",
		      report->loop->id);
}

void report_request_document(const struct report *report, struct document *ret_document)
{
	*ret_document = (struct document){ 0 };
	add_head(ret_document, report);
	add_task(ret_document, report);
	add_checks(ret_document, report);
	add_all_findings(ret_document, &report->loop->state);
	document_section(ret_document, "agents", "Agents");
	add_agents(ret_document, &report->loop->state.options);
	add_models(ret_document, &report->iterations);
	add_reproduction(ret_document, report);
}
