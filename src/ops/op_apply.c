/* Bringing a result into the user's branch: see op_apply.h. */
#include "ops/op_apply.h"

#include "snapshot/snapshot.h"

enum op_status op_apply_finish(const char *state, const char *project, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	bool recovered;
	int result;

	snapshot_begin(&work, "finish", state, project, "none");
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	recovered = json_is_true(json_object_get(answer, "recovered"));
	json_decref(answer);
	if (result < 0)
		return OP_FAILED;
	return recovered ? OP_DONE : OP_UNCHANGED;
}
