/* One run of an agent or a reviewer: see part_run.h. */
#include "loop/supervise/part_run.h"

#include "loop/run/loop_alert.h"
#include "loop/run/loop_cost.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/step_end.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum { FINAL_BYTES = 16384, LIMIT_BYTES = 128, COMPLAINT_BYTES = 4096 };

static void add_time(struct buffer *out, const char *option, int64_t ms)
{
	buffer_printf(out, "%s ", option);
	text_add_duration(out, (uint64_t)ms);
}

static void add_money(struct buffer *out, const char *option, int64_t nusd)
{
	buffer_printf(out, "%s US$ %.2f", option, (double)nusd / 1e9);
}

/*
 * Reads the agent's final message: from its stream, or the end of its plain output. The end of a
 * stream is not a message: it may contain a promise from the prompt or a tool.
 */
static void read_final(struct supervisor *sup, struct buffer *final)
{
	if (sup->run.heard.final)
		buffer_add_text(final, sup->run.heard.final);
	else if (strcmp(loop_state_part(&sup->state)->format->name, "plain") == 0)
		sink_last(&sup->run.output, FINAL_BYTES, final);
}

/* Returns the limit of an iteration. */
static int64_t timeout_ms(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);

	return loop_phase_tighter(state->options.timeout_ms,
				  phase && !loop_state_part(state)->review ? phase->timeout_ms : 0);
}

/* Returns how long the agent may run: not longer than the loop. 0: unlimited. */
static int64_t agent_time_ms(const struct supervisor *sup, bool *ret_total)
{
	const struct loop_state *state = &sup->state;
	int64_t most_ms = timeout_ms(state);
	int64_t left_ms = state->options.limits.total_s * 1000 -
			  (clock_wall_ms() - state->created_ms - state->rested_ms);

	*ret_total = state->options.limits.total_s && (!most_ms || left_ms < most_ms);
	if (!*ret_total)
		return most_ms;
	return left_ms > 0 ? left_ms : 1;
}

/* Returns which budget was used up, by the count of the gateway or the agent, or LEDGER_SCOPES. */
static enum ledger_scope money_of(const struct supervisor *sup, const struct runner_result *result)
{
	int64_t budget = loop_state_budget_nusd(&sup->state);

	if (result->metered)
		return result->news.over ? result->news.scope : LEDGER_SCOPES;
	if (sup->run.cut != SUPERVISOR_CUT_BUDGET)
		return LEDGER_SCOPES;
	return budget && sup->run.heard.cost_nusd >= budget ? LEDGER_ITERATION : LEDGER_LOOP;
}

/* Writes the option that stopped the agent, with its value. */
static void name_limit(const struct supervisor *sup, const struct runner_result *result, bool total,
		       struct buffer *out)
{
	const struct loop_options *options = &sup->state.options;
	enum ledger_scope scope = money_of(sup, result);
	const struct loop_budget_name budget = loop_state_budget_name(&sup->state);

	if (scope == LEDGER_ITERATION)
		add_money(out, budget.option, budget.whole_nusd);
	else if (scope == LEDGER_LOOP)
		add_money(out, "--max-cost", options->limits.cost_nusd);
	else if (scope == LEDGER_DAY)
		add_money(out, "--daily-budget", options->daily_nusd);
	else if (sup->run.cut == SUPERVISOR_CUT_IDLE)
		add_time(out, "--idle-timeout", options->idle_ms);
	else if (runner_out_of_time(result) && total)
		add_time(out, "--max-time", options->limits.total_s * 1000);
	else if (runner_out_of_time(result))
		add_time(out,
			 timeout_ms(&sup->state) == options->timeout_ms ? "--timeout"
									: "timeout of the phase",
			 timeout_ms(&sup->state));
}

/* Records the end of the part that ran: of the agent, or of the reviewer. */
static int record_end(struct supervisor *sup, const struct runner_result *result, bool total,
		      const struct work *work, struct error *err)
{
	bool review = loop_state_part(&sup->state)->review;
	AUTO_BUFFER struct buffer final = BUFFER_INIT(2 * FINAL_BYTES);
	AUTO_BUFFER struct buffer limit = BUFFER_INIT(LIMIT_BYTES);
	AUTO_BUFFER struct buffer complaint = BUFFER_INIT(2 * COMPLAINT_BYTES);
	json_t *data;

	name_limit(sup, result, total, &limit);

	const struct judge_end_facts facts = {
		.idle = sup->run.cut == SUPERVISOR_CUT_IDLE,
		.over_budget = sup->run.cut == SUPERVISOR_CUT_BUDGET ||
			       (result->metered && result->news.over),
		.limit = buffer_text(&limit),
		.bytes = sup->run.output.bytes + sup->run.complaints.bytes,
		.heard = &sup->run.heard
	};

	read_final(sup, &final);
	agent_summary_exit(&sup->run.heard, loop_state_part(&sup->state)->format, result->code);
	loop_cost_hear(sup, result, facts.over_budget);
	data = judge_end(result, &facts, buffer_text(&final), final.used, clock_wall_ms());
	if (result->code != 0) {
		sink_last(&sup->run.complaints, COMPLAINT_BYTES, &complaint);
		judge_add_last_line(data, buffer_text(&complaint), complaint.used);
	}
	loop_report_add_found(work->folder, work->name, data);
	if (review)
		data = judge_review(data, buffer_text(&final), final.used);
	return supervisor_append(sup, review ? LOOP_EVENT_reviewed : LOOP_EVENT_ended, data, err);
}

int part_run(struct supervisor *sup, struct work *work, struct error *err)
{
	struct runner_result result;
	bool total;
	int ended;

	work->timeout_ms = agent_time_ms(sup, &total);
	if (work_run(sup, work, &result, err) < 0)
		return -1;
	if (loop_alert_heard(sup, err) < 0) {
		work_forget(sup);
		return -1;
	}
	if (!step_end_cut(sup, &result, &ended, err))
		ended = record_end(sup, &result, total, work, err);
	work_forget(sup);
	return ended;
}

int part_run_prompt(struct work *work, struct buffer *prompt, struct error *err)
{
	AUTO_FREE char *name = mem_format("%sprompt.md", work->name);

	work->input = buffer_text(prompt);
	work->size = prompt->used;
	return loop_folder_write(work->folder, name, prompt->data, prompt->used, err);
}
