/* Resuming: see resume.h. */
#include "loop/resume.h"

#include "loop/state/spec_json.h"
#include "loop/supervise/judge.h"
#include "util/env.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

/* Checks that variables passed by name are set: the journal stores no secrets. */
static int check_variables(const struct loop_state *state, struct error *err)
{
	struct fence_spec spec;
	const char *missing = NULL;
	bool passed = true;

	if (spec_json_read(state->options.fence, &spec, err) < 0)
		return -1;
	for (size_t i = 0; i < spec.env.count && !missing; i++)
		if (!strchr(spec.env.items[i], '=') && !env_get(spec.env.items[i]))
			missing = spec.env.items[i];
	/* A script may not need the key that was there by chance (supervisor_open()). */
	for (size_t i = 0; i < PROVIDER_COUNT && !missing && !loop_state_is_scripted(state); i++) {
		const struct key_source *key = &spec.models.upstreams[i].key;

		passed = false;
		if (key->kind == KEY_SOURCE_ENV && !env_has(key->value))
			missing = key->value;
	}
	if (missing)
		error_set(err, "%s %.100s, which is not set: set it and resume again",
			  passed ? "it was started with --env" : "its model key is in", missing);
	fence_spec_release(&spec);
	return missing ? -1 : 0;
}

static int simulate(struct loop_state *state, enum loop_event kind, const json_t *data,
		    int64_t now_ms, struct error *err)
{
	AUTO_FREE char *text = json_dumps(data, JSON_COMPACT);
	const struct journal_event event = { .seq = state->last_seq + 1,
					     .at_ms = now_ms,
					     .kind = loop_event_name(kind),
					     .data = text ? text : "" };

	return loop_state_fold(state, &event, err);
}

int resume_permits(struct loop_state *state, const json_t *changes, const char *told,
		   int64_t now_ms, struct error *err)
{
	enum loop_step step = state->step;
	struct decision decision;
	json_t *nothing;
	int result;

	if (jsonget_flag(changes, "next_phase") &&
	    state->phase.at + 1 >= state->options.phase_count)
		return error_set(err, state->options.phase_count
					      ? "this is its last phase; there is no next one"
					      : "it has no phases");
	/* The loop is over; only its end remains to be written. */
	if (step == LOOP_STEP_closing)
		return 0;
	if (!told && strcmp(loop_state_status(state, true), "completed") == 0)
		return error_set(err, "it is completed; there is nothing left to do");
	if (state->refused && !state->iteration)
		return error_set(err, "it never started; start a new one: ringfence run");
	if (check_variables(state, err) < 0)
		return -1;
	/* In the middle of an iteration, the decision is still to come. */
	if (step != LOOP_STEP_paused && step != LOOP_STEP_finished)
		return 0;
	nothing = json_object();
	result = simulate(state, LOOP_EVENT_changed, changes, now_ms, err) < 0
			 ? -1
			 : simulate(state, LOOP_EVENT_resumed, nothing, now_ms, err);
	json_decref(nothing);
	if (result < 0)
		return -1;
	judge_before(state, now_ms, &decision);
	return decision.action == DECISION_LIMIT ? error_set(err, "%s", decision.reasons[0]) : 0;
}
