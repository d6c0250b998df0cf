/* Rolling back to a checkpoint: see op_rollback.h. */
#include "ops/op_rollback.h"

#include "fence/fence_quarantine.h"
#include "ops/op_abort.h"
#include "snapshot/snapshot.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path_of(const struct op_rollback_request *request)
{
	return request->path ? request->path : "";
}

static void begin(const char *name, const struct op_rollback_request *request,
		  const struct client_loop *loop, struct snapshot_work *ret_work)
{
	snapshot_begin(ret_work, name, request->target.state, loop->state.options.project,
		       loop->id);
	snapshot_tell_number(ret_work, "ignored", loop->state.options.checkpoint_ignored);
	if (loop->state.options.draft)
		snapshot_tell(ret_work, "draft", loop->state.options.draft);
}

/* Reports a missing checkpoint or path before a loop is stopped or the user is asked. */
static int check_exists(const struct op_rollback_request *request, const struct client_loop *loop,
			struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	begin("holds", request, loop, &work);
	snapshot_tell_number(&work, "from", request->checkpoint);
	snapshot_tell(&work, "path", path_of(request));
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

static enum op_status stop_loop(const char *state, const char *id, struct error *err)
{
	const struct op_abort_request request = { .target = { .state = state, .loop = id } };
	struct op_abort_result result;
	enum op_status status = op_abort(&request, &result, err);

	op_abort_release(&result);
	if (status == OP_DONE || status == OP_ENDED)
		return OP_DONE;
	error_set(err, "could not stop loop %s (see: ringfence status)", id);
	return status;
}

/* Returns the id of a running loop that writes where this one does, or NULL. The caller frees
 * it. */
static char *find_running(const char *state, const struct client_loop *loop)
{
	if (!loop->state.options.draft)
		return client_running(state, loop->state.options.project);
	return loop->alive ? mem_dup(loop->id) : NULL;
}

/* Makes sure that no loop runs in the project, and that none starts while *ret_lock is open. */
static enum op_status keep_loops_out(const struct op_rollback_request *request,
				     const struct client_loop *loop, int *ret_lock,
				     struct error *err)
{
	const char *state = request->target.state;
	AUTO_FREE char *running = find_running(state, loop);
	enum op_status status = OP_DONE;

	if (running && !request->stop) {
		error_with(err, ERROR_BUSY,
			   "loop %s is running%s: run ringfence abort %s, or use --stop", running,
			   loop->state.options.draft ? "" : " in this project", running);
		return OP_RUNNING;
	}
	if (running)
		status = stop_loop(state, running, err);
	return status == OP_DONE ? op_hold(loop, ret_lock, err) : status;
}

/* ---- the question ---- */

char *op_rollback_subject(const struct op_rollback_request *request, const struct client_loop *loop)
{
	const char *tree = loop->state.options.work_tree;
	AUTO_FREE char *path = text_escaped(path_of(request));
	AUTO_FREE char *folder = text_escaped(tree ? tree : "");

	if (loop->state.options.draft)
		return request->path ? mem_format("'%s' in the loop's draft", path)
				     : mem_dup("the loop's draft");
	if (request->path)
		return tree ? mem_format("'%s' in the loop's work tree '%s'", path, folder)
			    : mem_format("'%s'", path);
	return tree ? mem_format("the loop's work tree '%s'", folder) : mem_dup("the project");
}

/* The question shows when the loop began, because the newest loop is used if none was named. */
static char *question_text(const struct op_rollback_request *request,
			   const struct client_loop *loop)
{
	AUTO_FREE char *what = op_rollback_subject(request, loop);
	const bool beside = loop->state.options.work_tree || loop->state.options.draft;
	AUTO_FREE char *begun = clock_text(loop->state.created_ms, CLOCK_SECOND);

	return mem_format("Roll back %s to checkpoint %lld of loop %s, begun %s?%s", what,
			  (long long)request->checkpoint, loop->id, begun,
			  beside ? " Your project stays unchanged." : "");
}

/* Returns the changes since the checkpoint as JSON, which the caller releases, or NULL with err
 * set. */
static json_t *read_changes(const struct op_rollback_request *request,
			    const struct client_loop *loop, struct error *err)
{
	struct snapshot_work work;
	json_t *changes;

	begin("diff", request, loop, &work);
	snapshot_tell_number(&work, "from", request->checkpoint);
	snapshot_tell(&work, "style", "json");
	if (request->path)
		snapshot_tell(&work, "only", request->path);
	changes = snapshot_read(&work, err);
	snapshot_release(&work);
	return changes;
}

static int make_question(const struct op_rollback_request *request, const struct client_loop *loop,
			 struct op_question *question, struct error *err)
{
	json_t *all = read_changes(request, loop, err);
	size_t index;
	json_t *change;

	if (!all)
		return -1;
	json_array_foreach(json_object_get(all, "changes"), index, change)
	{
		const struct op_item item = {
			.name = (char *)jsonget_string(change, "path"),
			.value = (char *)jsonget_string(change, "status"),
		};

		op_question_add(question, &item);
	}
	json_decref(all);
	op_question_set(question, OP_QUESTION_RESTORE, question_text(request, loop));
	return 0;
}

/* ---- the work ---- */

static int perform(const struct op_rollback_request *request, const struct client_loop *loop,
		   int64_t checkpoint, const char *path, json_t **ret_answer, struct error *err)
{
	struct snapshot_work work;
	int result;

	begin(*path ? "restore" : "rollback", request, loop, &work);
	snapshot_tell_number(&work, "from", checkpoint);
	snapshot_tell(&work, "path", path);
	result = snapshot_run(&work, -1, ret_answer, err);
	snapshot_release(&work);
	return result;
}

/* Restores quarantined files that existed before the loop. */
static void restore_original(const struct op_rollback_request *request,
			     const struct client_loop *loop, const struct fence_found *found)
{
	const char *project = loop->state.options.project;

	for (size_t i = 0; i < found->count; i++) {
		const char *path = found->items[i].path;
		json_t *answer = NULL;
		struct error ignored;

		if (path_within(path, project) && strcmp(path, project) != 0)
			perform(request, loop, 0, path + strlen(project) + 1, &answer, &ignored);
		json_decref(answer);
	}
}

/*
 * Any checkpoint except the one from before the loop may hold a file that an agent planted and that
 * a sweep has quarantined since. Sweep the project after restoring one, as after a run.
 */
static int perform_swept(const struct op_rollback_request *request,
			 struct op_rollback_result *result, struct error *err)
{
	const struct client_loop *loop = &result->loop;
	struct fence_quarantine *quarantine = NULL;
	struct error why;
	int done;

	/* The host sees nothing of a draft. */
	if (request->checkpoint == 0 || loop->state.options.draft)
		return perform(request, loop, request->checkpoint, path_of(request),
			       &result->details, err);
	if (fence_quarantine_begin(loop->state.options.project, NULL, &quarantine, err) < 0)
		return -1;
	done = perform(request, loop, request->checkpoint, path_of(request), &result->details, err);
	if (fence_quarantine_end(quarantine, &result->quarantined, &why) < 0 && done == 0)
		done = error_with(err, why.status, "%s", why.text);
	restore_original(request, loop, &result->quarantined);
	return done;
}

static void read_details(struct op_rollback_result *result)
{
	size_t index;
	json_t *kept;

	result->saved = jsonget_number(result->details, "saved");
	result->written = jsonget_number(result->details, "written");
	result->removed = jsonget_number(result->details, "removed");
	result->adjusted = jsonget_number(result->details, "adjusted");
	json_array_foreach(json_object_get(result->details, "kept"), index, kept)
		list_add(&result->kept, json_string_value(kept));
}

static enum op_status roll_back(const struct op_rollback_request *request,
				struct op_rollback_result *result, struct error *err)
{
	const json_int_t checkpoint = (json_int_t)request->checkpoint;

	if (client_restoring(&result->loop,
			     json_pack("{s:I, s:o}", "number", checkpoint, "path",
				       client_text(path_of(request))),
			     err) < 0 ||
	    perform_swept(request, result, err) < 0)
		return OP_FAILED;
	read_details(result);
	return client_restored(&result->loop,
			       json_pack("{s:I, s:I, s:o}", "number", checkpoint, "saved",
					 (json_int_t)result->saved, "path",
					 client_text(path_of(request))),
			       err) < 0
		       ? OP_FAILED
		       : OP_DONE;
}

enum op_status op_rollback(const struct op_rollback_request *request,
			   struct op_rollback_result *ret_result, struct error *err)
{
	struct client_loop *loop = &ret_result->loop;
	AUTO_FD lock = -1;
	enum op_status status;
	struct error why;

	*ret_result = (struct op_rollback_result){ 0 };
	status = op_find(&request->target, loop, err);
	if (status == OP_DONE && check_exists(request, loop, err) < 0)
		status = op_status_of(err);
	if (status == OP_DONE)
		status = keep_loops_out(request, loop, &lock, err);
	if (status != OP_DONE)
		return status;
	if (!request->answer.to_all) {
		if (make_question(request, loop, &ret_result->question, err) < 0)
			return OP_FAILED;
		if (!op_agreed(&request->answer, &ret_result->question))
			return OP_ASKS;
	}
	/* Afterwards the branch of a draft follows, and its last commit is another one. */
	ret_result->applied = op_draft_applied_loop(request->target.state, loop);
	status = roll_back(request, ret_result, err);
	fd_close(&lock);
	if (status == OP_DONE && client_update_branch(loop, &why) < 0)
		ret_result->behind = mem_dup(why.text);
	return status;
}

void op_rollback_release(struct op_rollback_result *result)
{
	client_loop_release(&result->loop);
	op_question_release(&result->question);
	list_release(&result->kept);
	fence_found_release(&result->quarantined);
	json_decref(result->details);
	free(result->behind);
	*result = (struct op_rollback_result){ 0 };
}
