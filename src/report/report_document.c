/* The report of a loop as a document: see report.h. */
#include "report/report_section.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns where the end of a text begins that is worth quoting. A script may print much. */
static const char *last_words(const char *text)
{
	enum { MOST_LINES = 30, MOST_BYTES = 4000 };
	size_t size = strlen(text);
	const char *from = size > MOST_BYTES ? text + size - MOST_BYTES : text;
	const char *at = text + size;

	while ((*from & 0xc0) == 0x80)
		from++;
	for (int lines = 0; at > from; at--)
		if (at[-1] == '\n' && *at && ++lines == MOST_LINES)
			break;
	return at;
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
		document_add(document, DOCUMENT_QUOTE, "%s", last_words(state->final));
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
	document_table(document, DOCUMENT_COLUMNS({ "check", false }, { "before", false },
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
		document_table(document, DOCUMENT_COLUMNS({ "file", false }, { "", false },
							  { "lines", true }, { "", true }));
	for (size_t i = 0; i < count && i < MOST; i++)
		add_change(document, json_array_get(report->changes, i));
	report_section_rest(document, MOST, count, 0);
	if (count)
		document_add(document, DOCUMENT_NOTE,
			     "To read the changes: ringfence diff --loop %s", report->loop->id);
}

/* Adds findings: each has a place, and a sentence under one of two names. Returns how many are
 * left out. */
static size_t add_findings(struct document *document, const char *by, const json_t *findings,
			   const char *grade, const char *place, const char *sentence)
{
	size_t count = json_array_size(findings);
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
	return count - report_section_rows(count);
}

static void add_all_findings(struct document *document, const struct loop_state *state)
{
	size_t count = json_array_size(state->findings) + json_array_size(state->review.findings) +
		       json_array_size(state->mutants.untested);
	size_t left = 0;

	if (!count)
		return;
	document_section(document, "findings", "Findings");
	document_table(document, DOCUMENT_COLUMNS({ "by", false }, { "", false },
						  { "place", false }, { "says", false }));
	left += add_findings(document, "detectors", state->findings, "action", "path", "says");
	left += add_findings(document, "reviewer", state->review.findings, "severity", "file",
			     "text");
	left += add_findings(document, "mutants", state->mutants.untested, "action", "path",
			     "says");
	report_section_rest(document, count - left, count, 0);
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
	report_section_iterations(ret_document, report);
	report_section_models(ret_document, &report->iterations);
	report_section_tools(ret_document, &report->tools);
	report_section_hosts(ret_document, &report->tools);
	report_section_denials(ret_document, &report->tools);
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
	report_section_models(ret_document, &report->iterations);
	add_reproduction(ret_document, report);
}
