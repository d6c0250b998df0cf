/* How a step is cut short, and how a loop ends: see step_end.h. */
#include "loop/supervise/step_end.h"

#include "fence/fence_result.h"
#include "loop/run/draft_leftovers.h"
#include "loop/run/loop_git.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/judge.h"
#include "util/clock.h"
#include "util/mem.h"

enum { MOST_LOST = 5 };

int step_end_loop(struct supervisor *sup, json_t *data, struct error *err)
{
	bool leaves = sup->state.options.work_tree || draft_leftovers_wanted(&sup->state);

	return supervisor_append(sup, leaves ? LOOP_EVENT_closing : LOOP_EVENT_finished, data, err);
}

int step_end_as(struct supervisor *sup, const char *status, const char *reason, struct error *err)
{
	return step_end_loop(sup,
			     json_pack("{s:s, s:o}", "status", status, "reason",
				       loop_report_text(reason)),
			     err);
}

int step_end_aborted(struct supervisor *sup, struct error *err)
{
	return step_end_as(sup, "aborted", loop_state_wish_reason(&sup->state), err);
}

/* Discards a review that was cut off. The checks run again, and then another review. */
static int discard_review(struct supervisor *sup, struct error *err)
{
	return supervisor_append(sup, LOOP_EVENT_reviewed, judge_review_lost(&sup->run.heard), err);
}

/* Ends the loop in the middle of an iteration. The agent's cost and commits so far count. Consumes
 * the data. */
static int end_within(struct supervisor *sup, json_t *data, struct error *err)
{
	if (sup->state.step == LOOP_STEP_agent)
		judge_add_heard(data, &sup->run.heard);
	if ((sup->state.step == LOOP_STEP_review && discard_review(sup, err) < 0) ||
	    loop_git_import(sup, err) < 0) {
		json_decref(data);
		return -1;
	}
	return step_end_loop(sup, data, err);
}

/* A failed fence ends the loop; it is not a verdict on the work. */
static int finish_unfenced(struct supervisor *sup, const char *why, struct error *err)
{
	AUTO_FREE char *reason = mem_format("%s; once the cause is gone: ringfence resume", why);

	return end_within(sup,
			  json_pack("{s:s, s:o, s:b}", "status", "failed", "reason",
				    loop_report_text(reason), "fence_failed", 1),
			  err);
}

int step_end_absent(struct supervisor *sup, const char *what, const char *line, int code,
		    struct error *err)
{
	AUTO_FREE char *why = mem_format(
		"%s '%.500s' %s in the fence (status %d): see ringfence logs%s; install it, or make it visible with --read",
		what, line,
		code == FENCE_EXIT_NOT_FOUND ? "was not found" : "could not be executed", code,
		sup->state.step == LOOP_STEP_baseline ? " --checks" : "");

	return step_end_loop(sup,
			     json_pack("{s:s, s:o, s:b}", "status", "failed", "reason",
				       loop_report_text(why), "refused", 1),
			     err);
}

/* Discards the current iteration. The baseline, or a mutant, is simply run again. */
static int interrupt(struct supervisor *sup, struct error *err)
{
	bool again = sup->state.step == LOOP_STEP_baseline || sup->state.step == LOOP_STEP_mutants;

	if (again && ++sup->run.lost < MOST_LOST)
		return 0;
	if (again)
		return finish_unfenced(sup, "the process that holds the fence is killed repeatedly",
				       err);
	if (sup->state.step == LOOP_STEP_review)
		return discard_review(sup, err);
	return supervisor_append(sup, LOOP_EVENT_interrupted,
				 judge_interrupted(&sup->state, &sup->run.heard, clock_wall_ms()),
				 err);
}

/* An alert pauses the loop before the next attempt, which no breaker counts. */
static int paused_by_alert(struct supervisor *sup, struct error *err)
{
	if (sup->state.step == LOOP_STEP_review)
		return discard_review(sup, err);
	return supervisor_append(sup, LOOP_EVENT_interrupted,
				 judge_restarted(&sup->state, &sup->run.heard, "alert"), err);
}

bool step_end_cut(struct supervisor *sup, const struct runner_result *result, int *ret_result,
		  struct error *err)
{
	*ret_result = 0;
	if (sup->leaving)
		return true;
	if (sup->run.cut == SUPERVISOR_CUT_ABORT)
		*ret_result =
			end_within(sup,
				   json_pack("{s:s, s:o}", "status", "aborted", "reason",
					     loop_report_text(loop_state_wish_reason(&sup->state))),
				   err);
	else if (sup->run.cut == SUPERVISOR_CUT_TOLD)
		*ret_result =
			supervisor_append(sup, LOOP_EVENT_interrupted,
					  judge_restarted(&sup->state, &sup->run.heard, "told"),
					  err);
	else if (sup->run.cut == SUPERVISOR_CUT_ALERT)
		*ret_result = paused_by_alert(sup, err);
	else if (result->lost ||
		 sup->run.cut == SUPERVISOR_CUT_DISK || /* step_ready() checks the disk again */
		 sup->run.cut == SUPERVISOR_CUT_LIMIT)
		*ret_result = interrupt(sup, err);
	else if (result->kind == FENCE_SETUP)
		*ret_result = finish_unfenced(sup, result->why, err);
	else
		return false;
	return true;
}
