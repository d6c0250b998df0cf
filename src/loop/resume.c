/* Going on: see resume.h. */
#include "loop/resume.h"

#include "loop/frozen.h"
#include "loop/judge.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* A variable is passed on by its name: the journal keeps no secrets. */
static int find_variables(const struct loop_state *state, struct error *err)
{
	struct fence_spec spec;
	int result = 0;

	if (frozen_thaw(state->options.fence, &spec, err) < 0)
		return -1;
	for (size_t i = 0; i < spec.env.count && result == 0; i++)
		if (!strchr(spec.env.items[i], '=') && !getenv(spec.env.items[i]))
			result = error_set(
				err,
				"the loop was started with --env %.100s, which is not set here now: set it and resume again",
				spec.env.items[i]);
	fence_spec_release(&spec);
	return result;
}

static int pretend(struct loop_state *state, enum loop_event kind, const json_t *data,
		   int64_t now_ms, struct error *err)
{
	AUTO_FREE char *text = json_dumps(data, JSON_COMPACT);
	const struct store_event event = { .seq = state->last_seq + 1,
					   .at_ms = now_ms,
					   .kind = loop_event_name(kind),
					   .data = text ? text : "" };

	return loop_state_take(state, &event, err);
}

int resume_permits(struct loop_state *state, const json_t *changes, int64_t now_ms,
		   struct error *err)
{
	enum loop_phase phase = state->phase;
	struct guard_decision decision;
	json_t *nothing;
	int result;

	if (strcmp(loop_status(state, true), "completed") == 0)
		return error_set(err, "it is completed; there is nothing to go on with");
	if (state->refused && !state->iteration)
		return error_set(err, "it never began; start another one: ringfence run");
	if (find_variables(state, err) < 0)
		return -1;
	/* In the midst of an iteration its verdict is still to come. */
	if (phase != LOOP_PHASE_paused && phase != LOOP_PHASE_finished)
		return 0;
	nothing = json_object();
	result = pretend(state, LOOP_EVENT_changed, changes, now_ms, err) < 0
			 ? -1
			 : pretend(state, LOOP_EVENT_resumed, nothing, now_ms, err);
	json_decref(nothing);
	if (result < 0)
		return -1;
	judge_before(state, now_ms, &decision);
	return decision.action == GUARD_LIMIT ? error_set(err, "%s", decision.reasons[0]) : 0;
}
