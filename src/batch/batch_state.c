/* The state of a batch: see batch_state.h. */
#include "batch/batch_state.h"

#include <stdlib.h>
#include <string.h>

void batch_state_init(struct batch_state *state)
{
	*state = (struct batch_state){ 0 };
}

static void release_task(struct batch_task *task)
{
	free(task->depends);
	free(task->loop);
	free(task->base);
	free(task->merged);
	free(task->reason);
	json_decref(task->conflicts);
}

void batch_state_release(struct batch_state *state)
{
	for (size_t i = 0; i < state->count; i++)
		release_task(&state->tasks[i]);
	free(state->tasks);
	free(state->order);
	free(state->tip);
	list_release(&state->spent);
	free(state->status);
	free(state->reason);
	json_decref(state->config);
	batch_state_init(state);
}

long batch_state_find(const struct batch_state *state, const char *id)
{
	for (size_t i = 0; id && i < state->count; i++)
		if (strcmp(state->tasks[i].id, id) == 0)
			return (long)i;
	return -1;
}
