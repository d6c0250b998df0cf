/* Alerts of a loop: see loop_alert.h. */
#include "loop/run/loop_alert.h"

#include "loop/run/room.h"
#include "loop/run/work.h"
#include "loop/state/loop_accepted.h"
#include "loop/state/loop_report.h"
#include "util/mem.h"

#include <stdio.h>

/* Pauses or aborts. Checks are not cut off: the loop pauses when they have ended. */
static void act(struct supervisor *sup, enum alert_action action)
{
	bool agent = sup->state.step == LOOP_STEP_agent || sup->state.step == LOOP_STEP_review;

	if (sup->run.ended || sup->run.cut != SUPERVISOR_CUT_NOT)
		return;
	if (action == ALERT_ABORT)
		work_stop(sup, SUPERVISOR_CUT_ABORT, false);
	else if (action > ALERT_NOTIFY && agent)
		work_stop(sup, SUPERVISOR_CUT_ALERT, false);
}

static int raise_alert(struct supervisor *sup, enum alert_rule rule, int64_t value,
		       struct error *err)
{
	const struct alert_settings *alerts = &sup->state.options.alerts;
	enum alert_action action = alerts->rules[rule].action;
	AUTO_FREE char *text = alert_text(alerts, rule, value);
	json_t *data = json_pack("{s:s, s:s, s:I, s:I, s:i, s:o}", "rule", alert_rule_name(rule),
				 "then", alert_action_name(action), "level",
				 (json_int_t)alerts->rules[rule].level, "value", (json_int_t)value,
				 "iteration", (int)sup->state.iteration, "text",
				 loop_report_text(text));

	if (supervisor_append(sup, LOOP_EVENT_alerted, data, err) < 0)
		return -1;
	act(sup, action);
	return 0;
}

/* Reports what holds and was not reported yet. */
static int judge(struct supervisor *sup, const struct alert_facts *facts, struct error *err)
{
	uint32_t held = alert_judge(&sup->state.options.alerts, facts) & ~sup->state.alerted;

	for (int i = 0; i < ALERT_COUNT; i++)
		if (held & 1U << i &&
		    raise_alert(sup, (enum alert_rule)i, facts->values[i], err) < 0)
			return -1;
	return 0;
}

static bool is_iteration(enum loop_step step)
{
	return step == LOOP_STEP_agent || step == LOOP_STEP_checks || step == LOOP_STEP_mutants ||
	       step == LOOP_STEP_review;
}

/* Notices a new attempt. */
static void follow(struct supervisor *sup)
{
	struct supervisor_alert *alert = &sup->alert;

	if (alert->iteration == sup->state.iteration && alert->attempt == sup->state.attempt)
		return;
	alert->iteration = sup->state.iteration;
	alert->attempt = sup->state.attempt;
	alert->begun_ms = wait_set_steady_ms();
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Looks at the disk as often as the heart beats. */
static void look_at_disk(struct supervisor *sup, struct alert_facts *facts)
{
	int64_t now_ms = wait_set_steady_ms();

	if (sup->alert.looked_ms && now_ms < sup->alert.looked_ms + SUPERVISOR_HEARTBEAT_MS)
		return;
	sup->alert.looked_ms = now_ms;
	facts->values[ALERT_disk] = smaller(room_free(sup->folder),
					    room_free(sup->state.options.project));
}

/* An agent's cost counts in the state when it has ended. */
static void hear(const struct supervisor *sup, struct alert_facts *facts)
{
	const struct agent_summary *heard = &sup->run.heard;
	int64_t now_nusd = heard->cost_nusd > 0 ? heard->cost_nusd : 0;

	if (sup->state.step == LOOP_STEP_agent) {
		facts->values[ALERT_errors] = (int64_t)(heard->errors + heard->tool_errors);
		facts->values[ALERT_tool_calls] = (int64_t)heard->tool_calls;
	}
	facts->values[ALERT_cost] = sup->state.spent_nusd + now_nusd;
}

static int64_t due_ms(void *context)
{
	const struct supervisor *sup = context;
	const struct alert_setting *time = &sup->state.options.alerts.rules[ALERT_time];

	if (!sup->run.working || !is_iteration(sup->state.step) || time->action == ALERT_OFF ||
	    sup->state.alerted & 1U << ALERT_time || sup->alert.iteration != sup->state.iteration ||
	    sup->alert.attempt != sup->state.attempt)
		return INT64_MAX;
	return sup->alert.begun_ms + time->level + 1;
}

static void watch(void *context, bool readable)
{
	struct supervisor *sup = context;
	struct alert_facts facts;
	struct error err;

	(void)readable;
	if (!sup->run.working || !is_iteration(sup->state.step))
		return;
	follow(sup);
	alert_facts_init(&facts);
	facts.values[ALERT_time] = wait_set_steady_ms() - sup->alert.begun_ms;
	hear(sup, &facts);
	look_at_disk(sup, &facts);
	if (judge(sup, &facts, &err) < 0)
		fprintf(stderr, "%s\n", err.text); /* the next event reports it again */
}

void loop_alert_watch(struct supervisor *sup)
{
	wait_set_add(&sup->waits,
		     &(struct wait_set_watch){ .due_ms = due_ms, .serve = watch, .context = sup });
}

int loop_alert_heard(struct supervisor *sup, struct error *err)
{
	struct alert_facts facts;

	alert_facts_init(&facts);
	hear(sup, &facts);
	return judge(sup, &facts, err);
}

/* Counts the findings that are more than a note. */
static int64_t count_findings(const struct loop_state *state)
{
	static const char *const actions[] = { "tell", "review", "stop" };
	int64_t count = 0;

	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		count += loop_accepted_count_open(state->accepted, state->findings, actions[i]);
	return count;
}

int loop_alert_iteration(struct supervisor *sup, const struct survey *after,
			 const struct decision *decision, struct error *err)
{
	const struct loop_state *state = &sup->state;
	struct alert_facts facts;

	alert_facts_init(&facts);
	facts.values[ALERT_files] = (int64_t)(after->changed ? after->changed
							     : state->review.changed);
	facts.values[ALERT_no_progress] = decision->breakers[BREAKER_NO_PROGRESS].count;
	facts.values[ALERT_cost] = state->spent_nusd;
	facts.values[ALERT_finding] = count_findings(state);
	return judge(sup, &facts, err);
}
