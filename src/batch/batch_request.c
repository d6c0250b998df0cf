/* Requests about one task: see batch_request.h. */
#include "batch/batch_request.h"

#include "batch/batch_race.h"

#include <string.h>

static bool has_failed(const struct batch_state *state, size_t task)
{
	return state->tasks[task].step == BATCH_STEP_failed;
}

static const struct {
	const char *wish;
	enum batch_event event;
	bool (*is_legal)(const struct batch_state *state, size_t task);
	const char *why;
} requests[] = {
	{ "retry", BATCH_EVENT_retried, has_failed, "has not failed" },
	{ "pick", BATCH_EVENT_picked, batch_race_waits, "is not a candidate to pick" },
};

static const char *say(enum batch_step step)
{
	return step == BATCH_STEP_landed ? "done"
	       : step == BATCH_STEP_held ? "waiting for you"
					 : batch_event_step_name(step);
}

int batch_request_read(const struct batch_state *state, const char *wish, const char *id,
		       enum batch_event *ret_event, struct error *err)
{
	long task = batch_state_find(state, id);

	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		if (strcmp(requests[i].wish, wish) != 0)
			continue;
		if (task < 0)
			return error_with(err, ERROR_NOT_FOUND, "the batch has no task '%.200s'",
					  id ? id : "");
		if (!requests[i].is_legal(state, (size_t)task))
			return error_with(err, ERROR_REFUSED, "the task '%.200s' %s: it is %s", id,
					  requests[i].why, say(state->tasks[task].step));
		*ret_event = requests[i].event;
		return 1;
	}
	return 0;
}
