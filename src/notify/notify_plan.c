/* When messages are sent: see notify_plan.h. */
#include "notify/notify_plan.h"

static int64_t at_most(int64_t value, int64_t most)
{
	return value < most ? value : most;
}

void notify_plan_correct(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms)
{
	int64_t delay_ms = pace->most_ms > NOTIFY_PLAN_WAIT_MS ? pace->most_ms
							       : NOTIFY_PLAN_WAIT_MS;

	plan->due_ms = at_most(plan->due_ms, now_ms + delay_ms);
	plan->paid_ms = at_most(plan->paid_ms, now_ms + (int64_t)pace->burst * pace->interval_ms);
}

int64_t notify_plan_due_ms(const struct notify_plan *plan, const struct notify_pace *pace,
			   bool news)
{
	if (plan->through)
		return plan->due_ms;
	return news ? plan->paid_ms - (int64_t)(pace->burst - 1) * pace->interval_ms : INT64_MAX;
}

void notify_plan_begin(struct notify_plan *plan, int64_t through)
{
	if (!plan->through)
		plan->through = through;
}

static void finish(struct notify_plan *plan)
{
	plan->mark = plan->through;
	plan->through = 0;
	plan->tries = 0;
	plan->due_ms = 0;
}

void notify_plan_sent(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms)
{
	int64_t from_ms = plan->paid_ms > now_ms ? plan->paid_ms : now_ms;

	plan->paid_ms = from_ms + pace->interval_ms;
	finish(plan);
}

void notify_plan_skip(struct notify_plan *plan, int64_t through)
{
	plan->through = through;
	finish(plan);
}

static int64_t delay_ms(const struct notify_pace *pace, uint32_t tries)
{
	int64_t delay = pace->first_ms;

	for (uint32_t i = 1; i < tries && delay < pace->most_ms; i++)
		delay *= 2;
	return delay < pace->most_ms ? delay : pace->most_ms;
}

bool notify_plan_failed(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms,
			int64_t wait_ms, bool hopeless)
{
	int64_t delay;

	plan->tries++;
	if (hopeless || plan->tries >= pace->tries) {
		finish(plan);
		return true;
	}
	delay = delay_ms(pace, plan->tries);
	plan->due_ms = now_ms + (wait_ms > delay ? wait_ms : delay);
	return false;
}
