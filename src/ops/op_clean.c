/* Removing loops and drafts: see op_clean.h. */
#include "ops/op_clean.h"

#include "batch/batch_client.h"
#include "ops/op_draft.h"
#include "ops/op_draft_applied.h"
#include "ops/op_start_draft.h"
#include "ops/op_worktree.h"
#include "snapshot/snapshot.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

struct candidates {
	struct client_loops loops;
	struct draft_records drafts;
	struct batch_clients batches;
};

char *op_clean_count(size_t loops, size_t drafts)
{
	AUTO_FREE char *of_loops = mem_format("%zu loop%s", loops, loops == 1 ? "" : "s");
	AUTO_FREE char *of_drafts = mem_format("%zu draft%s", drafts, drafts == 1 ? "" : "s");

	if (!drafts)
		return mem_dup(of_loops);
	return loops ? mem_format("%s and %s", of_loops, of_drafts) : mem_dup(of_drafts);
}

static bool is_selected_draft(const struct op_clean_request *request,
			      const struct draft_record *draft)
{
	return !request->loop && (!request->project || !strcmp(draft->project, request->project)) &&
	       request->now_ms - draft->began_ms >= request->older_ms &&
	       !draft_record_is_busy(draft);
}

static bool is_selected_batch(const struct op_clean_request *request,
			      const struct batch_client *batch)
{
	const struct batch_state *state = &batch->state;

	return !request->loop && state->finished && !batch->alive &&
	       (!request->project || !strcmp(state->project, request->project)) &&
	       request->now_ms - state->created_ms >= request->older_ms;
}

static bool same(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* Does a batch that has not ended need this loop? */
static bool is_needed(const struct batch_clients *batches, const char *loop)
{
	for (size_t i = 0; i < batches->count; i++) {
		const struct batch_state *state = &batches->items[i].state;

		for (size_t k = 0; !state->finished && k < state->count; k++)
			if (same(state->tip, loop) || same(state->tasks[k].loop, loop) ||
			    same(state->tasks[k].merged, loop))
				return true;
	}
	return false;
}

static bool is_selected(const struct op_clean_request *request, const struct candidates *all,
			const struct client_loop *loop)
{
	if (request->loop)
		return strcmp(loop->id, request->loop) == 0;
	return !is_needed(&all->batches, loop->id) && !loop->alive && !loop->damaged &&
	       (!request->project || client_is_of(loop, request->project)) &&
	       request->now_ms - loop->state.created_ms >= request->older_ms;
}

/* Reports whether the changes of a loop are only in its draft. Its first checkpoint is the project
 * as it was. */
static bool is_unapplied(const struct op_clean_request *request, const struct client_loop *loop)
{
	return !loop->damaged && loop->state.options.draft && loop->state.checkpoint > 0 &&
	       op_draft_applied_loop(request->state, loop) == OP_DRAFT_APPLIED_NOT;
}

/* Returns how many of the loops have a draft that was not applied. */
static size_t add_loops(const struct op_clean_request *request, const struct candidates *all,
			struct op_question *question)
{
	const struct client_loops *loops = &all->loops;
	size_t unapplied = 0;

	for (size_t i = 0; i < loops->count; i++) {
		const struct client_loop *loop = &loops->items[i];
		bool lost;

		if (!is_selected(request, all, loop))
			continue;
		lost = !request->answer.to_all && is_unapplied(request, loop);

		AUTO_FREE char *value = mem_format("%s%s", client_status(loop),
						   lost ? ", not applied" : "");
		const struct op_item item = { .name = loop->id,
					      .value = value,
					      .where = (char *)loop->state.options.project };

		op_question_add(question, &item);
		unapplied += lost;
	}
	return unapplied;
}

static void add_drafts(const struct op_clean_request *request, const struct draft_records *drafts,
		       struct op_question *question)
{
	for (size_t i = 0; i < drafts->count; i++) {
		const struct draft_record *draft = &drafts->items[i];
		const struct op_item item = {
			.name = draft->id,
			.value = (char *)(draft_record_is_spent(draft)
						  ? "draft"
						  : "draft that is not applied"),
			.where = draft->project
		};

		if (is_selected_draft(request, draft))
			op_question_add(question, &item);
	}
}

static void add_batches(const struct op_clean_request *request, const struct batch_clients *batches,
			struct op_question *question)
{
	for (size_t i = 0; i < batches->count; i++) {
		const struct batch_client *batch = &batches->items[i];
		const struct op_item item = { .name = batch->id,
					      .value = (char *)"work list that was run",
					      .where = (char *)batch->state.project };

		if (is_selected_batch(request, batch))
			op_question_add(question, &item);
	}
}

static void make_question(const struct op_clean_request *request, const struct candidates *all,
			  struct op_question *question)
{
	AUTO_FREE char *what = NULL;
	size_t unapplied = add_loops(request, all, question);
	AUTO_FREE char *lost = unapplied ? mem_format(", and %zu result%s not applied", unapplied,
						      unapplied == 1 ? " that was" : "s that were")
					 : mem_dup("");
	size_t loops = question->count;

	add_drafts(request, &all->drafts, question);
	what = op_clean_count(loops, question->count - loops);
	add_batches(request, &all->batches, question);
	op_question_set(question, OP_QUESTION_REMOVE,
			mem_format("Remove %s with logs and checkpoints%s?", what, lost));
}

/* A loop with its own work tree also has its own checkpoint store, which drop_branch() removes. */
static int drop_checkpoints(const struct op_clean_request *request, const struct client_loop *loop,
			    uint64_t *bytes, struct error *err)
{
	const struct loop_options *of = &loop->state.options;

	return of->origin ? 0
			  : op_drop_checkpoints(request->state, of->project, loop->id, bytes, err);
}

/* Removes the loop's work tree, and its branch if another branch has its commits. */
static int drop_branch(const struct op_clean_request *request, const struct client_loop *loop,
		       uint64_t *bytes, struct list *kept_branches, struct error *err)
{
	const struct loop_options *of = &loop->state.options;
	bool kept;
	int result = op_worktree_drop(request->state, loop->id,
				      of->origin ? of->origin : of->project, request->branches,
				      bytes, &kept, err);

	if (kept)
		list_add(kept_branches, loop->id);
	if (result == 0 && of->origin) {
		AUTO_FREE char *store = snapshot_place(request->state, of->project);

		result = client_remove_folder(store, bytes, err);
	}
	return result;
}

static enum op_status clean_one(const struct op_clean_request *request,
				const struct client_loop *loop, struct op_clean_result *result,
				struct error *err)
{
	uint64_t bytes = 0;
	uint64_t own = 0;
	AUTO_FD lock = -1;
	enum op_status status = op_hold(loop, &lock, err);

	if (status != OP_DONE)
		return status;
	/* The project of a damaged loop is unknown, so its checkpoints cannot be found. */
	if (!loop->damaged && (drop_checkpoints(request, loop, &bytes, err) < 0 ||
			       drop_branch(request, loop, &bytes, &result->kept_branches, err) < 0))
		return OP_FAILED;
	if (client_remove(request->state, loop, &own, err) < 0)
		return OP_FAILED;
	result->freed_bytes += bytes + own;
	list_add(&result->removed, loop->id);
	return OP_DONE;
}

static enum op_status clean_draft(const struct op_clean_request *request,
				  const struct draft_record *draft, struct op_clean_result *result,
				  struct error *err)
{
	enum op_status status = op_draft_discard(request->state, draft->id, &result->freed_bytes,
						 err);

	if (status == OP_DONE) {
		list_add(&result->removed, draft->id);
		result->drafts++;
	}
	return status;
}

static enum op_status clean_batch(const struct batch_client *batch, struct op_clean_result *result,
				  struct error *err)
{
	if (client_remove_folder(batch->folder, &result->freed_bytes, err) < 0)
		return OP_FAILED;
	list_add(&result->removed, batch->id);
	result->batches++;
	return OP_DONE;
}

static enum op_status clean_all(const struct op_clean_request *request,
				const struct candidates *all, struct op_clean_result *result,
				struct error *err)
{
	const struct client_loops *loops = &all->loops;
	const struct draft_records *drafts = &all->drafts;
	enum op_status status = OP_DONE;

	for (size_t i = 0; i < loops->count && status == OP_DONE; i++)
		if (is_selected(request, all, &loops->items[i]))
			status = clean_one(request, &loops->items[i], result, err);
	for (size_t i = 0; i < drafts->count && status == OP_DONE; i++)
		if (is_selected_draft(request, &drafts->items[i]))
			status = clean_draft(request, &drafts->items[i], result, err);
	for (size_t i = 0; i < all->batches.count && status == OP_DONE; i++)
		if (is_selected_batch(request, &all->batches.items[i]))
			status = clean_batch(&all->batches.items[i], result, err);
	return status;
}

/* Lists the loops among which the request selects. */
static int list_loops(const struct op_clean_request *request, struct client_loops *ret_loops,
		      struct error *err)
{
	const struct client_query query = { .project = request->project,
					    .until_ms = request->now_ms - request->older_ms,
					    .newest = CLIENT_ALL };

	if (!request->loop)
		return client_list(request->state, &query, ret_loops, err);
	*ret_loops = (struct client_loops){ .items = mem_zero(sizeof *ret_loops->items),
					    .count = 1 };
	if (client_find(request->state, request->loop, NULL, ret_loops->items, err) == 0)
		return 0;
	client_loops_release(ret_loops);
	return -1;
}

/* Explains why a loop was not found. err: set. */
static enum op_status fail_to_find(const struct op_clean_request *request, struct error *err)
{
	struct draft_record draft;
	struct error unused;

	if (draft_record_find(request->state, request->loop, &draft, &unused) < 0)
		return op_status_of(err); /* there is no such loop */
	error_set(err, "%s is a draft (to remove it: ringfence discard %s)", draft.id, draft.id);
	draft_record_release(&draft);
	return OP_NOT_FOUND;
}

static enum op_status clean(const struct op_clean_request *request, const struct candidates *all,
			    struct op_clean_result *result, struct error *err)
{
	if (request->loop && is_needed(&all->batches, request->loop)) {
		error_with(err, ERROR_REFUSED,
			   "loop %s is needed by a batch that has not ended (see: ringfence work "
			   "--show; to end it: ringfence work --abort)",
			   request->loop);
		return OP_REFUSED;
	}
	make_question(request, all, &result->question);
	if (!result->question.count)
		return OP_UNCHANGED;
	if (!op_agreed(&request->answer, &result->question))
		return OP_ASKS;
	return clean_all(request, all, result, err);
}

enum op_status op_clean(const struct op_clean_request *request, struct op_clean_result *ret_result,
			struct error *err)
{
	struct candidates all = { 0 };
	enum op_status status = OP_FAILED;

	*ret_result = (struct op_clean_result){ 0 };
	op_worktree_sweep(request->state);
	op_start_draft_sweep(request->state);
	if (list_loops(request, &all.loops, err) < 0)
		return request->loop ? fail_to_find(request, err) : op_status_of(err);
	if (draft_record_list(request->state, &all.drafts, err) == 0 &&
	    batch_client_list(request->state, &all.batches, err) == 0)
		status = clean(request, &all, ret_result, err);
	batch_clients_release(&all.batches);
	draft_records_release(&all.drafts);
	client_loops_release(&all.loops);
	return status;
}

void op_clean_release(struct op_clean_result *result)
{
	op_question_release(&result->question);
	list_release(&result->removed);
	list_release(&result->kept_branches);
	*result = (struct op_clean_result){ 0 };
}
