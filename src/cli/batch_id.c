/* The id of a batch where a command takes that of a loop: see batch_id.h. */
#include "cli/batch_id.h"

#include "batch/batch_client.h"
#include "loop/client.h"
#include "util/mem.h"

#include <string.h>
#include <unistd.h>

/* Returns what to do with the batch instead. The caller frees it. */
static char *advice(const char *command, const struct batch_client *batch)
{
	static const char *const same[] = { "pause", "resume", "abort", "apply" };
	static const char *const result[] = { "diff", "checkpoints" };
	const char *tip = batch->state.tip;

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (strcmp(same[i], command) == 0)
			return mem_format("use ringfence work --%s %s", command, batch->id);
	for (size_t i = 0; tip && i < sizeof result / sizeof *result; i++)
		if (strcmp(result[i], command) == 0)
			return mem_format("its result is that of loop %s: ringfence %s%s %s", tip,
					  command, strcmp(command, "diff") == 0 ? " 0 --loop" : "",
					  tip);
	if (strcmp(command, "clean") == 0)
		return mem_dup("ringfence clean --older 30d removes old ones with their loops");
	return mem_format("%s needs the loop of a task; to see them: ringfence work --show %s",
			  command, batch->id);
}

static bool is_loop(const char *state, const char *id)
{
	struct client_loop loop = { 0 };
	struct error none;
	bool found = client_find(state, id, NULL, &loop, &none) == 0;

	client_loop_release(&loop);
	return found;
}

bool batch_id_refuse(const char *state, const char *command, const char *id, struct error *err)
{
	AUTO_FREE char *folder = id ? mem_format("%s/batches/%s", state, id) : NULL;
	AUTO_FREE char *text = NULL;
	struct batch_client batch;
	struct error none;

	if (!folder || access(folder, F_OK) < 0 || is_loop(state, id) ||
	    batch_client_find(state, id, NULL, &batch, &none) < 0)
		return false;
	text = advice(command, &batch);
	error_with(err, ERROR_INVALID, "%s is a batch: %s", batch.id, text);
	batch_client_release(&batch);
	return true;
}
