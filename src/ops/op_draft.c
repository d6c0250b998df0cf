/* Drafts: see op_draft.h. */
#include "ops/op_draft.h"

#include "ops/apply_question.h"
#include "snapshot/snapshot.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/shell.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLY   "apply"
#define UNAPPLY "unapply"

enum { MOST_COMMAND = 1 << 16 };

/* ---- the run ---- */

/* Saves a checkpoint: the base, or from the folder of the draft its result. */
static int save(const char *state, const struct draft_record *record, const char *draft,
		int64_t *ret_number, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, draft ? "result" : "save", state, record->project, record->id);
	snapshot_tell(&work, "kind", draft ? "after" : "start");
	if (draft)
		snapshot_tell(&work, "draft", draft);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0)
		*ret_number = jsonget_number(answer, "number");
	json_decref(answer);
	return result;
}

/* Returns a command as a line for a shell, cut if it is very long. The caller frees it. */
static char *line_of(char *const *command)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(MOST_COMMAND);

	for (; *command; command++) {
		AUTO_FREE char *word = shell_quoted(*command);

		buffer_printf(&line, "%s%s", line.used ? " " : "", word);
	}
	return mem_dup(buffer_text(&line));
}

static int open_existing(const struct op_draft_begin_request *request, const char *line,
			 struct draft_record *record, struct error *err)
{
	if (draft_record_find(request->state, request->id, record, err) < 0)
		return -1;
	if (strcmp(record->project, request->draft.view.project) != 0)
		error_with(err, ERROR_INVALID, "draft %s is of another project: %s", record->id,
			   record->project);
	else if (draft_record_lock(record, err) == 0) {
		free(record->command);
		record->command = mem_dup(line);
		record->code = DRAFT_RECORD_NONE;
		if (draft_record_write(record, err) == 0)
			return 0;
	}
	draft_record_release(record);
	return -1;
}

static int drop_checkpoints(const char *state, const struct draft_record *record, uint64_t *bytes,
			    struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	json_int_t before, after;
	int result;

	snapshot_begin(&work, "prune", state, record->project, record->id);
	snapshot_tell(&work, "drop", record->id);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	before = jsonget_number(answer, "bytes_before");
	after = jsonget_number(answer, "bytes_after");
	*bytes += before > after ? (uint64_t)(before - after) : 0;
	json_decref(answer);
	return result;
}

/* The base is saved before the draft is made: what the user changes in between may then be in the
 * draft, but is not taken for something that the user has undone. */
static int fill_new(const struct op_draft_begin_request *request, const struct draft_record *record,
		    struct draft_made *ret_made, struct error *err)
{
	struct draft_request draft = request->draft;
	int64_t base;

	draft.view.folder = record->layers;
	return save(request->state, record, NULL, &base, err) < 0
		       ? -1
		       : draft_make(&draft, ret_made, err);
}

static int open_new(const struct op_draft_begin_request *request, const char *line,
		    struct draft_record *record, struct draft_made *ret_made, struct error *err)
{
	struct error ignored;
	uint64_t bytes = 0;

	if (draft_record_create(request->state, request->draft.view.project, line, record, err) < 0)
		return -1;
	if (fill_new(request, record, ret_made, err) == 0)
		return 0;
	draft_record_remove(record, NULL, &ignored);
	drop_checkpoints(request->state, record, &bytes, &ignored);
	draft_record_release(record);
	return -1;
}

enum op_status op_draft_begin(const struct op_draft_begin_request *request,
			      struct draft_record *ret_record, struct draft_made *ret_made,
			      struct error *err)
{
	AUTO_FREE char *line = line_of(request->command);
	int result = request->id ? open_existing(request, line, ret_record, err)
				 : open_new(request, line, ret_record, ret_made, err);

	return result < 0 ? op_status_of(err) : OP_DONE;
}

/* Reads what a draft changes. Returns NULL with err set on failure. */
static json_t *read_changes(const char *state, const struct draft_record *record, struct error *err)
{
	struct snapshot_work work;
	json_t *changes;

	snapshot_begin(&work, "diff", state, record->project, record->id);
	snapshot_tell_number(&work, "from", 0);
	snapshot_tell_number(&work, "to", record->result);
	snapshot_tell(&work, "style", "json");
	changes = snapshot_read(&work, err);
	snapshot_release(&work);
	return changes;
}

enum op_status op_draft_end(const char *state, struct draft_record *record, int64_t code,
			    json_t **ret_changes, struct error *err)
{
	json_t *all;

	if (save(state, record, record->layers, &record->result, err) < 0)
		return op_status_of(err);
	record->code = code;
	if (draft_record_write(record, err) < 0)
		return op_status_of(err);
	all = read_changes(state, record, err);
	if (!all)
		return op_status_of(err);
	*ret_changes = json_incref(json_object_get(all, "changes"));
	json_decref(all);
	return OP_DONE;
}

/* ---- the gate ---- */

/* The checkpoints between which the changes are that cross. */
struct way {
	int64_t from, to;
};

/* Returns the number of the last apply that was not taken back, or 0. Each undo takes back the last
 * one that is left. */
static int64_t last_apply(const json_t *checkpoints)
{
	size_t undone = 0;

	for (size_t i = json_array_size(checkpoints); i-- > 0;) {
		const json_t *item = json_array_get(checkpoints, i);
		const char *kind = jsonget_text(item, "kind");

		if (strcmp(kind, UNAPPLY) == 0)
			undone++;
		else if (strcmp(kind, APPLY) == 0 && undone-- == 0)
			return jsonget_number(item, "number");
	}
	return 0;
}

int op_draft_find_apply(const char *state, const struct draft_record *record, int64_t *ret_number,
			struct error *err)
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

/* An apply saves the project before and after it, as two consecutive checkpoints. */
static int find_way_back(const struct op_draft_apply_request *request,
			 const struct draft_record *record, struct way *ret_way, struct error *err)
{
	int64_t number;

	if (op_draft_find_apply(request->state, record, &number, err) < 0)
		return -1;
	if (!number)
		return error_with(
			err, ERROR_INVALID,
			"nothing to undo: draft %s is not applied (see: ringfence drafts)",
			record->id);
	*ret_way = (struct way){ number, number - 1 };
	return 0;
}

static int find_way(const struct op_draft_apply_request *request, const struct draft_record *record,
		    struct way *ret_way, struct error *err)
{
	if (access(record->project, F_OK) < 0)
		return error_sys(err, "find the project '%s' of draft %s", record->project,
				 record->id);
	if (request->undo)
		return find_way_back(request, record, ret_way, err);
	*ret_way = (struct way){ 0, record->result };
	return draft_record_check_result(record, err);
}

/* The kind of the checkpoint that is saved. If only some paths are taken back, the apply remains
 * the last one, and the others can follow. */
static const char *kind_of(const struct op_draft_apply_request *request)
{
	if (!request->undo)
		return APPLY;
	return request->paths->count ? "undo" : UNAPPLY;
}

static int cross(const struct op_draft_apply_request *request, const struct draft_record *record,
		 const struct way *way, const json_t *shown, json_t **ret_answer, struct error *err)
{
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, "cross", request->state, record->project, record->id);
	snapshot_tell(&work, "kind", kind_of(request));
	snapshot_tell_number(&work, "from", way->from);
	snapshot_tell_number(&work, "to", way->to);
	for (size_t i = 0; i < request->paths->count; i++)
		snapshot_tell(&work, "only", request->paths->items[i]);
	snapshot_tell_number(&work, "dry", shown == NULL);
	if (shown)
		snapshot_tell(&work, "tree", jsonget_text(shown, "tree"));
	result = snapshot_run(&work, -1, ret_answer, err);
	snapshot_release(&work);
	return result;
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
			  "the project '%s' of draft %s is gone: move it back, or run ringfence "
			  "discard %s",
			  record->project, record->id, record->id);
}

/* Shows what would change. Returns OP_DONE if it may be done. */
static enum op_status preview(const struct op_draft_apply_request *request, const struct way *way,
			      struct op_draft_apply_result *result, struct error *err)
{
	if (cross(request, &result->record, way, NULL, &result->details, err) < 0)
		return op_status_of(err);
	if (json_array_size(json_object_get(result->details, "conflicts"))) {
		error_with(err, ERROR_REFUSED, "draft %s conflicts with your own changes",
			   result->record.id);
		return OP_REFUSED;
	}
	if (apply_question_make(result->details, &result->question, err) < 0)
		return op_status_of(err);
	if (request->dry || !json_array_size(json_object_get(result->details, "changes")))
		return OP_UNCHANGED;
	if (result->question.count && !op_agreed(&request->answer, &result->question))
		return OP_ASKS;
	return OP_DONE;
}

/* Does exactly what was shown. */
static enum op_status apply(const struct op_draft_apply_request *request, const struct way *way,
			    struct op_draft_apply_result *result, struct error *err)
{
	json_t *answer = NULL;

	if (cross(request, &result->record, way, result->details, &answer, err) < 0)
		return op_status_of(err);
	json_decref(result->details);
	result->details = answer;
	return OP_DONE;
}

enum op_status op_draft_apply(const struct op_draft_apply_request *request,
			      struct op_draft_apply_result *ret_result, struct error *err)
{
	struct draft_record *record = &ret_result->record;
	enum op_status status;
	struct way way;

	*ret_result = (struct op_draft_apply_result){ .record.lock = -1 };
	if (draft_record_find(request->state, request->id, record, err) < 0 ||
	    draft_record_lock(record, err) < 0 || check_project(record, err) < 0 ||
	    find_way(request, record, &way, err) < 0)
		return op_status_of(err);
	status = check_quiet(request, record, err);
	if (status == OP_DONE)
		status = preview(request, &way, ret_result, err);
	return status == OP_DONE ? apply(request, &way, ret_result, err) : status;
}

void op_draft_apply_release(struct op_draft_apply_result *result)
{
	draft_record_release(&result->record);
	op_question_release(&result->question);
	json_decref(result->details);
	*result = (struct op_draft_apply_result){ .record.lock = -1 };
}

/* ---- discarding ---- */

enum op_status op_draft_discard(const char *state, const char *id, uint64_t *bytes,
				struct error *err)
{
	struct draft_record record;
	int result;

	if (draft_record_find(state, id, &record, err) < 0)
		return op_status_of(err);
	result = draft_record_lock(&record, err) < 0 ||
				 draft_record_remove(&record, bytes, err) < 0 ||
				 drop_checkpoints(state, &record, bytes, err) < 0
			 ? -1
			 : 0;
	draft_record_release(&record);
	return result < 0 ? op_status_of(err) : OP_DONE;
}
