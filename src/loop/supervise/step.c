/* The steps of a loop: see step.h. */
#include "loop/supervise/step.h"

#include "loop/run/agent_sessions.h"
#include "loop/run/disk.h"
#include "loop/run/draft_leftovers.h"
#include "loop/run/leftovers.h"
#include "loop/run/loop_alert.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/loop_findings.h"
#include "loop/run/loop_git.h"
#include "loop/run/loop_survey.h"
#include "loop/run/prompt.h"
#include "loop/run/retry.h"
#include "loop/run/review_prompt.h"
#include "loop/run/verification.h"
#include "loop/run/work.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/check_mutants.h"
#include "loop/supervise/check_proof.h"
#include "loop/supervise/check_round.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/part_run.h"
#include "loop/supervise/step_end.h"
#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>

enum { REVIEW_DIFF_BYTES = 256 << 10 };

/* Commits leftovers in the loop's work tree. */
static int close_work_tree(struct supervisor *sup, char **ret_why, struct error *err)
{
	struct error why;
	int tries = 0;
	int again = 1;

	while (again > 0 && leftovers_commit(sup->folder, &sup->state, &why) < 0)
		again = retry_after(sup, "commit leftovers", &why, &tries, err);
	if (again == 0)
		*ret_why = mem_dup(why.text);
	return again < 0 ? -1 : 0;
}

static int close_draft(struct supervisor *sup, char **ret_why, struct error *err)
{
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
	AUTO_FREE char *why = NULL;

	if (!folder || draft_leftovers_commit(sup, folder, &why, err) < 0)
		return -1;
	if (why)
		*ret_why =
			mem_format("uncommitted work is only in the draft, not in the branch: %s",
				   why);
	return 0;
}

int step_closing(struct supervisor *sup, struct error *err)
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

/* Pins files in a loop that begins with the result of another one, whose agent may have changed
 * them. A supervisor that goes on after the first check finds them in the view. */
static int pin_beginning(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;

	if (!sup->state.options.from || !verification_pins(sup) || sup->state.checks_done ||
	    sup->leaving)
		return 0;
	if (loop_findings_take(sup, verification_pins(sup), &failed, err) < 0)
		return -1;
	return failed ? error_set(err, "the pinned files are not known: %.1500s", failed) : 0;
}

int step_baseline(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
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
	    pin_beginning(sup, err) < 0 || check_round_run(sup, folder, err) < 0)
		return -1;
	if (sup->state.step != LOOP_STEP_baseline || sup->leaving)
		return 0;
	if (check_round_absent(sup, &ended, err))
		return ended;
	if (check_proof_run(sup, folder, err) < 0)
		return -1;
	if (sup->state.step != LOOP_STEP_baseline || sup->leaving)
		return 0;
	/* If this one fails, it is retried before an agent starts. */
	if (loop_checkpoint_take(sup, "before", sup->state.used + 1, &failed, err) < 0 ||
	    sup->leaving)
		return sup->leaving ? 0 : -1;
	if (loop_survey_take(sup, &sup->survey.before, err) < 0)
		return -1;
	loop_survey_is_current(sup);
	judge_snapshot(&sup->state, &sup->survey.before, &snapshot);
	if (supervisor_append(sup, LOOP_EVENT_baselined,
			      json_pack("{s:o}", "snapshot", loop_state_snapshot_json(&snapshot)),
			      err) < 0)
		return -1;
	if (judge_done_already(&sup->state))
		return step_end_as(sup, "completed",
				   "every rule already holds; nothing was started", err);
	return 0;
}

/* Begins an iteration with the agent that can work now, or without one. */
static int begin_iteration(struct supervisor *sup, uint32_t iteration, uint32_t attempt,
			   struct error *err)
{
	const struct decision_agents agents = loop_state_agents(&sup->state);
	const struct loop_phase *phase = loop_state_phase(&sup->state);
	uint32_t next = decision_next_agent(&agents, clock_wall_ms() / 1000);
	json_t *data = json_pack("{s:i, s:i, s:s, s:o, s:I}", "iteration", (int)iteration,
				 "attempt", (int)attempt, "tree", sup->survey.before.tree, "head",
				 loop_report_text(sup->survey.before.head), "checkpoint",
				 (json_int_t)sup->state.checkpoint);

	if (phase)
		json_object_set_new(data, "phase", json_string(phase->name));
	if (sup->state.recheck)
		return supervisor_append(sup, LOOP_EVENT_rechecks, data, err);
	if (sup->state.options.part_count > 1) {
		json_object_set_new(data, "part",
				    json_integer(loop_state_agent_at(&sup->state, next)));
		json_object_set_new(data, "agent", json_string(agents.names[next]));
	}
	return supervisor_append(sup, LOOP_EVENT_begun, data, err);
}

/* Between iterations: may another one start? */
int step_ready(struct supervisor *sup, struct error *err)
{
	struct decision decision;
	uint32_t iteration = sup->state.used + 1;
	uint32_t attempt = sup->state.iteration == iteration ? sup->state.attempt + 1 : 1;
	AUTO_FREE char *failed = NULL;
	AUTO_FREE char *full = NULL;

	if (supervisor_clock(sup, err) < 0)
		return -1;
	if (sup->state.wish == LOOP_WISH_ABORT)
		return step_end_aborted(sup, err);
	if (sup->state.wish == LOOP_WISH_PAUSE)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:o, s:b}", "reason",
						   loop_report_text(
							   loop_state_wish_reason(&sup->state)),
						   "asks", sup->state.wish_asks),
					 err);
	if (sup->money.used_up[0] && sup->money.used_up_today)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:s}", "reason", sup->money.used_up), err);
	if (sup->money.used_up[0])
		return step_end_as(sup, "limit", sup->money.used_up, err);
	full = disk_trouble(sup);
	if (full)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:o}", "reason", loop_report_text(full)), err);
	judge_before(&sup->state, clock_wall_ms(), &decision);
	if (decision.action == DECISION_LIMIT || decision.action == DECISION_FAILED)
		return step_end_as(sup, decision.action == DECISION_LIMIT ? "limit" : "failed",
				   decision.reasons[0], err);
	if (decision.action == DECISION_PAUSE)
		return supervisor_append(sup, LOOP_EVENT_paused,
					 json_pack("{s:s, s:b}", "reason", decision.reasons[0],
						   "warned", decision.warned),
					 err);
	/* An interrupted iteration has used up the money of the phase. */
	if (decision.next_phase)
		return supervisor_append(sup, LOOP_EVENT_changed,
					 json_pack("{s:b, s:s}", "next_phase", 1, "reason",
						   decision.reasons[0]),
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
	if (!sup->survey.current && loop_survey_take(sup, &sup->survey.before, err) < 0)
		return -1;
	loop_survey_is_current(sup);
	sup->survey.current = false;
	return begin_iteration(sup, iteration, attempt, err);
}

int step_agent(struct supervisor *sup, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
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
	if (part_run_prompt(&work, &prompt.text, err) < 0 ||
	    loop_report_survey(folder, "before.json", &sup->survey.before, err) < 0)
		return -1;
	ended = part_run(sup, &work, err);
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

int step_review(struct supervisor *sup, struct error *err)
{
	const struct loop_part *part = loop_state_part(&sup->state);
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
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
		return step_end_aborted(sup, err);
	if (!folder || (by_login && !login) || read_diff(sup, &diff, err) < 0)
		return -1;
	if (sup->leaving)
		return 0;
	review_prompt_write(&sup->state, &diff, &prompt);
	return part_run_prompt(&work, &prompt, err) < 0 ? -1 : part_run(sup, &work, err);
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
	if (loop_survey_take(sup, &after, err) < 0)
		return -1;
	judge_after(&sup->state, &after, clock_wall_ms(), &decision, &data);
	if (loop_alert_iteration(sup, &after, &decision, err) < 0) {
		json_decref(data);
		return -1;
	}
	if (decision.action == DECISION_REVIEW || decision.action == DECISION_MUTATE) {
		json_decref(data);
		return decision.action == DECISION_REVIEW ? begin_review(sup, &after, err)
							  : check_mutants_begin(sup, err);
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
	loop_survey_is_current(sup);
	if (events[decision.action] == LOOP_EVENT_finished)
		return step_end_loop(sup, data, err);
	return supervisor_append(sup, events[decision.action], data, err);
}

int step_checks(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
	AUTO_FREE char *failed = NULL;
	bool examined;

	if (!folder)
		return -1;
	if (!sup->state.used &&
	    judge_absent(&sup->state.options, loop_state_part(&sup->state)->command,
			 sup->state.facts.exit_code, false))
		return step_end_absent(sup, "the agent's command",
				       loop_state_part(&sup->state)->command,
				       sup->state.facts.exit_code, err);
	/* From here on the run differs from the recording, whatever the checks would report. */
	if (sup->money.strayed[0])
		return step_end_loop(sup,
				     json_pack("{s:s, s:o}", "status", "failed", "reason",
					       loop_report_text(sup->money.strayed)),
				     err);
	if (verification_open(sup, err) < 0)
		return -1;
	examined = verification_pins(sup);
	if (examined && examine(sup, &failed, err) < 0)
		return -1;
	if (failed && !sup->leaving)
		return check_round_unpinned(sup, failed, err);
	if (sup->leaving || check_round_run(sup, folder, err) < 0)
		return sup->leaving ? 0 : -1;
	if (sup->state.step != LOOP_STEP_checks || sup->leaving)
		return 0;
	return decide(sup, folder, examined && sup->checkpoint.current, err);
}

/*
 * Returns how long to wait for a provider. A tape replayed without its original pace waits for a
 * second only.
 */
static int64_t wait_until_ms(const struct supervisor *sup)
{
	int64_t soon_ms = sup->state.step_ms + 1000;
	bool paced = !sup->state.options.replay || sup->fence.models.tape.paced;

	return paced || sup->state.wait_until_ms < soon_ms ? sup->state.wait_until_ms : soon_ms;
}

int step_waiting(struct supervisor *sup, struct error *err)
{
	int64_t until_ms = wait_until_ms(sup);

	sup->survey.current = sup->checkpoint.current = false;
	while (clock_wall_ms() < until_ms && sup->state.wish == LOOP_WISH_NONE && !sup->leaving)
		supervisor_wait(sup, until_ms);
	return sup->leaving ? 0 : supervisor_append(sup, LOOP_EVENT_waited, json_object(), err);
}
