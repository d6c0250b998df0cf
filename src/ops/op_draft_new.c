/* A new draft: see op_draft_new.h. */
#include "ops/op_draft_new.h"

#include "ops/op_draft.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"

/* Removes the drafts that nobody needs any more: spent ones that were not used for long. */
static void remove_spent(const struct op_draft_new_request *request,
			 const struct draft_records *all, struct op_draft_new *new)
{
	struct error ignored; /* such as another process that uses or removes the same one */

	for (size_t i = 0; request->age_ms && i < all->count; i++) {
		const struct draft_record *record = &all->items[i];

		if (draft_record_is_spent(record) &&
		    clock_wall_ms() - record->used_ms >= request->age_ms)
			new->removed += op_draft_discard(request->state, record->id,
							 &new->freed_bytes, &ignored) == OP_DONE;
	}
}

static int check_room(const struct op_draft_new_request *request, struct error *err)
{
	struct draft_records all;
	uint64_t bytes;

	if (draft_record_list(request->state, &all, err) < 0)
		return -1;
	bytes = draft_records_bytes(&all);
	draft_records_release(&all);
	if (!request->most_bytes || bytes <= request->most_bytes)
		return 0;

	AUTO_FREE char *used = text_size(bytes);
	AUTO_FREE char *most = text_size(request->most_bytes);

	return error_with(
		err, ERROR_REFUSED,
		"drafts use %s, and the limit is %s: discard some first (ringfence drafts "
		"--all, ringfence clean --older 7d --all), or set --drafts-size",
		used, most);
}

/* Makes room for a new draft, or refuses it. */
static int make_room(const struct op_draft_new_request *request, struct op_draft_new *new,
		     struct error *err)
{
	struct draft_records all;

	if (draft_record_list(request->state, &all, err) < 0)
		return -1;
	remove_spent(request, &all, new);
	draft_records_release(&all);
	return check_room(request, err);
}

static int start_base(const char *state, struct op_draft_new *new, struct error *err)
{
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, "base", state, new->record.project, new->record.id);
	result = snapshot_start(&work, -1, -1, &new->base, err);
	snapshot_release(&work);
	return result;
}

enum op_status op_draft_new_begin(const struct op_draft_new_request *request,
				  struct op_draft_new *ret_new, struct error *err)
{
	AUTO_FREE char *line = op_draft_line(request->command);

	*ret_new = OP_DRAFT_NEW_INIT;
	if (make_room(request, ret_new, err) < 0 ||
	    draft_record_create(request->state, request->project, line, &ret_new->record, err) < 0)
		return op_status_of(err);
	if (start_base(request->state, ret_new, err) == 0)
		return OP_DONE;
	op_draft_new_abandon(ret_new, request->state);
	return op_status_of(err);
}

enum op_status op_draft_new_wait(struct op_draft_new *new, snapshot_progress_fn *progress,
				 struct error *err)
{
	json_t *answer = NULL;
	int result;

	snapshot_await(&new->base, progress, SNAPSHOT_SAVING);
	result = snapshot_end(&new->base, &answer, err);

	json_decref(answer);
	return result < 0 ? op_status_of(err) : OP_DONE;
}

enum op_status op_draft_new_make(const struct op_draft_new *new,
				 const struct draft_request *request, struct draft_made *ret_made,
				 struct error *err)
{
	struct draft_request draft = *request;

	draft.view.folder = new->record.layers;
	return draft_make(&draft, ret_made, err) < 0 ? op_status_of(err) : OP_DONE;
}

void op_draft_new_abandon(struct op_draft_new *new, const char *state)
{
	struct draft_record *record = &new->record;
	struct error ignored;

	snapshot_cancel(&new->base);
	if (record->id) {
		op_drop_checkpoints(state, record->project, record->id, &(uint64_t){ 0 }, &ignored);
		draft_record_remove(record, NULL, &ignored);
	}
	draft_record_release(record);
}
