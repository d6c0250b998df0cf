/* The phases of a loop: see phase.h. */
#include "loop/supervise/phase.h"

#include "draft/draft.h"
#include "loop/run/agent_sessions.h"
#include "loop/run/disk.h"
#include "loop/run/draft_leftovers.h"
#include "loop/run/leftovers.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/loop_cost.h"
#include "loop/run/loop_findings.h"
#include "loop/run/loop_git.h"
#include "loop/run/prompt.h"
#include "loop/run/review_prompt.h"
#include "loop/run/verification.h"
#include "loop/run/work.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/judge.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FINAL_BYTES = 16384,
	MOST_LOST = 5,
	LIMIT_BYTES = 128,
	COMPLAINT_BYTES = 4096,
	REVIEW_DIFF_BYTES = 256 << 10
};

/* Ends the loop. One whose result is a branch is closed first. Consumes the data. */
static int end_loop(struct supervisor *sup, json_t *data, struct error *err)
{
	bool leaves = sup->state.options.work_tree || draft_leftovers_wanted(&sup->state);

	return supervisor_append(sup, leaves ? LOOP_EVENT_closing : LOOP_EVENT_finished, data, err);
}

/* Creates the folder of an iteration. The caller frees the path; NULL with err set. */
static char *iteration_folder(const struct supervisor *sup, uint32_t iteration, uint32_t attempt,
			      struct error *err)
{
	char *folder = loop_folder_iteration(sup->folder, iteration, attempt);

	if (state_folder_make(folder, 0700) == 0)
		return folder;
	error_sys(err, "create '%s'", folder);
	free(folder);
	return NULL;
}

/* Commits leftovers in the loop's work tree. */
static int close_work_tree(struct supervisor *sup, char **ret_why, struct error *err)
{
	struct error why;
	int tries = 0;
	int again = 1;

	while (again > 0 && leftovers_commit(sup->folder, &sup->state, &why) < 0)
		again = loop_checkpoint_retry(sup, "commit leftovers", &why, &tries, err);
	if (again == 0)
		*ret_why = mem_dup(why.text);
	return again < 0 ? -1 : 0;
}

static int close_draft(struct supervisor *sup, char **ret_why, struct error *err)
{
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);
	AUTO_FREE char *why = NULL;

	if (!folder || draft_leftovers_commit(sup, folder, &why, err) < 0)
		return -1;
	if (why)
		*ret_why =
			mem_format("uncommitted work is only in the draft, not in the branch: %s",
				   why);
	return 0;
}

int phase_closing(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *why = NULL;
	json_t *data;
	int result = sup->state.options.draft ? close_draft(sup, &why, err)
					      : close_work_tree(sup, &why, err);

	if (result < 0 || sup->leaving)
		return result;
	data = json_copy(sup->state.closing);
	if (why)
		json_object_set_new(data, "uncommitted", loop_report_text(why));
	return supervisor_append(sup, LOOP_EVENT_finished, data, err);
}

int phase_finish(struct supervisor *sup, const char *status, const char *reason, struct error *err)
{
	return end_loop(sup,
			json_pack("{s:s, s:o}", "status", status, "reason",
				  loop_report_text(reason)),
			err);
}

/* Discards a review that was cut off. The checks run again, and then another review. */
static int discard_review(struct supervisor *sup, struct error *err)
{
	return supervisor_append(sup, LOOP_EVENT_reviewed, judge_review_lost(&sup->run.heard), err);
}

/* Ends the loop in the middle of an iteration. The agent's cost and commits so far count. Consumes
 * the data. */
static int end_loop_within(struct supervisor *sup, json_t *data, struct error *err)
{
	if (sup->state.phase == LOOP_PHASE_agent)
		judge_add_heard(data, &sup->run.heard);
	if ((sup->state.phase == LOOP_PHASE_review && discard_review(sup, err) < 0) ||
	    loop_git_import(sup, err) < 0) {
		json_decref(data);
		return -1;
	}
	return end_loop(sup, data, err);
}

/* A failed fence ends the loop; it is not a verdict on the work. */
static int finish_unfenced(struct supervisor *sup, const char *why, struct error *err)
{
	AUTO_FREE char *reason = mem_format("%s; once the cause is gone: ringfence resume", why);

	return end_loop_within(sup,
			       json_pack("{s:s, s:o, s:b}", "status", "failed", "reason",
					 loop_report_text(reason), "fence_failed", 1),
			       err);
}

/* Surveys the project, and reads the agent's HEAD. Without a checkpoint, only a draft's own files
 * are surveyed, which suffices to recognise a state. */
static int take_survey(const struct supervisor *sup, struct survey *ret_survey, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *git = loop_git_place(sup);
	AUTO_FREE char *files = options->draft ? draft_files(options->draft, err)
					       : mem_dup(options->project);

	if (!files)
		return -1;
	if (sup->checkpoint.current && sup->checkpoint.tallied)
		*ret_survey = sup->checkpoint.tally;
	else if (survey_take(sup->survey.memory, files, ret_survey, err) < 0)
		return -1;
	survey_head(git, ret_survey);
	return 0;
}

/* Marks `before` as current, and the latest checkpoint as equal to it, if there is one. */
static void survey_is_current(struct supervisor *sup)
{
	sup->survey.current = true;
	sup->survey.checkpoint = sup->checkpoint.current && sup->checkpoint.tallied
					 ? sup->state.checkpoint
					 : -1;
}

/* A missing program will not appear in a later iteration; stop now. */
static int finish_absent(struct supervisor *sup, const char *what, const char *line, int code,
			 struct error *err)
{
	AUTO_FREE char *why = mem_format(
		"%s '%.500s' %s in the fence (status %d): see ringfence logs%s; install it, or make it visible with --read",
		what, line,
		code == FENCE_EXIT_NOT_FOUND ? "was not found" : "could not be executed", code,
		sup->state.phase == LOOP_PHASE_baseline ? " --checks" : "");

	return end_loop(sup,
			json_pack("{s:s, s:o, s:b}", "status", "failed", "reason",
				  loop_report_text(why), "refused", 1),
			err);
}

/* Ends the loop if the program of a check is missing. Returns whether one is. */
static bool lacks_check(struct supervisor *sup, int *ret_result, struct error *err)
{
	const struct loop_options *options = &sup->state.options;

	for (size_t i = 0; i < sup->state.checks_done; i++) {
		const char *line = options->checks.items[i];
		int code = sup->state.checks[i].code;

		if (!judge_absent(options, line, code, true))
			continue;
		*ret_result = finish_absent(sup, "the check", line, code, err);
		return true;
	}
	return false;
}

/* Discards the current iteration. The baseline is simply run again. */
static int interrupt(struct supervisor *sup, struct error *err)
{
	if (sup->state.phase == LOOP_PHASE_baseline && ++sup->run.lost < MOST_LOST)
		return 0;
	if (sup->state.phase == LOOP_PHASE_baseline)
		return finish_unfenced(sup, "the process that holds the fence is killed repeatedly",
				       err);
	if (sup->state.phase == LOOP_PHASE_review)
		return discard_review(sup, err);
	return supervisor_append(sup, LOOP_EVENT_interrupted,
				 judge_interrupted(&sup->state, &sup->run.heard, clock_wall_ms()),
				 err);
}

/*
 * Handles a run that was cut off. Returns true if it was, and the loop or this attempt has ended.
 */
static bool handle_cut(struct supervisor *sup, const struct runner_result *result, int *ret_result,
		       struct error *err)
{
	*ret_result = 0;
	if (sup->leaving)
		return true;
	if (sup->run.cut == SUPERVISOR_CUT_ABORT)
		*ret_result = end_loop_within(sup,
					      json_pack("{s:s, s:s}", "status", "aborted", "reason",
							"by you"),
					      err);
	else if (result->lost ||
		 sup->run.cut == SUPERVISOR_CUT_DISK) /* phase_ready() checks the disk again */
		*ret_result = interrupt(sup, err);
	else if (result->kind == FENCE_SETUP)
		*ret_result = finish_unfenced(sup, result->why, err);
	else
		return false;
	return true;
}

static bool out_of_time(const struct runner_result *result)
{
	return result->kind == FENCE_LIMITED && result->tripped == FENCE_LIMIT_TIME;
}

static void add_time(struct buffer *out, const char *option, int64_t ms)
{
	buffer_printf(out, "%s ", option);
	text_add_duration(out, (uint64_t)ms);
}

static void add_money(struct buffer *out, const char *option, int64_t nusd)
{
	buffer_printf(out, "%s US$ %.2f", option, (double)nusd / 1e9);
}

/* One run of a check. */
struct check_run {
	size_t index;
	const char *command;
	bool final;                /* the agent never sees it */
	const char *folder, *name; /* of its logs */
	const struct work_view *view;
};

/* Runs a check once. Returns its result, as an event has it, or NULL if the loop or this attempt
 * has ended instead; *ret_ended is then 0, or -1 with err set. */
static json_t *run_once(struct supervisor *sup, const struct check_run *run, int *ret_ended,
			struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	struct runner_result result;
	json_t *data;
	bool ended;
	const struct work work = { .command = run->command,
				   .final = run->final,
				   .view = run->view,
				   .input = "",
				   .timeout_ms = sup->state.options.check_timeout_ms,
				   .folder = run->folder,
				   .name = run->name };

	*ret_ended = -1;
	if (work_run(sup, &work, &result, err) < 0)
		return NULL;
	sink_text(&sup->run.output, &text);
	sink_text(&sup->run.complaints, &text);
	ended = handle_cut(sup, &result, ret_ended, err);
	work_forget(sup);
	if (ended)
		return NULL;
	data = judge_check(run->index, run->command, &result, buffer_text(&text), text.used,
			   (size_t)sup->state.options.prompt.output_bytes);
	json_object_set_new(data, "new",
			    json_boolean(sup->state.phase == LOOP_PHASE_checks && !run->final &&
					 result.kind != FENCE_OK &&
					 sup->state.checks[run->index].held_before));
	if (out_of_time(&result)) {
		AUTO_BUFFER struct buffer limit = BUFFER_INIT(LIMIT_BYTES);

		add_time(&limit, "--check-timeout", work.timeout_ms);
		json_object_set_new(data, "limit", json_string(buffer_text(&limit)));
	}
	loop_report_add_found(run->folder, run->name, data);
	return data;
}

/* Without knowing the pinned files, a check could decide by the agent's version of them. */
static int pause_unpinned(struct supervisor *sup, const char *why, struct error *err)
{
	AUTO_FREE char *reason = mem_format(
		"the checks did not run, because the pinned files are not known: %.1000s (once the cause is gone: ringfence resume; to check with the agent's: ringfence resume --check-view=false)",
		why);

	/* The agent has done its part, and does not work again for this. */
	return supervisor_append(sup, LOOP_EVENT_paused,
				 json_pack("{s:o, s:b}", "reason", loop_report_text(reason),
					   "recheck", 1),
				 err);
}

/* Prepares the view for another check. Returns whether it may run; otherwise the loop or this
 * attempt has ended, and *ret_ended is 0, or -1 with err set. */
static bool settle(struct supervisor *sup, int *ret_ended, struct error *err)
{
	AUTO_FREE char *failed = NULL;

	*ret_ended = verification_settle(sup, &failed, err);
	if (*ret_ended == 0 && failed && !sup->leaving)
		*ret_ended = pause_unpinned(sup, failed, err);
	return *ret_ended == 0 && !failed && !sup->leaving;
}

/* Runs a check, also with the agent's version of pinned files if there is one, and records the
 * result. */
static int run_check(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	AUTO_FREE char *name = mem_format("check-%zu.", index + 1);
	AUTO_FREE char *own_name = mem_format("check-%zu.own.", index + 1);
	struct work_view pinned, own;
	struct check_run run = { .index = index,
				 .command = sup->state.options.checks.items[index],
				 .folder = folder,
				 .name = name,
				 .view = verification_pinned(sup, &pinned) };
	json_t *data, *other;
	int ended;

	if (sup->state.wish ==
	    LOOP_WISH_ABORT) /* recorded by a supervisor that was killed before it acted */
		return phase_finish(sup, "aborted", "by you", err);
	if (index > 0 && !settle(sup, &ended, err))
		return ended;
	data = run_once(sup, &run, &ended, err);
	if (!data)
		return ended;
	if (sup->verification.why)
		json_object_set_new(data, "unviewed", loop_report_text(sup->verification.why));
	run.name = own_name;
	run.view = verification_own(sup, &own);
	if (run.view) {
		other = run_once(sup, &run, &ended, err);
		if (!other) {
			json_decref(data);
			return ended;
		}
		json_object_set_new(data, "own", judge_own_check(other));
		json_decref(other);
	}
	return supervisor_append(sup, LOOP_EVENT_checked, data, err);
}

/* Runs a final check, and records its result. */
static int run_final(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	AUTO_FREE char *name = mem_format("final-%zu.", index + 1);
	struct work_view pinned;
	const struct check_run run = {
		.index = index,
		.command =
			json_string_value(json_array_get(sup->state.options.final_checks, index)),
		.final = true,
		.folder = folder,
		.name = name,
		.view = verification_pinned(sup, &pinned),
	};
	json_t *data;
	int ended;

	if (!settle(sup, &ended, err))
		return ended;
	data = run_once(sup, &run, &ended, err);
	return data ? supervisor_append(sup, LOOP_EVENT_held_out, data, err) : ended;
}

/* Runs the final checks if everything else holds. */
static int run_finals(struct supervisor *sup, const char *folder, struct error *err)
{
	size_t count = json_array_size(sup->state.options.final_checks);
	struct decision decision;
	struct survey now;
	json_t *data;

	if (!count || sup->state.phase != LOOP_PHASE_checks || sup->leaving)
		return 0;
	if (take_survey(sup, &now, err) < 0)
		return -1;
	judge_after(&sup->state, &now, clock_wall_ms(), &decision, &data);
	json_decref(data);
	/* A reviewer comes last: it costs more than a check. */
	while ((decision.action == DECISION_DONE || decision.action == DECISION_REVIEW) &&
	       sup->state.phase == LOOP_PHASE_checks && !sup->leaving &&
	       sup->state.finals_done < count)
		if (run_final(sup, sup->state.finals_done, folder, err) < 0)
			return -1;
	return 0;
}

/* Runs the checks of a round. A loop whose phase has changed has ended meanwhile. */
static int run_checks(struct supervisor *sup, const char *folder, struct error *err)
{
	enum loop_phase phase = sup->state.phase;
	int result = verification_begin(sup, err);

	while (result == 0 && sup->state.phase == phase && !sup->leaving &&
	       sup->state.checks_done < sup->state.options.checks.count)
		result = run_check(sup, sup->state.checks_done, folder, err);
	if (result == 0)
		result = run_finals(sup, folder, err);
	verification_end(sup);
	return result;
}

int phase_baseline(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *folder = iteration_folder(sup, 0, 1, err);
	AUTO_FREE char *failed = NULL;
	AUTO_FREE char *full = NULL;
	struct progress_snapshot snapshot;
	int ended;

	if (!folder)
		return -1;
	full = disk_trouble(sup);
	if (full)
		return error_set(err, "%.1500s", full);
	/* The state before the loop: nothing runs without this checkpoint. */
	if (sup->state.checkpoint < 0 && loop_checkpoint_take(sup, "start", 0, &failed, err) < 0)
		return -1;
	if (failed)
		return error_set(err, "the first checkpoint could not be taken: %.1500s", failed);
	if (loop_git_open(sup, err) < 0 || verification_open(sup, err) < 0 ||
	    run_checks(sup, folder, err) < 0)
		return -1;
	if (sup->state.phase != LOOP_PHASE_baseline || sup->leaving)
		return 0;
	if (lacks_check(sup, &ended, err))
		return ended;
	/* If this one fails, it is retried before an agent starts. */
	if (loop_checkpoint_take(sup, "before", sup->state.used + 1, &failed, err) < 0 ||
	    sup->leaving)
		return sup->leaving ? 0 : -1;
	if (take_survey(sup, &sup->survey.before, err) < 0)
		return -1;
	survey_is_current(sup);
	judge_snapshot(&sup->state, &sup->survey.before, &snapshot);
	if (supervisor_append(sup, LOOP_EVENT_baselined,
			      json_pack("{s:o}", "snapshot", loop_state_snapshot_json(&snapshot)),
			      err) < 0)
		return -1;
	if (judge_done_already(&sup->state))
		return phase_finish(sup, "completed",
				    "every rule already holds; nothing was started", err);
	return 0;
}

/* Begins an iteration with the agent that can work now, or without one. */
static int begin_iteration(struct supervisor *sup, uint32_t iteration, uint32_t attempt,
			   struct error *err)
{
	const struct decision_agents agents = loop_state_agents(&sup->state);
	uint32_t next = decision_next_agent(&agents, clock_wall_ms() / 1000);
	json_t *data = json_pack("{s:i, s:i, s:s, s:o, s:I}", "iteration", (int)iteration,
				 "attempt", (int)attempt, "tree", sup->survey.before.tree, "head",
				 loop_report_text(sup->survey.before.head), "checkpoint",
				 (json_int_t)sup->state.checkpoint);

	if (sup->state.recheck)
		return supervisor_append(sup, LOOP_EVENT_rechecks, data, err);
	if (agents.count + agents.rungs > 1) {
		json_object_set_new(data, "part", json_integer(next));
		json_object_set_new(data, "agent", json_string(agents.names[next]));
	}
	return supervisor_append(sup, LOOP_EVENT_begun, data, err);
}

/* Between iterations: may another one start? */
int phase_ready(struct supervisor *sup, struct error *err)
{
	struct decision decision;
	uint32_t iteration = sup->state.used + 1;
	uint32_t attempt = sup->state.iteration == iteration ? sup->state.attempt + 1 : 1;
	AUTO_FREE char *failed = NULL;
	AUTO_FREE char *full = NULL;

	if (supervisor_clock(sup, err) < 0)
		return -1;
	if (sup->state.wish == LOOP_WISH_ABORT)
		return phase_finish(sup, "aborted", "by you", err);
	if (sup->state.wish == LOOP_WISH_PAUSE)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:s}", "reason",
						   "by you (to continue: ringfence resume)"),
					 err);
	if (sup->money.used_up[0] && sup->money.used_up_today)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:s}", "reason", sup->money.used_up), err);
	if (sup->money.used_up[0])
		return phase_finish(sup, "limit", sup->money.used_up, err);
	full = disk_trouble(sup);
	if (full)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:o}", "reason", loop_report_text(full)), err);
	judge_before(&sup->state, clock_wall_ms(), &decision);
	if (decision.action == DECISION_LIMIT || decision.action == DECISION_FAILED)
		return phase_finish(sup, decision.action == DECISION_LIMIT ? "limit" : "failed",
				    decision.reasons[0], err);
	if (decision.action == DECISION_PAUSE)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:s, s:b}", "reason", decision.reasons[0],
						   "warned", decision.warned),
					 err);
	if (loop_checkpoint_take(sup, "before", iteration, &failed, err) < 0 ||
	    loop_git_open(sup, err) < 0)
		return -1;
	if (failed) {
		AUTO_FREE char *reason = mem_format(
			"a checkpoint could not be taken, and no agent runs without one: %s",
			failed);

		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:o}", "reason", loop_report_text(reason)),
					 err);
	}
	/* A request may have arrived during the checkpoint. */
	if (sup->leaving || sup->state.wish != LOOP_WISH_NONE)
		return 0;
	/* Usually nothing has happened since the last iteration was judged. */
	if (!sup->survey.current && take_survey(sup, &sup->survey.before, err) < 0)
		return -1;
	survey_is_current(sup);
	sup->survey.current = false;
	return begin_iteration(sup, iteration, attempt, err);
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

/* Returns how long the agent may run: not longer than the loop. 0: unlimited. */
static int64_t agent_time_ms(const struct supervisor *sup, bool *ret_total)
{
	const struct loop_state *state = &sup->state;
	int64_t most_ms = state->options.timeout_ms;
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
	bool review = loop_state_part(&sup->state)->review;

	if (scope == LEDGER_ITERATION)
		add_money(out, review ? "--review-budget" : "--budget",
			  loop_state_budget_nusd(&sup->state));
	else if (scope == LEDGER_LOOP)
		add_money(out, "--max-cost", options->limits.cost_nusd);
	else if (scope == LEDGER_DAY)
		add_money(out, "--daily-budget", options->daily_nusd);
	else if (sup->run.cut == SUPERVISOR_CUT_IDLE)
		add_time(out, "--idle-timeout", options->idle_ms);
	else if (out_of_time(result) && total)
		add_time(out, "--max-time", options->limits.total_s * 1000);
	else if (out_of_time(result))
		add_time(out, "--timeout", options->timeout_ms);
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

/* Runs a part to its end, and records it. */
static int run_part(struct supervisor *sup, struct work *work, struct error *err)
{
	struct runner_result result;
	bool total;
	int ended;

	work->timeout_ms = agent_time_ms(sup, &total);
	if (work_run(sup, work, &result, err) < 0)
		return -1;
	if (!handle_cut(sup, &result, &ended, err))
		ended = record_end(sup, &result, total, work, err);
	work_forget(sup);
	return ended;
}

/* Gives a part its prompt, of which a copy is kept beside its output. */
static int set_prompt(struct work *work, struct buffer *prompt, struct error *err)
{
	AUTO_FREE char *name = mem_format("%sprompt.md", work->name);

	work->input = buffer_text(prompt);
	work->size = prompt->used;
	return loop_folder_write(work->folder, name, prompt->data, prompt->used, err);
}

int phase_agent(struct supervisor *sup, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;
	const struct loop_part *part = loop_state_part(&sup->state);
	struct work work = {
		.command = part->command, .folder = folder, .name = "", .format = part->format
	};
	AUTO_FREE char *keep = agent_sessions_open(sup);
	bool by_login;
	AUTO_FREE char *login = agent_sessions_login(sup, &by_login, err);
	int ended;

	if (!folder || (by_login && !login))
		return -1;
	work.keep = keep;
	work.login = login;
	/* If the agent keeps its own files, its session exists only with them. */
	if (options->keep_session && (!keep || agent_sessions_has(keep)))
		work.session = sup->state.session;
	prompt_write(&sup->state, clock_wall_ms(), &prompt);
	if (set_prompt(&work, &prompt.text, err) < 0 ||
	    loop_report_survey(folder, "before.json", &sup->survey.before, err) < 0)
		return -1;
	ended = run_part(sup, &work, err);
	agent_sessions_close(sup, keep, folder);
	return ended;
}

/* Reads what has changed, for the reviewer. Without checkpoints, it has to find out itself. */
static int read_diff(struct supervisor *sup, struct buffer *diff, struct error *err)
{
	AUTO_FREE char *failed = NULL;

	if (sup->state.checkpoint < 0)
		return 0;
	if (loop_checkpoint_diff(sup, diff->max, diff, &failed, err) < 0)
		return -1;
	if (failed)
		fprintf(stderr, "the changes could not be read for a review: %s\n", failed);
	return 0;
}

int phase_review(struct supervisor *sup, struct error *err)
{
	const struct loop_part *part = loop_state_part(&sup->state);
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);
	AUTO_FREE char *name = work_name(sup);
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer diff = BUFFER_INIT(REVIEW_DIFF_BYTES);
	bool by_login;
	AUTO_FREE char *login = agent_sessions_login(sup, &by_login, err);
	struct work work = { .command = part->command,
			     .folder = folder,
			     .name = name,
			     .format = part->format,
			     .login = login };

	if (sup->state.wish == LOOP_WISH_ABORT) /* as in run_check() */
		return phase_finish(sup, "aborted", "by you", err);
	if (!folder || (by_login && !login) || read_diff(sup, &diff, err) < 0)
		return -1;
	if (sup->leaving)
		return 0;
	review_prompt_write(&sup->state, &diff, &prompt);
	return set_prompt(&work, &prompt, err) < 0 ? -1 : run_part(sup, &work, err);
}

static int begin_review(struct supervisor *sup, const struct survey *after, struct error *err)
{
	uint32_t changed = (uint32_t)after->changed;

	return supervisor_append(sup, LOOP_EVENT_reviewing,
				 json_pack("{s:i, s:i, s:i, s:s, s:I}", "iteration",
					   (int)sup->state.iteration, "attempt",
					   (int)sup->state.attempt, "run",
					   (int)sup->state.review.runs + 1, "agent",
					   sup->state.options.reviewer.agent, "changed",
					   (json_int_t)(changed ? changed
								: sup->state.review.changed)),
				 err);
}

/* Saves the agent's work as a checkpoint, and examines it. If that fails, the reason is recorded
 * and in *ret_failed, which the caller frees. Returns 0, or -1 with err set. */
static int examine(struct supervisor *sup, char **ret_failed, struct error *err)
{
	if (loop_checkpoint_take(sup, "after", sup->state.iteration, ret_failed, err) < 0)
		return -1;
	if (*ret_failed || sup->leaving)
		return 0;
	return loop_findings_take(sup, verification_pins(sup), ret_failed, err);
}

static int decide(struct supervisor *sup, const char *folder, bool examined, struct error *err)
{
	static const enum loop_event events[] = {
		[DECISION_DONE] = LOOP_EVENT_finished,  [DECISION_GO_ON] = LOOP_EVENT_continued,
		[DECISION_WAIT] = LOOP_EVENT_waits,     [DECISION_PAUSE] = LOOP_EVENT_paused,
		[DECISION_LIMIT] = LOOP_EVENT_finished, [DECISION_FAILED] = LOOP_EVENT_finished,
	};
	struct decision decision;
	AUTO_FREE char *failed = NULL;
	struct survey after;
	json_t *data;

	/* A failure is recorded, and retried before the next agent starts. */
	if ((!examined && examine(sup, &failed, err) < 0) || loop_git_import(sup, err) < 0)
		return -1;
	if (sup->leaving)
		return 0;
	if (take_survey(sup, &after, err) < 0)
		return -1;
	judge_after(&sup->state, &after, clock_wall_ms(), &decision, &data);
	if (decision.action == DECISION_REVIEW) {
		json_decref(data);
		return begin_review(sup, &after, err);
	}
	if (loop_state_part(&sup->state)->login) /* the risk is in every report */
		json_object_set_new(data, "login_in_fence",
				    loop_report_text(loop_state_part(&sup->state)->login));
	if (sup->state.options.replay) /* and so is the fact that no model was asked */
		json_object_set_new(data, "replay", loop_report_text(sup->state.options.replay));
	if (loop_report_survey(folder, "after.json", &after, err) < 0 ||
	    loop_report_json(folder, "analysis.json", data, err) < 0) {
		json_decref(data);
		return -1;
	}
	sup->survey.before = after;
	sup->survey.before.changed = 0;
	survey_is_current(sup);
	if (events[decision.action] == LOOP_EVENT_finished)
		return end_loop(sup, data, err);
	return supervisor_append(sup, events[decision.action], data, err);
}

int phase_checks(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);
	AUTO_FREE char *failed = NULL;
	bool examined;

	if (!folder)
		return -1;
	if (!sup->state.used &&
	    judge_absent(&sup->state.options, loop_state_part(&sup->state)->command,
			 sup->state.facts.exit_code, false))
		return finish_absent(sup, "the agent's command",
				     loop_state_part(&sup->state)->command,
				     sup->state.facts.exit_code, err);
	/* From here on the run differs from the recording, whatever the checks would report. */
	if (sup->money.strayed[0])
		return end_loop(sup,
				json_pack("{s:s, s:o}", "status", "failed", "reason",
					  loop_report_text(sup->money.strayed)),
				err);
	if (verification_open(sup, err) < 0)
		return -1;
	examined = verification_pins(sup);
	if (examined && examine(sup, &failed, err) < 0)
		return -1;
	if (failed && !sup->leaving)
		return pause_unpinned(sup, failed, err);
	if (sup->leaving || run_checks(sup, folder, err) < 0)
		return sup->leaving ? 0 : -1;
	if (sup->state.phase != LOOP_PHASE_checks || sup->leaving)
		return 0;
	return decide(sup, folder, examined && sup->checkpoint.current, err);
}

/*
 * Returns how long to wait for a provider. A tape replayed without its original pace waits for a
 * second only.
 */
static int64_t wait_until_ms(const struct supervisor *sup)
{
	int64_t soon_ms = sup->state.phase_ms + 1000;
	bool paced = !sup->state.options.replay || sup->fence.models.tape.paced;

	return paced || sup->state.wait_until_ms < soon_ms ? sup->state.wait_until_ms : soon_ms;
}

int phase_waiting(struct supervisor *sup, struct error *err)
{
	int64_t until_ms = wait_until_ms(sup);

	sup->survey.current = sup->checkpoint.current = false;
	while (clock_wall_ms() < until_ms && sup->state.wish == LOOP_WISH_NONE && !sup->leaving)
		supervisor_wait(sup, until_ms);
	return sup->leaving ? 0 : supervisor_append(sup, LOOP_EVENT_waited, json_object(), err);
}
