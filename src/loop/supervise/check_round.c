/* A round of checks: see check_round.h. */
#include "loop/supervise/check_round.h"

#include "loop/run/loop_survey.h"
#include "loop/run/verification.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/check_run.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/step_end.h"
#include "util/clock.h"
#include "util/mem.h"

#define UNSEEN "the pinned files cannot be shown"

/* Pauses the loop, because the checks could not run as they should. */
static int pause_round(struct supervisor *sup, const char *what, const char *why, struct error *err)
{
	AUTO_FREE char *reason = mem_format(
		"the checks did not run, because %s: %.1000s (once the cause is gone: ringfence resume; to check with the agent's: ringfence resume --check-view=false)",
		what, why);

	verification_end(sup); /* a full disk may be the cause */
	/* The agent has done its part, and does not work again for this. */
	return supervisor_append(sup, LOOP_EVENT_paused,
				 json_pack("{s:o, s:b}", "reason", loop_report_text(reason),
					   "recheck", 1),
				 err);
}

int check_round_unpinned(struct supervisor *sup, const char *why, struct error *err)
{
	return pause_round(sup, "the pinned files are not known", why, err);
}

/* Prepares the view for another check. Returns whether it may run; otherwise the loop or this
 * attempt has ended, and *ret_ended is 0, or -1 with err set. */
static bool settle(struct supervisor *sup, int *ret_ended, struct error *err)
{
	AUTO_FREE char *failed = NULL;

	*ret_ended = verification_settle(sup, &failed, err);
	if (*ret_ended == 0 && failed && !sup->leaving)
		*ret_ended = check_round_unpinned(sup, failed, err);
	return *ret_ended == 0 && !failed && !sup->leaving;
}

/* Runs a check, also with the agent's version of pinned files if there is one, and records the
 * result. */
static int run_check(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	AUTO_FREE char *name = mem_format("check-%zu.", index + 1);
	AUTO_FREE char *own_name = mem_format("check-%zu.own.", index + 1);
	struct work_view pinned, own;
	struct check_run_request run = { .index = index,
					 .command = sup->state.options.checks.items[index],
					 .folder = folder,
					 .name = name,
					 .view = verification_pinned(sup, &pinned) };
	json_t *data, *other;
	int ended;

	if (sup->state.wish ==
	    LOOP_WISH_ABORT) /* recorded by a supervisor that was killed before it acted */
		return step_end_aborted(sup, err);
	if (index > 0 && !settle(sup, &ended, err))
		return ended;
	data = check_run(sup, &run, &ended, err);
	if (!data)
		return ended;
	if (sup->verification.why)
		json_object_set_new(data, "unviewed", loop_report_text(sup->verification.why));
	run.name = own_name;
	run.view = verification_own(sup, &own);
	if (run.view) {
		other = check_run(sup, &run, &ended, err);
		if (!other) {
			json_decref(data);
			return ended;
		}
		json_object_set_new(data, "own", judge_own_check(other));
		json_decref(other);
	}
	return supervisor_append(sup, LOOP_EVENT_checked, data, err);
}

/* Runs a check that is not one of the loop's, and records its result. */
static int run_apart(struct supervisor *sup, const struct check_run_request *check,
		     enum loop_event event, struct error *err)
{
	struct work_view pinned;
	struct check_run_request run = *check;
	json_t *data;
	int ended;

	run.view = verification_pinned(sup, &pinned);
	if (!settle(sup, &ended, err))
		return ended;
	data = check_run(sup, &run, &ended, err);
	return data ? supervisor_append(sup, event, data, err) : ended;
}

static int run_final(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	AUTO_FREE char *name = mem_format("final-%zu.", index + 1);
	const struct check_run_request run = {
		.index = index,
		.command =
			json_string_value(json_array_get(sup->state.options.final_checks, index)),
		.final = true,
		.apart = true,
		.folder = folder,
		.name = name,
	};

	return run_apart(sup, &run, LOOP_EVENT_held_out, err);
}

static int run_probe(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	AUTO_FREE char *name = mem_format("phase-%zu.", index + 1);
	const struct check_run_request run = {
		.index = index,
		.command = loop_phase_check(loop_state_phase(&sup->state), index),
		.apart = true,
		.folder = folder,
		.name = name,
	};

	return run_apart(sup, &run, LOOP_EVENT_probed, err);
}

/* Runs the commands that end the phase. */
static int run_probes(struct supervisor *sup, const char *folder, struct error *err)
{
	const struct loop_phase *phase = loop_state_phase(&sup->state);
	int result = 0;

	while (result == 0 && phase && sup->state.step == LOOP_STEP_checks && !sup->leaving &&
	       sup->state.phase.checks_done < loop_phase_checks(phase))
		result = run_probe(sup, sup->state.phase.checks_done, folder, err);
	return result;
}

/* Finds out whether everything holds but final checks. Before the first iteration, they run only if
 * no agent is needed. */
static int needs_finals(struct supervisor *sup, bool *ret_needs, struct error *err)
{
	struct decision decision;
	struct survey now;
	json_t *data;

	*ret_needs = sup->state.step == LOOP_STEP_baseline && judge_done_but_finals(&sup->state);
	if (sup->state.step != LOOP_STEP_checks)
		return 0;
	if (loop_survey_take(sup, &now, err) < 0)
		return -1;
	judge_after(&sup->state, &now, clock_wall_ms(), &decision, &data);
	json_decref(data);
	/* A reviewer comes last: it costs more than a check. So do mutants. */
	*ret_needs = decision.action == DECISION_DONE || decision.action == DECISION_MUTATE ||
		     decision.action == DECISION_REVIEW;
	return 0;
}

/* Runs the final checks if everything else holds. */
static int run_finals(struct supervisor *sup, const char *folder, struct error *err)
{
	size_t count = json_array_size(sup->state.options.final_checks);
	enum loop_step step = sup->state.step;
	bool needs = false;

	if (!count || sup->leaving)
		return 0;
	if (needs_finals(sup, &needs, err) < 0)
		return -1;
	while (needs && sup->state.step == step && !sup->leaving && sup->state.finals_done < count)
		if (run_final(sup, sup->state.finals_done, folder, err) < 0)
			return -1;
	return 0;
}

/* Makes the views. Without them, the loop pauses, or does not begin. */
static int begin(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;

	if (verification_begin(sup, &failed, err) < 0)
		return -1;
	if (failed && sup->state.step == LOOP_STEP_baseline)
		return error_set(err, "the checks did not run, because " UNSEEN ": %.1500s",
				 failed);
	return failed ? pause_round(sup, UNSEEN, failed, err) : 0;
}

int check_round_run(struct supervisor *sup, const char *folder, struct error *err)
{
	enum loop_step step = sup->state.step;
	int result = begin(sup, err);

	while (result == 0 && sup->state.step == step && !sup->leaving &&
	       sup->state.checks_done < sup->state.options.checks.count)
		result = run_check(sup, sup->state.checks_done, folder, err);
	if (result == 0)
		result = run_probes(sup, folder, err);
	if (result == 0)
		result = run_finals(sup, folder, err);
	verification_end(sup);
	return result;
}

bool check_round_absent(struct supervisor *sup, int *ret_result, struct error *err)
{
	const struct loop_options *options = &sup->state.options;

	for (size_t i = 0; i < sup->state.checks_done; i++) {
		const char *line = options->checks.items[i];
		int code = sup->state.checks[i].code;

		if (!judge_absent(options, line, code, true))
			continue;
		*ret_result = step_end_absent(sup, "the check", line, code, err);
		return true;
	}
	return false;
}
