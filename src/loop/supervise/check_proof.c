/* Proof that the checks can fail: see check_proof.h. */
#include "loop/supervise/check_proof.h"

#include "loop/run/loop_checkpoint.h"
#include "loop/run/verification.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/check_run.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/step_end.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

/* The view in which the code is broken, once a check needs it. */
struct proof {
	struct work_view view;
	json_t *broken; /* what was broken (snapshot/undo/broken.h); NULL: nothing yet */
	const char *folder;
};

/* Ends a loop that has not begun. */
static int refuse(struct supervisor *sup, const char *reason, struct error *err)
{
	return step_end_loop(sup,
			     json_pack("{s:s, s:o, s:b}", "status", "failed", "reason",
				       loop_report_text(reason), "refused", 1),
			     err);
}

static int refuse_unbroken(struct supervisor *sup, const char *why, struct error *err)
{
	AUTO_FREE char *reason =
		mem_format("--prove-check cannot show that the checks can fail: %.1000s; to start "
			   "without: ringfence run --prove-check=false",
			   why);

	return refuse(sup, reason, err);
}

/* Breaks the code in a view, unless this was done. Returns whether it is; otherwise the loop has
 * ended, or the supervisor is leaving, and *ret_ended is 0, or -1 with err set. */
static bool has_broken(struct supervisor *sup, struct proof *proof, int *ret_ended,
		       struct error *err)
{
	AUTO_FREE char *failed = NULL;
	AUTO_FREE char *unseen = NULL;

	if (proof->broken)
		return true;
	*ret_ended = verification_trial_open(sup, err) < 0
			     ? -1
			     : loop_checkpoint_break(sup, sup->verification.layer, &proof->broken,
						     &failed, err);
	if (*ret_ended < 0 || sup->leaving)
		return false;
	if (failed)
		*ret_ended = refuse_unbroken(sup, failed, err);
	else if (!jsonget_number(proof->broken, "broken"))
		*ret_ended = refuse_unbroken(sup, "the project has no source code to break", err);
	else
		*ret_ended = verification_trial_begin(sup, &proof->view, &unseen, err);
	if (unseen)
		*ret_ended = refuse_unbroken(sup, unseen, err);
	return *ret_ended == 0 && sup->state.step == LOOP_STEP_baseline;
}

/* Reports whether a check fails, or runs nothing although it did before. */
static bool has_noticed(const struct loop_state *state, size_t index, const json_t *data)
{
	bool ran = index < state->options.checks.count && !state->checks[index].vacuous;

	return !jsonget_flag(data, "passed") || (ran && jsonget_flag(data, "vacuous"));
}

/* Runs a check on broken code. Returns the data of the event, or NULL as check_run() does. */
static json_t *try_check(struct supervisor *sup, size_t index, struct proof *proof, int *ret_ended,
			 struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *name = mem_format("proof-%zu.", index + 1);
	const bool final = index >= options->checks.count;
	const struct check_run_request run = {
		.index = final ? index - options->checks.count : index,
		.command = loop_options_check(options, index),
		.final = final,
		.apart = final,
		.folder = proof->folder,
		.name = name,
		.view = &proof->view,
	};
	json_t *data;

	if (!has_broken(sup, proof, ret_ended, err))
		return NULL;
	data = check_run(sup, &run, ret_ended, err);
	if (!data)
		return NULL;
	json_object_set_new(data, "noticed", json_boolean(has_noticed(&sup->state, index, data)));
	json_object_set(data, "broken", json_object_get(proof->broken, "broken"));
	json_object_set(data, "example", json_object_get(proof->broken, "example"));
	return data;
}

/* A check that failed has shown that it can. */
static json_t *failed_already(const struct loop_state *state, size_t index)
{
	return json_pack("{s:i, s:o, s:b, s:b}", "index", (int)index, "command",
			 loop_report_text(loop_options_check(&state->options, index)), "noticed", 1,
			 "before", 1);
}

static int prove(struct supervisor *sup, struct proof *proof, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	size_t index = sup->state.proofs_done;
	bool final = index >= options->checks.count;
	json_t *data;
	int ended;

	if (sup->state.wish == LOOP_WISH_ABORT)
		return step_end_aborted(sup, err);
	if (!final && !sup->state.checks[index].passed)
		return supervisor_append(sup, LOOP_EVENT_proved, failed_already(&sup->state, index),
					 err);
	data = try_check(sup, index, proof, &ended, err);
	if (!data)
		return ended;
	/* The others have passed before, so their programs are there. */
	if (final && judge_absent(options, loop_options_check(options, index),
				  (int)jsonget_number(data, "code"), true)) {
		ended = step_end_absent(sup, "the final check", loop_options_check(options, index),
					(int)jsonget_number(data, "code"), err);
		json_decref(data);
		return ended;
	}
	if (final)
		json_object_set_new(data, "final", json_true());
	return supervisor_append(sup, LOOP_EVENT_proved, data, err);
}

static int refuse_checks(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *reason = mem_format(
		"%u of the checks still pass%s when all source code is broken, so %s cannot fail "
		"(see: ringfence logs --checks); make %s depend on the code, for example without "
		"'|| true', and start again: ringfence run",
		sup->state.cannot_fail, sup->state.cannot_fail == 1 ? "es" : "",
		sup->state.cannot_fail == 1 ? "it" : "they",
		sup->state.cannot_fail == 1 ? "it" : "them");

	return refuse(sup, reason, err);
}

int check_proof_run(struct supervisor *sup, const char *folder, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	struct proof proof = { .folder = folder };
	int result = 0;

	if (!options->prove_check)
		return 0;
	while (result == 0 && sup->state.step == LOOP_STEP_baseline && !sup->leaving &&
	       sup->state.proofs_done < loop_options_check_count(options))
		result = prove(sup, &proof, err);
	verification_trial_end(sup);
	json_decref(proof.broken);
	if (result < 0 || sup->state.step != LOOP_STEP_baseline || sup->leaving ||
	    !sup->state.cannot_fail)
		return result;
	return refuse_checks(sup, err);
}
