/* Waiting for CI: see land_wait.h. */
#include "land/land_wait.h"

void land_wait_begin(struct land_wait *wait, uint64_t now_ms, uint64_t most_ms, bool twice)
{
	*wait = (struct land_wait){ .began_ms = now_ms,
				    .until_ms = now_ms + most_ms,
				    .pause_ms = LAND_WAIT_FIRST_MS,
				    .twice = twice };
}

/* CI begins some time after a push, and some jobs later than others. */
static bool is_over(struct land_wait *wait, const struct land_ci *ci, uint64_t now_ms)
{
	bool passed = ci->count && land_ci_state(ci) == LAND_CI_PASSED;
	bool agrees = !wait->twice || !passed || wait->passed == ci->count;

	wait->passed = passed ? ci->count : 0;
	if (!ci->count)
		return now_ms - wait->began_ms >= LAND_WAIT_START_MS || now_ms >= wait->until_ms;
	return land_ci_state(ci) != LAND_CI_PENDING && agrees;
}

enum land_wait_step land_wait_next(struct land_wait *wait, const struct land_ci *ci, bool changed,
				   uint64_t now_ms, uint64_t *ret_pause_ms)
{
	if (is_over(wait, ci, now_ms))
		return LAND_WAIT_OVER;
	if (now_ms >= wait->until_ms)
		return LAND_WAIT_LATE;
	if (changed)
		wait->pause_ms = LAND_WAIT_FIRST_MS;
	*ret_pause_ms = wait->pause_ms < wait->until_ms - now_ms ? wait->pause_ms
								 : wait->until_ms - now_ms;
	wait->pause_ms = wait->pause_ms * 3 / 2;
	if (wait->pause_ms > LAND_WAIT_LAST_MS)
		wait->pause_ms = LAND_WAIT_LAST_MS;
	return LAND_WAIT_AGAIN;
}
