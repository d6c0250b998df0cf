/* How a loop ended: see loop_outcome.h. */
#include "loop/state/loop_outcome.h"

#include "loop/state/loop_report.h"

/* Did the check run after the last change of the work? */
static bool is_current(const struct loop_state *state, const struct loop_state_check *check)
{
	return check->iteration == state->iteration && check->attempt == state->attempt &&
	       !state->restored;
}

static bool has_failed(const struct loop_state_check *check)
{
	return check->ran && (!check->passed || check->vacuous);
}

json_t *loop_outcome_json(const struct loop_state *state, const char *status, const char *reason)
{
	size_t count = state->options.checks.count;
	size_t ran = 0, failing = 0, outdated = 0;

	for (size_t i = 0; i < count; i++) {
		ran += state->checks[i].ran;
		failing += has_failed(&state->checks[i]);
		outdated += state->checks[i].ran && !is_current(state, &state->checks[i]);
	}
	return json_pack("{s:s, s:o, s:I, s:I, s:I, s:b, s:b}", "status", status, "reason",
			 reason ? loop_report_text(reason) : json_null(), "checks",
			 (json_int_t)count, "ran", (json_int_t)ran, "failing", (json_int_t)failing,
			 "outdated", outdated > 0, "final_failing", state->final_failed);
}
