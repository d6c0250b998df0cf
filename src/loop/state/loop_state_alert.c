/*
 * Alerts in the state of a loop: see loop_state.h.
 *
 * A rule is reported once while it holds. Rules about an iteration begin again with the next one.
 */
#include "loop/state/loop_state.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>

const char *loop_state_wish_reason(const struct loop_state *state)
{
	if (state->wish_why)
		return state->wish_why;
	return state->wish == LOOP_WISH_PAUSE ? "by you (to continue: ringfence resume)" : "by you";
}

/* An alert does not replace the user's own wish. */
static void wish(struct loop_state *state, enum alert_action action, const char *text)
{
	enum loop_wish wish = action == ALERT_ABORT ? LOOP_WISH_ABORT : LOOP_WISH_PAUSE;

	if (action <= ALERT_NOTIFY || state->wish >= wish)
		return;
	free(state->wish_why);
	state->wish = wish;
	state->wish_asks = action == ALERT_ASK;
	state->wish_why =
		mem_format("%s%s", text,
			   action == ALERT_ABORT ? ""
			   : action == ALERT_ASK
				   ? "; go on? (yes: ringfence resume; no: ringfence abort)"
				   : " (to continue: ringfence resume)");
}

void loop_state_drop_alerts(struct loop_state *state, uint32_t rules)
{
	for (int i = 0; i < ALERT_COUNT; i++) {
		if (!(rules & 1U << i))
			continue;
		free(state->alert_texts[i]);
		state->alert_texts[i] = NULL;
	}
	state->alerted &= ~rules;
}

void loop_state_fold_alerted(struct loop_state *state, const json_t *data)
{
	int rule = alert_rule_find(jsonget_text(data, "rule"));
	int action = alert_action_find(jsonget_text(data, "then"));

	if (rule >= 0) {
		loop_state_drop_alerts(state, 1U << rule);
		state->alerted |= 1U << rule;
		state->alert_texts[rule] = mem_dup(jsonget_text(data, "text"));
	}
	if (action >= 0)
		wish(state, (enum alert_action)action, jsonget_text(data, "text"));
}

static void forget_unless(struct loop_state *state, enum alert_rule rule, int64_t value)
{
	if (!alert_holds(&state->options.alerts, rule, value))
		loop_state_drop_alerts(state, 1U << rule);
}

void loop_state_forget_alerts(struct loop_state *state, enum loop_event event)
{
	/* A repeated attempt is the same iteration. */
	if (event == LOOP_EVENT_continued || event == LOOP_EVENT_resumed)
		loop_state_drop_alerts(state, alert_of_iteration());
	if (event == LOOP_EVENT_examined)
		loop_state_drop_alerts(state, 1U << ALERT_finding);
	if (event == LOOP_EVENT_continued || event == LOOP_EVENT_changed) {
		forget_unless(state, ALERT_cost, state->spent_nusd);
		forget_unless(state, ALERT_no_progress, state->breakers[BREAKER_NO_PROGRESS].count);
	}
}
