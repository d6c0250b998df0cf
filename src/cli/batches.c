/* Lists of batches: see batches.h. */
#include "cli/batches.h"

#include "batch/batch_report.h"
#include "cli/cli.h"
#include "cli/loops.h"
#include "cli/view/batch_text.h"
#include "ops/op_draft_applied.h"

#include <stdio.h>
#include <string.h>

static enum op_draft_applied applied(const char *state, const struct batch_client *batch)
{
	struct client_loop loop = { 0 };
	struct error none;
	enum op_draft_applied how = OP_DRAFT_APPLIED_NOT;

	if (batch->state.tip && client_find(state, batch->state.tip, NULL, &loop, &none) == 0)
		how = op_draft_applied_loop(state, &loop);
	client_loop_release(&loop);
	return how;
}

bool batches_is_applied(const char *state, const struct batch_client *batch)
{
	return applied(state, batch) != OP_DRAFT_APPLIED_NOT;
}

bool batches_has_commits(const char *state, const struct batch_client *batch)
{
	return applied(state, batch) == OP_DRAFT_APPLIED_COMMITS;
}

bool batches_has(void *context, const char *id)
{
	const struct batch_clients *batches = context;

	for (size_t i = 0; i < batches->count; i++)
		if (strcmp(batches->items[i].id, id) == 0)
			return true;
	return false;
}

/* A batch that cannot be read may be of any project. */
static bool is_of(const struct batch_client *batch, const char *project)
{
	return !project || !batch->state.project || strcmp(batch->state.project, project) == 0;
}

static json_t *batch_json(const struct batch_client *batch, const char *state)
{
	json_t *json = batch_report_summary(batch->id, batch_client_status(batch), &batch->state);

	json_object_set_new(json, "applied", json_boolean(batches_is_applied(state, batch)));
	if (batch->damaged)
		json_object_set_new(json, "reason", client_text(batch->trouble));
	return json;
}

json_t *batches_json(const struct batch_clients *batches, const char *state, const char *project,
		     size_t most)
{
	json_t *list = json_array();

	for (size_t i = batches->count; i-- > 0 && json_array_size(list) < most;)
		if (is_of(&batches->items[i], project))
			json_array_insert_new(list, 0, batch_json(&batches->items[i], state));
	return list;
}

static void print_text(const struct batch_clients *batches, const char *state, const char *project)
{
	bool any = false;

	for (size_t i = batches->count; i-- > 0;) {
		const struct batch_client *batch = &batches->items[i];

		if (!is_of(batch, project))
			continue;
		any = true;
		batch_text_print_short(batch, batches_is_applied(state, batch), false);
	}
	if (!any)
		puts("no work list of this project was run (see: ringfence work --help)");
}

int batches_print(const char *state, const char *project, bool json)
{
	struct batch_clients batches;
	struct error err;

	if (batch_client_list(state, &batches, &err) < 0)
		return cli_fail(&err);
	if (json)
		loops_print(json_pack("{s:o}", "batches",
				      batches_json(&batches, state, project, CLIENT_ALL)));
	else
		print_text(&batches, state, project);
	batch_clients_release(&batches);
	return cli_flush();
}
