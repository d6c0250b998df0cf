/* The table of a batch's events: see batch_event.h. */
#include "batch/batch_event.h"

#include <string.h>

static const char *const steps[] = {
#define BATCH_STEP(name) [BATCH_STEP_##name] = #name,
	BATCH_STEPS(BATCH_STEP)
#undef BATCH_STEP
};

static const char *const events[] = {
#define BATCH_EVENT(name) [BATCH_EVENT_##name] = #name,
	BATCH_EVENTS(BATCH_EVENT)
#undef BATCH_EVENT
};

/* Stores the next step plus one, so that an empty cell is illegal. */
#define TO(name)          (BATCH_STEP_##name + 1)
#define ON(event, target) [BATCH_EVENT_##event] = TO(target)

static const unsigned char table[BATCH_STEP_COUNT][BATCH_EVENT_COUNT] = {
	[BATCH_STEP_waiting] = { ON(begun, running), ON(refused, failed), ON(lost, lost) },
	[BATCH_STEP_running] = { ON(begun, running), ON(granted, running), ON(conflicted, running),
				 ON(held, held), ON(ended, verified) },
	[BATCH_STEP_held] = { ON(begun, running), ON(conflicted, held), ON(held, held),
			      ON(unheld, running), ON(ended, verified) },
	[BATCH_STEP_verified] = { ON(landed, landed), ON(begun, running), ON(refused, failed),
				  ON(picked, verified), ON(lost, lost) },
	[BATCH_STEP_failed] = { ON(retried, waiting) },
};

const char *batch_event_name(enum batch_event event)
{
	return events[event];
}

const char *batch_event_step_name(enum batch_step step)
{
	return steps[step];
}

int batch_event_find(const char *name)
{
	for (int i = 0; i < BATCH_EVENT_COUNT; i++)
		if (strcmp(events[i], name) == 0)
			return i;
	return -1;
}

bool batch_event_has_task(enum batch_event event)
{
	for (int i = 0; i < BATCH_STEP_COUNT; i++)
		if (table[i][event])
			return true;
	return false;
}

int batch_event_next(enum batch_step step, enum batch_event event)
{
	return (int)table[step][event] - 1;
}
