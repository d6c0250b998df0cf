/* Whether a draft is applied: see op_draft_applied.h. */
#include "ops/op_draft_applied.h"

#include "ops/op_apply.h"
#include "ops/op_draft.h"
#include "snapshot/snapshot.h"
#include "util/mem.h"
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

static int ask_for_commits(const char *state, const struct draft_record *record, bool *ret_merged,
			   struct error *err)
{
	AUTO_FREE char *squashed = mem_format(OP_APPLY_SQUASHED, record->id, record->commit);
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "merged", state, record->project, record->id);
	snapshot_tell(&work, "theirs", record->commit);
	snapshot_tell(&work, "message", squashed);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	*ret_merged = jsonget_flag(answer, "merged");
	json_decref(answer);
	return result;
}

/* Reports whether the last commit of a loop without a draft is in a branch of the user's. */
static bool loop_has_merged(const char *state, const struct client_loop *loop)
{
	const struct loop_options *options = &loop->state.options;
	const struct draft_record record = {
		.id = (char *)loop->id,
		.project = (char *)(options->origin ? options->origin : options->project),
		.commit = loop->state.git_commit,
	};
	struct error ignored;
	bool merged = false;

	return record.commit && ask_for_commits(state, &record, &merged, &ignored) == 0 && merged;
}

int op_draft_applied_find(const char *state, const struct draft_record *record,
			  enum op_draft_applied *ret_applied, struct error *err)
{
	struct error ignored; /* the repository, or the commit, is gone */
	bool merged = false;
	int64_t number;

	*ret_applied = OP_DRAFT_APPLIED_NOT;
	/* A draft that has no result was never applied. */
	if (record->result == DRAFT_RECORD_NONE)
		return 0;
	if (op_draft_applied_number(state, record, &number, err) < 0)
		return -1;
	if (!number && record->commit)
		ask_for_commits(state, record, &merged, &ignored);
	*ret_applied = number   ? OP_DRAFT_APPLIED_FILES
		       : merged ? OP_DRAFT_APPLIED_COMMITS
				: OP_DRAFT_APPLIED_NOT;
	return 0;
}

enum op_draft_applied op_draft_applied_loop(const char *state, const struct client_loop *loop)
{
	enum op_draft_applied applied = OP_DRAFT_APPLIED_NOT;
	struct draft_record record;
	struct error ignored;

	if (!loop->damaged && !loop->state.options.draft)
		return loop_has_merged(state, loop) ? OP_DRAFT_APPLIED_COMMITS : applied;
	if (op_draft_of_loop(loop, &record) < 0)
		return applied;
	op_draft_applied_find(state, &record, &applied, &ignored);
	draft_record_release(&record);
	return applied;
}
