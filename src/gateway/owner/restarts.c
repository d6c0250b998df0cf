/* When to restart a process that dies: see restarts.h. */
#include "gateway/owner/restarts.h"

void restarts_started(struct restarts *restarts, uint64_t now_ms)
{
	restarts->started_ms = now_ms;
}

bool restarts_died(struct restarts *restarts, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	uint64_t due_ms = restarts->started_ms + RESTARTS_APART_MS;

	if (now_ms - restarts->started_ms >= RESTARTS_WORKED_MS)
		restarts->count = 0;
	if (restarts->count == RESTARTS_MOST)
		return false;
	restarts->count++;
	*ret_wait_ms = restarts->count > RESTARTS_HURRIED && due_ms > now_ms ? due_ms - now_ms : 0;
	return true;
}
