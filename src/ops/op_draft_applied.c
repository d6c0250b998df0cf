/* Whether a draft is applied: see op_draft_applied.h. */
#include "ops/op_draft_applied.h"

#include "ops/op_draft.h"
#include "snapshot/snapshot.h"
#include "util/text/jsonget.h"

#include <string.h>

/* Returns the number of the last apply that was not taken back, or 0. Each undo takes back the last
 * one that is left. */
static int64_t last_apply(const json_t *checkpoints)
{
	size_t undone = 0;

	for (size_t i = json_array_size(checkpoints); i-- > 0;) {
		const json_t *item = json_array_get(checkpoints, i);
		const char *kind = jsonget_text(item, "kind");

		if (strcmp(kind, SNAPSHOT_UNAPPLY) == 0)
			undone++;
		else if (strcmp(kind, SNAPSHOT_APPLY) == 0 && undone-- == 0)
			return jsonget_number(item, "number");
	}
	return 0;
}

int op_draft_applied_number(const char *state, const struct draft_record *record,
			    int64_t *ret_number, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "list", state, record->project, record->id);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0)
		*ret_number = last_apply(json_object_get(answer, "checkpoints"));
	json_decref(answer);
	return result;
}

bool op_draft_applied_is(const char *state, const struct client_loop *loop)
{
	struct draft_record record;
	struct error ignored;
	int64_t number = 0;

	if (op_draft_of_loop(loop, &record) < 0)
		return false;
	op_draft_applied_number(state, &record, &number, &ignored);
	draft_record_release(&record);
	return number != 0;
}
