/* Removing loops: see op_clean.h. */
#include "ops/op_clean.h"

#include "ops/op_worktree.h"
#include "snapshot/snapshot.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static bool is_selected(const struct op_clean_request *request, const struct client_loop *loop)
{
	if (request->loop)
		return strcmp(loop->id, request->loop) == 0;
	return !loop->alive && !loop->damaged &&
	       (!request->project || client_is_of(loop, request->project)) &&
	       request->now_ms - loop->state.created_ms >= request->older_ms;
}

static void make_question(const struct op_clean_request *request, const struct client_loops *all,
			  struct op_question *question)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct client_loop *loop = &all->items[i];
		const struct op_item item = { .name = loop->id,
					      .value = (char *)client_status(loop),
					      .where = (char *)loop->state.options.project };

		if (is_selected(request, loop))
			op_question_add(question, &item);
	}
	op_question_set(question, OP_QUESTION_REMOVE,
			mem_format("Remove %zu loop%s with logs and checkpoints?", question->count,
				   question->count == 1 ? "" : "s"));
}

/* A loop with its own work tree also has its own checkpoint store, which drop_branch() removes. */
static int drop_checkpoints(const struct op_clean_request *request, const struct client_loop *loop,
			    uint64_t *bytes, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	json_int_t before, after;
	int result;

	if (loop->state.options.origin)
		return 0;
	snapshot_begin(&work, "prune", request->state, loop->state.options.project, loop->id);
	snapshot_tell(&work, "drop", loop->id);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	before = jsonget_number(answer, "bytes_before");
	after = jsonget_number(answer, "bytes_after");
	*bytes += before > after ? (uint64_t)(before - after) : 0;
	json_decref(answer);
	return result;
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

static enum op_status clean_all(const struct op_clean_request *request,
				const struct client_loops *all, struct op_clean_result *result,
				struct error *err)
{
	enum op_status status = OP_DONE;

	for (size_t i = 0; i < all->count && status == OP_DONE; i++)
		if (is_selected(request, &all->items[i]))
			status = clean_one(request, &all->items[i], result, err);
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

enum op_status op_clean(const struct op_clean_request *request, struct op_clean_result *ret_result,
			struct error *err)
{
	struct client_loops all;
	enum op_status status;

	*ret_result = (struct op_clean_result){ 0 };
	op_worktree_sweep(request->state);
	if (list_loops(request, &all, err) < 0)
		return op_status_of(err);
	make_question(request, &all, &ret_result->question);
	if (!ret_result->question.count) {
		status = OP_UNCHANGED;
	} else if (!op_agreed(&request->answer, &ret_result->question)) {
		status = OP_ASKS;
	} else {
		status = clean_all(request, &all, ret_result, err);
	}
	client_loops_release(&all);
	return status;
}

void op_clean_release(struct op_clean_result *result)
{
	op_question_release(&result->question);
	list_release(&result->removed);
	list_release(&result->kept_branches);
	*result = (struct op_clean_result){ 0 };
}
