/* Mutants of the agent's lines: see check_mutants.h. */
#include "loop/supervise/check_mutants.h"

#include "loop/run/disk.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/verification.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/check_run.h"
#include "loop/supervise/step_end.h"
#include "mutant/mutant.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

/* A mutant may make the code slower, or loop forever. */
enum { SLOWER = 10, SLOWER_MS = 30000 };

/* More than this are counted, but not listed. */
enum { MOST_FINDINGS = 50 };

int check_mutants_begin(struct supervisor *sup, struct error *err)
{
	return supervisor_append(sup, LOOP_EVENT_mutating,
				 json_pack("{s:i, s:i, s:I, s:i}", "iteration",
					   (int)sup->state.iteration, "attempt",
					   (int)sup->state.attempt, "checkpoint",
					   (json_int_t)sup->state.checkpoint, "most",
					   (int)sup->state.options.mutants),
				 err);
}

/* Ends the step. why: not all were tried, or NULL. */
static int end(struct supervisor *sup, const char *why, struct error *err)
{
	const struct loop_state_mutants *mutants = &sup->state.mutants;
	json_t *data = json_pack("{s:i, s:i, s:i, s:i}", "tried", (int)mutants->done, "noticed",
				 (int)mutants->noticed, "survived", (int)mutants->survived,
				 "invalid", (int)mutants->invalid);

	if (why)
		json_object_set_new(data, "why", loop_report_text(why));
	if (mutants->untested)
		json_object_set(data, "findings", mutants->untested);
	return supervisor_append(sup, LOOP_EVENT_mutated, data, err);
}

/* The agent has done its part: after a pause, the checks run again, and then the mutants. */
static int pause_here(struct supervisor *sup, const char *reason, struct error *err)
{
	return supervisor_append(sup, LOOP_EVENT_paused,
				 json_pack("{s:o, s:b}", "reason", loop_report_text(reason),
					   "recheck", 1),
				 err);
}

/* Returns how long the loop may still work, or INT64_MAX. */
static int64_t time_left_ms(const struct loop_state *state)
{
	return state->options.limits.total_s
		       ? state->options.limits.total_s * 1000 -
				 (clock_wall_ms() - state->created_ms - state->rested_ms)
		       : INT64_MAX;
}

/* Returns how long a check may take with a mutant. */
static int64_t timeout_ms(const struct loop_state *state, const struct loop_state_check *check)
{
	int64_t most_ms = state->options.check_timeout_ms ? state->options.check_timeout_ms
							  : INT64_MAX;
	int64_t slow_ms = check ? SLOWER_MS + SLOWER * check->duration_ms : most_ms;
	int64_t left_ms = time_left_ms(state);

	most_ms = slow_ms < most_ms ? slow_ms : most_ms;
	most_ms = left_ms < most_ms ? left_ms : most_ms;
	return most_ms == INT64_MAX ? 0 : most_ms > 0 ? most_ms : 1;
}

/* ---- one mutant ---- */

/* A mutant, and how the checks ended with it. */
struct trial {
	struct work_view view;
	const char *folder;
	json_t *mutant; /* its description, and then the data of the event */
};

/* Records which check noticed the mutant, and whether by what it does. */
static void note_check(struct trial *trial, const json_t *data, const struct buffer *output)
{
	bool invalid = mutant_is_invalid(output->data, output->used);

	json_object_set_new(trial->mutant, "result", json_string(invalid ? "invalid" : "noticed"));
	json_object_set(trial->mutant, "check", json_object_get(data, "command"));
}

/* Runs a check with the mutant. Returns 1 if it noticed, 0 if not, or -1 as check_run() does. */
static int run_check(struct supervisor *sup, struct trial *trial, size_t index, int *ret_ended,
		     struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	const bool final = index >= options->checks.count;
	const size_t number = final ? index - options->checks.count : index;
	AUTO_BUFFER struct buffer output = BUFFER_INIT(1 << 20);
	const struct check_run_request run = {
		.index = number,
		.command = loop_options_check(options, index),
		.final = final,
		.apart = final,
		.folder = trial->folder,
		.name = "mutant.",
		.view = &trial->view,
		.timeout_ms = timeout_ms(&sup->state, final ? NULL : &sup->state.checks[number]),
		.output = &output,
	};
	json_t *data = check_run(sup, &run, ret_ended, err);
	bool held = data && jsonget_flag(data, "passed") && !jsonget_flag(data, "vacuous");

	if (data && !held)
		note_check(trial, data, &output);
	json_decref(data);
	return !data ? -1 : !held;
}

/* Returns the finding that a mutant survived, from its description. */
static json_t *finding_of(const json_t *mutant)
{
	static const char *const keys[][2] = {
		{ "action", "action" }, { "path", "path" },         { "line", "line" },
		{ "untested", "says" }, { "evidence", "evidence" }, { "says", "change" },
		{ "before", "before" }, { "after", "after" },
	};
	json_t *finding = json_pack("{s:s}", "kind", "untested");

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(finding, keys[i][1], json_object_get(mutant, keys[i][0]));
	return finding;
}

/* Records the end of a trial; the line is untested if no check noticed. */
static int record(struct supervisor *sup, struct trial *trial, bool noticed, struct error *err)
{
	json_t *data = json_incref(trial->mutant);

	json_object_set_new(data, "index", json_integer(sup->state.mutants.done));
	if (!noticed)
		json_object_set_new(data, "result", json_string("survived"));
	if (!noticed && strcmp(jsonget_text(data, "action"), "off") != 0 &&
	    json_array_size(sup->state.mutants.untested) < MOST_FINDINGS)
		json_object_set_new(data, "finding", finding_of(data));
	json_object_del(data, "untested");
	json_object_del(data, "action");
	return supervisor_append(sup, LOOP_EVENT_mutant, data, err);
}

static int run_checks(struct supervisor *sup, struct trial *trial, struct error *err)
{
	size_t count = loop_options_check_count(&sup->state.options);
	int noticed = 0;
	int ended = 0;

	for (size_t i = 0; i < count && noticed == 0; i++)
		noticed = run_check(sup, trial, i, &ended, err);
	if (noticed < 0)
		return ended;
	/* A check that the loop's time cut short has not noticed anything. */
	if (time_left_ms(&sup->state) <= 0)
		return 0;
	return record(sup, trial, noticed, err);
}

/* Tries the mutant that ringfence-snapshot has written, or ends the step if there was none. */
static int try_mutant(struct supervisor *sup, const json_t *answer, const char *folder,
		      struct error *err)
{
	struct trial trial = { .folder = folder, .mutant = json_object_get(answer, "mutant") };
	AUTO_FREE char *failed = NULL;

	if (!trial.mutant)
		return end(sup, NULL, err);
	if (verification_trial_begin(sup, &trial.view, &failed, err) < 0)
		return -1;
	return failed ? end(sup, failed, err) : run_checks(sup, &trial, err);
}

/* Invalid mutants are replaced by others, but not without end. */
static int next_mutant(struct supervisor *sup, const char *folder, struct error *err)
{
	const struct loop_state_mutants *mutants = &sup->state.mutants;
	struct loop_checkpoint_mutant mutant = { .most = 2 * sup->state.options.mutants,
						 .index = mutants->done };
	AUTO_FREE char *failed = NULL;
	json_t *answer = NULL;
	int result;

	if (verification_trial_open(sup, err) < 0)
		return -1;
	mutant.folder = sup->verification.layer;
	result = loop_checkpoint_mutate(sup, &mutant, &answer, &failed, err);
	if (result == 0 && !sup->leaving)
		result = failed ? end(sup, failed, err) : try_mutant(sup, answer, folder, err);
	verification_trial_end(sup);
	json_decref(answer);
	return result;
}

int check_mutants_step(struct supervisor *sup, struct error *err)
{
	const struct loop_state_mutants *mutants = &sup->state.mutants;
	AUTO_FREE char *folder = supervisor_iteration(sup, err);
	AUTO_FREE char *full = NULL;

	if (!folder || supervisor_clock(sup, err) < 0)
		return -1;
	if (sup->state.wish == LOOP_WISH_ABORT)
		return step_end_aborted(sup, err);
	if (sup->state.wish == LOOP_WISH_PAUSE)
		return pause_here(sup, loop_state_wish_reason(&sup->state), err);
	full = disk_trouble(sup);
	if (full)
		return pause_here(sup, full, err);
	if (mutants->noticed + mutants->survived >= sup->state.options.mutants)
		return end(sup, NULL, err);
	if (time_left_ms(&sup->state) <= 0)
		return end(sup, "the time of the loop is used up (--max-time)", err);
	return next_mutant(sup, folder, err);
}
