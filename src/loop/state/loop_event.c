/* The table of steps and events: see loop_event.h. */
#include "loop/state/loop_event.h"

#include <string.h>

static const char *const steps[] = {
#define LOOP_STEP(name) [LOOP_STEP_##name] = #name,
	LOOP_STEPS(LOOP_STEP)
#undef LOOP_STEP
};

static const char *const events[] = {
#define LOOP_EVENT(name) [LOOP_EVENT_##name] = #name,
	LOOP_EVENTS(LOOP_EVENT)
#undef LOOP_EVENT
};

/* Stores the next step plus one, so that an empty cell is illegal. */
#define TO(name)          (LOOP_STEP_##name + 1)
#define ON(event, target) [LOOP_EVENT_##event] = TO(target)
#define ALWAYS(step)                                                                   \
	ON(started, step), ON(asked, step), ON(changed, step), ON(checkpointed, step), \
		ON(retried, step), ON(restoring, step), ON(restored, step), ON(alerted, step)

/* The agent of a later iteration reads it. A loop that is being closed has none, or not yet. */
#define TELLS(step) ON(told, step)

/* A loop whose result is a branch is closed first. */
#define ENDS ON(closing, closing), ON(finished, finished)

static const unsigned char table[LOOP_STEP_COUNT][LOOP_EVENT_COUNT] = {
	[LOOP_STEP_new] = { ON(created, baseline) },
	[LOOP_STEP_baseline] = { ALWAYS(baseline), TELLS(baseline), ON(git, baseline),
				 ON(checked, baseline), ON(held_out, baseline),
				 ON(proved, baseline), ON(examined, baseline), ON(baselined, ready),
				 ENDS },
	[LOOP_STEP_ready] = { ALWAYS(ready), TELLS(ready), ON(git, ready), ON(begun, agent),
			      ON(rechecks, checks), ON(waits, waiting), ON(paused, paused), ENDS },
	[LOOP_STEP_agent] = { ALWAYS(agent), TELLS(agent), ON(git, agent), ON(imported, agent),
			      ON(ended, checks), ON(interrupted, ready), ENDS },
	[LOOP_STEP_checks] = { ALWAYS(checks), TELLS(checks), ON(git, checks), ON(imported, checks),
			       ON(checked, checks), ON(probed, checks), ON(held_out, checks),
			       ON(examined, checks), ON(continued, ready), ON(waits, waiting),
			       ON(paused, paused), ON(interrupted, ready), ON(reviewing, review),
			       ON(mutating, mutants), ENDS },
	[LOOP_STEP_mutants] = { ALWAYS(mutants), TELLS(mutants), ON(git, mutants),
				ON(imported, mutants), ON(mutant, mutants), ON(mutated, checks),
				ON(paused, paused), ENDS },
	[LOOP_STEP_review] = { ALWAYS(review), TELLS(review), ON(git, review), ON(reviewed, checks),
			       ENDS },
	[LOOP_STEP_waiting] = { ALWAYS(waiting), TELLS(waiting), ON(waited, ready),
				ON(paused, paused), ENDS },
	[LOOP_STEP_paused] = { ALWAYS(paused), TELLS(paused), ON(resumed, ready), ENDS },
	[LOOP_STEP_closing] = { ALWAYS(closing), ON(git, closing), ON(imported, closing),
				ON(finished, finished) },
	[LOOP_STEP_finished] = { TELLS(finished), ON(asked, finished), ON(changed, finished),
				 ON(resumed, ready), ON(checkpointed, finished),
				 ON(restoring, finished), ON(restored, finished),
				 ON(closing, closing) },
};

const char *loop_event_step_name(enum loop_step step)
{
	return steps[step];
}

const char *loop_event_name(enum loop_event event)
{
	return events[event];
}

int loop_event_find(const char *name)
{
	for (int i = 0; i < LOOP_EVENT_COUNT; i++)
		if (strcmp(events[i], name) == 0)
			return i;
	return -1;
}

int loop_event_next(enum loop_step step, enum loop_event event)
{
	return (int)table[step][event] - 1;
}

bool loop_event_can_wait(enum loop_event event)
{
	static const bool can[LOOP_EVENT_COUNT] = {
		[LOOP_EVENT_started] = true,      [LOOP_EVENT_checked] = true,
		[LOOP_EVENT_held_out] = true,     [LOOP_EVENT_proved] = true,
		[LOOP_EVENT_probed] = true,       [LOOP_EVENT_mutating] = true,
		[LOOP_EVENT_mutant] = true,       [LOOP_EVENT_mutated] = true,
		[LOOP_EVENT_baselined] = true,    [LOOP_EVENT_interrupted] = true,
		[LOOP_EVENT_continued] = true,    [LOOP_EVENT_waited] = true,
		[LOOP_EVENT_checkpointed] = true, [LOOP_EVENT_examined] = true,
		[LOOP_EVENT_retried] = true,      [LOOP_EVENT_git] = true,
		[LOOP_EVENT_imported] = true,
	};

	return can[event];
}
