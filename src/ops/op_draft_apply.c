/* Applying a draft: see op_draft_apply.h. */
#include "ops/op_draft_apply.h"

#include "ops/op_draft_applied.h"
#include "snapshot/snapshot.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the way ---- */

/* An apply saves the project before and after it, as two consecutive checkpoints. One that was
 * interrupted may not have its number yet; it is completed first. */
static int find_way_back(const struct op_draft_apply_request *request,
			 struct op_draft_apply_result *result, struct error *err)
{
	const struct draft_record *record = &result->record;
	struct snapshot_work work;
	json_t *recovered = NULL;
	int64_t number;
	int outcome;

	snapshot_begin(&work, "recover", request->state, record->project, record->id);
	outcome = snapshot_run(&work, -1, &recovered, err);
	snapshot_release(&work);
	json_decref(recovered);
	if (outcome < 0 || op_draft_applied_number(request->state, record, &number, err) < 0)
		return -1;
	if (!number)
		return error_with(
			err, ERROR_INVALID,
			"nothing to undo: draft %s is not applied (see: ringfence drafts)",
			record->id);
	result->from = number;
	result->to = number - 1;
	return 0;
}

static int find_way(const struct op_draft_apply_request *request,
		    struct op_draft_apply_result *result, struct error *err)
{
	if (request->undo)
		return find_way_back(request, result, err);
	result->from = 0;
	result->to = result->record.result;
	if (draft_record_check_result(&result->record, err) < 0)
		return -1;
	return op_draft_find_pins(request->state, &result->record, &result->pins, err);
}

/* The kind of the checkpoint that is saved. If only a part is taken back, the apply remains the
 * last one, and the rest can follow. */
static const char *kind_of(const struct op_draft_apply_request *request, bool in_part)
{
	if (!request->undo)
		return SNAPSHOT_APPLY;
	return request->paths->count || in_part ? "undo" : SNAPSHOT_UNAPPLY;
}

/* Changes that are not applied, or only in part. */
struct parts {
	struct op_draft_apply_part *items;
	size_t count;
};

static void add_part(struct parts *parts, uint64_t number, const char *choice)
{
	parts->items = mem_extend(parts->items, parts->count, sizeof *parts->items);
	parts->items[parts->count++] =
		(struct op_draft_apply_part){ number, choice ? mem_dup(choice) : NULL };
}

static void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].choice);
	free(parts->items);
}

/* Begins a request to the gate. */
static void begin_crossing(const struct op_draft_apply_request *request,
			   const struct op_draft_apply_result *result, const struct parts *parts,
			   struct snapshot_work *work)
{
	snapshot_begin(work, "cross", request->state, result->record.project, result->record.id);
	snapshot_tell(work, "kind", kind_of(request, parts->count > 0));
	snapshot_tell_number(work, "from", result->from);
	snapshot_tell_number(work, "to", result->to);
	if (request->ignored && !request->undo)
		snapshot_tell(work, "layers", result->record.layers);
	for (size_t i = 0; i < request->paths->count; i++)
		snapshot_tell(work, "only", request->paths->items[i]);
	for (size_t i = 0; i < parts->count; i++) {
		const struct op_draft_apply_part *part = &parts->items[i];
		AUTO_FREE char *pick = mem_format("%llu:%s", (unsigned long long)part->number,
						  part->choice ? part->choice : "");

		if (part->choice)
			snapshot_tell(work, "pick", pick);
		else
			snapshot_tell_number(work, "leave", (int64_t)part->number);
	}
	if (result->shown)
		snapshot_tell(work, "present", result->shown);
}

static void read_list(const json_t *answer, const char *key, struct list *list)
{
	size_t index;
	json_t *entry;

	list_release(list);
	json_array_foreach(json_object_get(answer, key), index, entry)
	{
		list_add(list, json_string_value(entry));
	}
}

/* Reads the answer of the gate. */
static int read_answer(const json_t *answer, struct op_draft_apply_result *result,
		       struct error *err)
{
	apply_changes_release(&result->changes);
	if (apply_changes_read(answer, result->pins, &result->changes, err) < 0)
		return -1;
	read_list(answer, "conflicts", &result->conflicts);
	read_list(answer, "joined", &result->merged);
	read_list(answer, "kept", &result->kept);
	free(result->shown);
	result->shown = mem_dup(jsonget_text(answer, "present"));
	result->written = (uint64_t)jsonget_number(answer, "written");
	result->removed = (uint64_t)jsonget_number(answer, "removed");
	result->adjusted = (uint64_t)jsonget_number(answer, "adjusted");
	result->recovered = result->recovered || jsonget_flag(answer, "recovered");
	return 0;
}

static enum op_status check_quiet(const struct op_draft_apply_request *request,
				  const struct draft_record *record, struct error *err)
{
	AUTO_FREE char *running = request->dry ? NULL
					       : client_running(request->state, record->project);

	if (running) {
		error_with(err, ERROR_BUSY,
			   "loop %s is running in this project: wait until it ends, or run "
			   "ringfence abort %s",
			   running, running);
		return OP_RUNNING;
	}
	return OP_DONE;
}

static int check_project(const struct draft_record *record, struct error *err)
{
	if (access(record->project, F_OK) == 0)
		return 0;
	return error_with(err, ERROR_REFUSED,
			  "the project '%s' of %s %s is gone: move it back, or remove the %s: "
			  "ringfence %s %s",
			  record->project, record->of_loop ? "loop" : "draft", record->id,
			  record->of_loop ? "loop" : "draft", record->of_loop ? "clean" : "discard",
			  record->id);
}

/* Runs a task of the gate, which may take long if there are many ignored files. */
static int run_slowly(const struct op_draft_apply_request *request, const char *what,
		      const struct snapshot_work *work, json_t **ret_answer, struct error *err)
{
	struct snapshot_job job;

	if (snapshot_start(work, -1, -1, &job, err) < 0)
		return -1;
	snapshot_await(&job, request->progress, what);
	return snapshot_end(&job, ret_answer, err);
}

/* Reads what would change, and prepares the questions. */
static int look(const struct op_draft_apply_request *request, struct op_draft_apply_result *result,
		struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int outcome;

	begin_crossing(request, result, &(struct parts){ 0 }, &work);
	snapshot_tell_number(&work, "dry", 1);
	snapshot_tell_number(&work, "hunks", request->hunks);
	outcome = run_slowly(request, "comparing the draft with the project", &work, &answer, err);
	snapshot_release(&work);
	if (outcome == 0)
		outcome = read_answer(answer, result, err);
	for (int i = 0; outcome == 0 && i < PATH_GROUP_COUNT; i++)
		apply_changes_ask(&result->changes, (enum path_group)i,
				  jsonget_text(answer, "tree"), &result->questions[i]);
	json_decref(answer);
	return outcome;
}

static void leave_group(struct op_draft_apply_result *result, enum path_group group,
			struct parts *parts)
{
	for (size_t i = 0; i < result->changes.count; i++) {
		const struct apply_changes_item *item = &result->changes.items[i];

		if (item->group != group)
			continue;
		add_part(parts, item->number, NULL);
		list_add(&result->left, item->path);
	}
}

/* Finds out which groups may be applied. Returns OP_ASKS if a question is open. */
static enum op_status judge_groups(const struct op_draft_apply_request *request,
				   struct op_draft_apply_result *result, struct parts *parts)
{
	for (int i = 0; i < PATH_GROUP_COUNT; i++) {
		const struct op_question *question = &result->questions[i];

		if (!question->count || op_agreed(&request->answer, question) ||
		    op_agreed(&request->answers[i], question))
			continue;
		result->asked = (enum path_group)i;
		if (!op_declined(&request->answers[i], question))
			return OP_ASKS;
		leave_group(result, (enum path_group)i, parts);
	}
	return OP_DONE;
}

/* Returns whether a change is left out, by itself or as the other path of a renamed file. */
static bool is_left(const struct apply_changes_item *item, const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].number == item->number && !parts->items[i].choice)
			return true;
	return false;
}

static bool is_all_left(const struct op_draft_apply_result *result, const struct parts *parts)
{
	for (size_t i = 0; i < result->changes.count; i++)
		if (!is_left(&result->changes.items[i], parts))
			return false;
	return true;
}

static enum op_status take_choice(const struct op_draft_apply_choice *choice,
				  const struct op_draft_apply_result *result, struct parts *parts,
				  struct error *err)
{
	if (strcmp(choice->shown, result->shown) != 0) {
		error_with(err, ERROR_BUSY, "the project changed in the meantime (try again)");
		return OP_RUNNING;
	}
	for (size_t i = 0; i < choice->count; i++)
		add_part(parts, choice->parts[i].number, choice->parts[i].choice);
	return OP_DONE;
}

/* Shows what would change. Returns OP_DONE if it may be done. */
static enum op_status preview(const struct op_draft_apply_request *request,
			      struct op_draft_apply_result *result, struct parts *parts,
			      struct error *err)
{
	enum op_status status;

	if (look(request, result, err) < 0)
		return op_status_of(err);
	if (result->conflicts.count) {
		error_with(err, ERROR_REFUSED, "draft %s conflicts with your own changes",
			   result->record.id);
		return OP_REFUSED;
	}
	if (request->dry)
		return OP_UNCHANGED;
	status = request->choice ? take_choice(request->choice, result, parts, err)
				 : judge_groups(request, result, parts);
	return status == OP_DONE && is_all_left(result, parts) ? OP_UNCHANGED : status;
}

/* Does exactly what was shown, without the parts that are left out. */
static enum op_status apply(const struct op_draft_apply_request *request,
			    struct op_draft_apply_result *result, const struct parts *parts,
			    struct error *err)
{
	AUTO_FREE char *what = mem_format("changing %zu paths in the project",
					  result->changes.count);
	struct snapshot_work work;
	json_t *answer = NULL;
	int outcome;

	begin_crossing(request, result, parts, &work);
	outcome = run_slowly(request, what, &work, &answer, err);
	snapshot_release(&work);
	if (outcome == 0)
		outcome = read_answer(answer, result, err);
	json_decref(answer);
	return outcome < 0 ? op_status_of(err) : OP_DONE;
}

/* Records whether everything in the draft is in the project now. An undo is recorded before it
 * happens, an apply afterwards: if this is interrupted, the draft is not taken for a spent one. */
static int record_spent(struct draft_record *record, bool spent, struct error *err)
{
	int64_t now = spent ? record->result : DRAFT_RECORD_NONE;

	if (record->of_loop || record->spent == now)
		return 0;
	record->spent = now;
	return draft_record_write(record, err);
}

/* Returns whether an apply took everything over, or had nothing left to do. */
static bool is_whole(const struct op_draft_apply_request *request,
		     const struct op_draft_apply_result *result, const struct parts *parts,
		     enum op_status status)
{
	bool all = request->ignored || !result->record.ignored;

	return all && !request->undo && !request->dry && !request->paths->count && !parts->count &&
	       (status == OP_DONE || (status == OP_UNCHANGED && !result->changes.count));
}

enum op_status op_draft_apply(const struct op_draft_apply_request *request,
			      struct op_draft_apply_result *ret_result, struct error *err)
{
	struct draft_record *record = &ret_result->record;
	struct parts parts = { 0 };
	enum op_status status;

	*ret_result = (struct op_draft_apply_result){ .record.lock = -1 };
	if (op_draft_find(request->state, request->id, record, err) < 0 ||
	    check_project(record, err) < 0 || op_draft_lock(request->state, record, err) < 0 ||
	    find_way(request, ret_result, err) < 0)
		return op_status_of(err);
	status = check_quiet(request, record, err);
	if (status == OP_DONE)
		status = preview(request, ret_result, &parts, err);
	if (status == OP_DONE && request->undo && record_spent(record, false, err) < 0)
		status = op_status_of(err);
	if (status == OP_DONE)
		status = apply(request, ret_result, &parts, err);
	if (is_whole(request, ret_result, &parts, status) && record_spent(record, true, err) < 0)
		status = op_status_of(err);
	parts_release(&parts);
	return status;
}

void op_draft_apply_release(struct op_draft_apply_result *result)
{
	draft_record_release(&result->record);
	apply_changes_release(&result->changes);
	for (int i = 0; i < PATH_GROUP_COUNT; i++)
		op_question_release(&result->questions[i]);
	free(result->shown);
	json_decref(result->pins);
	list_release(&result->left);
	list_release(&result->conflicts);
	list_release(&result->merged);
	list_release(&result->kept);
	*result = (struct op_draft_apply_result){ .record.lock = -1 };
}

/* Returns whether a path of this number is in the group. */
static bool is_in_group(const struct apply_changes *changes, uint64_t number, enum path_group group)
{
	for (size_t i = 0; i < changes->count; i++)
		if (changes->items[i].number == number && changes->items[i].group == group)
			return true;
	return false;
}

int op_draft_apply_show(const struct op_draft_apply_request *request,
			const struct op_draft_apply_result *result, enum path_group group,
			const struct op_draft_apply_output *output, struct error *err)
{
	struct parts others = { 0 };
	struct snapshot_work work;
	json_t *answer = NULL;
	int outcome;

	for (size_t i = 0; i < result->changes.count; i++)
		if (!is_in_group(&result->changes, result->changes.items[i].number, group))
			add_part(&others, result->changes.items[i].number, NULL);
	begin_crossing(request, result, &others, &work);
	snapshot_tell_number(&work, "dry", 1);
	snapshot_tell(&work, "style", "patch");
	snapshot_tell_number(&work, "terminal", output->terminal);
	snapshot_tell_number(&work, "color", output->color);
	outcome = snapshot_run(&work, output->fd, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	parts_release(&others);
	return outcome;
}
