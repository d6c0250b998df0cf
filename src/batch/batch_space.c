/* Disk space: see batch_space.h. */
#include "batch/batch_space.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Does a loop begin with this one that may not have its files yet? */
static bool is_base(const struct batch_state *state, const char *loop)
{
	for (size_t i = 0; i < state->count; i++) {
		const struct batch_task *task = &state->tasks[i];

		if ((task->step == BATCH_STEP_running || task->step == BATCH_STEP_held) &&
		    task->base && strcmp(task->base, loop) == 0)
			return true;
	}
	return false;
}

static int free_one(const char *home, const char *id, struct error *err)
{
	AUTO_FREE char *draft = mem_format("%s/loops/%s/draft", home, id);
	AUTO_FREE char *gone = mem_format("%s/loops/%s/draft.spent", home, id);
	struct client_loop loop = { 0 };
	AUTO_FD held = -1;
	int result = 0;

	if (access(draft, F_OK) < 0 && access(gone, F_OK) < 0)
		return 0;
	if (client_find(home, id, NULL, &loop, err) < 0)
		return -1;
	if (!loop.damaged && loop.state.step == LOOP_STEP_finished && loop.state.checkpoint >= 0)
		held = client_hold(&loop, err);
	if (held >= 0)
		result = client_remove_draft(&loop, err);
	client_loop_release(&loop);
	return result;
}

void batch_space_free(struct batch_run *run)
{
	const struct list *spent = &run->state.spent;
	struct error err;

	for (size_t i = 0; !jsonget_flag(run->state.config, "keep_drafts") && i < spent->count; i++)
		if (!is_base(&run->state, spent->items[i]) &&
		    free_one(run->home, spent->items[i], &err) < 0)
			fprintf(stderr, "%s\n", err.text);
}
