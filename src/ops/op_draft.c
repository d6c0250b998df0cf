/* Drafts: see op_draft.h. */
#include "ops/op_draft.h"

#include "ops/apply_pins.h"
#include "snapshot/snapshot.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/disk_usage.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_COMMAND = 1 << 16, EXIT_MS = 10000, PROGRESS_MS = 5000 };

/* ---- drafts of loops ---- */

/* Describes the draft of a loop as a record. Returns 0, or -1 if it has none. */
static int make_record(const struct client_loop *loop, struct draft_record *ret_record)
{
	const struct loop_options *options = &loop->state.options;

	if (loop->damaged || !options->draft)
		return -1;
	*ret_record = (struct draft_record){ .id = mem_dup(loop->id),
					     .folder = mem_dup(loop->folder),
					     .layers = mem_dup(options->draft),
					     .project = mem_dup(options->project),
					     .command = mem_dup(options->objective),
					     .began_ms = loop->state.created_ms,
					     .result = loop->state.checkpoint,
					     .lock = -1,
					     .of_loop = true };
	return 0;
}

int op_draft_find(const char *state, const char *id, struct draft_record *ret_record,
		  struct error *err)
{
	struct client_loop loop = { 0 };
	struct error unused;
	int result = draft_record_find(state, id, ret_record, err);

	if (result < 0 && err->status == ERROR_NOT_FOUND &&
	    client_find(state, id, NULL, &loop, &unused) == 0)
		result = make_record(&loop, ret_record);
	client_loop_release(&loop);
	return result;
}

/* Keeps the supervisor of a loop from starting while this process uses its draft. */
static int hold_loop(const char *state, struct draft_record *record, struct error *err)
{
	struct client_loop loop = { 0 };

	if (client_find(state, record->id, NULL, &loop, err) == 0) {
		/* The supervisor of a loop that has ended is about to exit. */
		if (loop.state.step == LOOP_STEP_finished)
			client_wait_gone(&loop, EXIT_MS);
		record->lock = client_hold(&loop, err);
	}
	client_loop_release(&loop);
	return record->lock < 0 ? -1 : 0;
}

/* ---- the run ---- */

/* Saves a checkpoint: the base, or the result. */
static int save(const char *state, const struct draft_record *record, bool ended,
		int64_t *ret_number, bool *ret_ignored, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, ended ? "result" : "save", state, record->project, record->id);
	snapshot_tell(&work, "kind", ended ? "after" : "start");
	if (ended)
		snapshot_tell(&work, "draft", record->layers);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0) {
		*ret_number = jsonget_number(answer, "number");
		*ret_ignored = jsonget_flag(answer, "ignored_changed");
	}
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

/* Opens the draft of a loop; while the loop is running, only for reading. */
static int open_loop(const struct op_draft_begin_request *request, struct draft_record *record,
		     struct error *err)
{
	return hold_loop(request->state, record, err) < 0 && err->status != ERROR_BUSY ? -1 : 0;
}

static int open_existing(const struct op_draft_begin_request *request, const char *line,
			 struct draft_record *record, struct error *err)
{
	if (op_draft_find(request->state, request->id, record, err) < 0)
		return -1;
	if (strcmp(record->project, request->draft.view.project) != 0)
		error_with(err, ERROR_INVALID, "draft %s is of another project: %s", record->id,
			   record->project);
	else if (record->of_loop && open_loop(request, record, err) == 0)
		return 0;
	else if (!record->of_loop && draft_record_lock(record, err) == 0) {
		free(record->command);
		record->command = mem_dup(line);
		record->code = DRAFT_RECORD_NONE;
		if (draft_record_write(record, err) == 0)
			return 0;
	}
	draft_record_release(record);
	return -1;
}

/* The base is saved before the draft is made: what the user changes in between may then be in the
 * draft, but is not taken for something that the user has undone. */
static int fill_new(const struct op_draft_begin_request *request, const struct draft_record *record,
		    struct draft_made *ret_made, struct error *err)
{
	struct draft_request draft = request->draft;
	int64_t base;
	bool ignored;

	draft.view.folder = record->layers;
	return save(request->state, record, false, &base, &ignored, err) < 0
		       ? -1
		       : draft_make(&draft, ret_made, err);
}

/* Removes the drafts that nobody needs any more: spent ones that were not used for long. */
static void remove_spent(const struct op_draft_begin_request *request,
			 const struct draft_records *all, struct op_draft_made *made)
{
	struct error ignored; /* such as another process that uses or removes the same one */

	for (size_t i = 0; request->age_ms && i < all->count; i++) {
		const struct draft_record *record = &all->items[i];

		if (draft_record_is_spent(record) &&
		    clock_wall_ms() - record->used_ms >= request->age_ms)
			made->removed += op_draft_discard(request->state, record->id,
							  &made->freed_bytes, &ignored) == OP_DONE;
	}
}

static int check_room(const struct op_draft_begin_request *request, struct error *err)
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
static int make_room(const struct op_draft_begin_request *request, struct op_draft_made *made,
		     struct error *err)
{
	struct draft_records all;

	if (draft_record_list(request->state, &all, err) < 0)
		return -1;
	remove_spent(request, &all, made);
	draft_records_release(&all);
	return check_room(request, err);
}

static int open_new(const struct op_draft_begin_request *request, const char *line,
		    struct draft_record *record, struct op_draft_made *made, struct error *err)
{
	struct error ignored;
	uint64_t bytes = 0;

	if (make_room(request, made, err) < 0)
		return -1;
	if (draft_record_create(request->state, request->draft.view.project, line, record, err) < 0)
		return -1;
	if (fill_new(request, record, &made->draft, err) == 0)
		return 0;
	op_drop_checkpoints(request->state, record->project, record->id, &bytes, &ignored);
	draft_record_remove(record, NULL, &ignored);
	draft_record_release(record);
	return -1;
}

enum op_status op_draft_begin(const struct op_draft_begin_request *request,
			      struct draft_record *ret_record, struct op_draft_made *ret_made,
			      struct error *err)
{
	AUTO_FREE char *line = line_of(request->command);
	int result;

	*ret_made = (struct op_draft_made){ 0 };
	result = request->id ? open_existing(request, line, ret_record, err)
			     : open_new(request, line, ret_record, ret_made, err);

	return result < 0 ? op_status_of(err) : OP_DONE;
}

int op_draft_covers(const char *state, const struct draft_record *record,
		    struct fence_covers *ret_covers, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	size_t index;
	json_t *entry;
	int result;

	if (!record->of_loop)
		return 0;
	snapshot_begin(&work, "git-look", state, record->project, record->id);
	snapshot_tell(&work, "folder", record->folder);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_array_foreach(json_object_get(answer, "covers"), index, entry)
		fence_covers_add(ret_covers, jsonget_text(entry, "path"),
				 jsonget_text(entry, "source"),
				 record->lock >= 0 && jsonget_flag(entry, "writable"));
	json_decref(answer);
	return result;
}

/* Finds the pinned files that the agent changed, if this is the draft of a loop. The caller
 * releases the list. Returns 0, or -1 with err set. */
static int find_pins(const char *state, const struct draft_record *record, json_t **ret_pins,
		     struct error *err)
{
	struct client_loop loop = { 0 };
	int result = 0;

	*ret_pins = NULL;
	if (record->of_loop)
		result = client_find(state, record->id, NULL, &loop, err);
	if (record->of_loop && result == 0)
		result = apply_pins_find(state, &loop, record->result, ret_pins, err);
	client_loop_release(&loop);
	return result;
}

/* Reads what a draft changes, as apply does. This process is in the view, so it cannot compare with
 * the project as it is now. */
static int read_changes(const char *state, const struct draft_record *record,
			struct apply_changes *ret_changes, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	json_t *pins = NULL;
	int result;

	snapshot_begin(&work, "describe", state, record->project, record->id);
	snapshot_tell_number(&work, "from", 0);
	snapshot_tell_number(&work, "to", record->result);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	if (result == 0)
		result = find_pins(state, record, &pins, err);
	if (result == 0)
		result = apply_changes_read(answer, pins, ret_changes, err);
	json_decref(pins);
	json_decref(answer);
	return result;
}

/* Files are missing from a folder whose rename was interrupted: they are in another place. */
static int refuse_interrupted(const struct draft_record *record, struct error *err)
{
	AUTO_FREE char *files = draft_files(record->layers, err);
	AUTO_FREE char *place = files ? path_join(files, WIRE_MOVABLE_PLACE) : NULL;
	struct stat status;

	if (!files)
		return -1;
	if (!draft_is_layered(record->layers) || lstat(place, &status) < 0 ||
	    !S_ISDIR(status.st_mode))
		return 0;
	return error_with(err, ERROR_REFUSED,
			  "the rename of a folder was interrupted in draft %s, and its result is "
			  "not saved; to finish: ringfence exec --in %s -- true (if '%s' is still "
			  "there, remove it in the same way)",
			  record->id, record->id, WIRE_MOVABLE_PLACE);
}

enum op_status op_draft_end(const char *state, struct draft_record *record, int64_t code,
			    struct op_draft_summary *ret_summary, struct error *err)
{
	if (refuse_interrupted(record, err) < 0 ||
	    save(state, record, true, &record->result, &ret_summary->ignored, err) < 0)
		return op_status_of(err);
	record->code = code;
	if (read_changes(state, record, &ret_summary->changes, err) < 0)
		return op_status_of(err);
	if (record->of_loop)
		return OP_DONE;
	if (!ret_summary->changes.count && !ret_summary->ignored)
		record->spent = record->result;
	record->ignored = ret_summary->ignored;
	record->used_ms = clock_wall_ms();
	record->bytes = (int64_t)disk_usage_bytes(record->folder, NULL);
	if (draft_record_write(record, err) == 0)
		return OP_DONE;
	apply_changes_release(&ret_summary->changes);
	return op_status_of(err);
}

/* Locks a draft. That of a loop gets a checkpoint, because a loop that was killed, or rolled back,
 * has none of its last state. */
static int lock_draft(const char *state, struct draft_record *record, struct error *err)
{
	bool ignored;

	if (!record->of_loop)
		return draft_record_lock(record, err);
	if (hold_loop(state, record, err) < 0)
		return err->status != ERROR_BUSY
			       ? -1
			       : error_with(err, ERROR_BUSY,
					    "loop %s is running: wait until it ends, or run "
					    "ringfence pause %s",
					    record->id, record->id);
	return save(state, record, true, &record->result, &ignored, err);
}

/* ---- the gate ---- */

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

/* Runs a task on the draft's checkpoints. */
static int ask(const char *state, const struct draft_record *record, const char *task,
	       json_t **ret_answer, struct error *err)
{
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, task, state, record->project, record->id);
	result = snapshot_run(&work, -1, ret_answer, err);
	snapshot_release(&work);
	return result;
}

int op_draft_find_apply(const char *state, const struct draft_record *record, int64_t *ret_number,
			struct error *err)
{
	json_t *answer = NULL;
	int result = ask(state, record, "list", &answer, err);

	if (result == 0)
		*ret_number = last_apply(json_object_get(answer, "checkpoints"));
	json_decref(answer);
	return result;
}

bool op_draft_is_applied(const char *state, const struct client_loop *loop)
{
	struct draft_record record;
	struct error ignored;
	int64_t number = 0;

	if (make_record(loop, &record) < 0)
		return false;
	op_draft_find_apply(state, &record, &number, &ignored);
	draft_record_release(&record);
	return number != 0;
}

/* An apply saves the project before and after it, as two consecutive checkpoints. One that was
 * interrupted may not have its number yet; it is completed first. */
static int find_way_back(const struct op_draft_apply_request *request,
			 struct op_draft_apply_result *result, struct error *err)
{
	const struct draft_record *record = &result->record;
	json_t *recovered = NULL;
	int64_t number;
	int outcome = ask(request->state, record, "recover", &recovered, err);

	json_decref(recovered);
	if (outcome < 0 || op_draft_find_apply(request->state, record, &number, err) < 0)
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
	return find_pins(request->state, &result->record, &result->pins, err);
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
	struct op_draft_part *items;
	size_t count;
};

static void add_part(struct parts *parts, uint64_t number, const char *choice)
{
	parts->items = mem_extend(parts->items, parts->count, sizeof *parts->items);
	parts->items[parts->count++] = (struct op_draft_part){ number,
							       choice ? mem_dup(choice) : NULL };
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
		const struct op_draft_part *part = &parts->items[i];
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
			  "the project '%s' of draft %s is gone: move it back, or run ringfence "
			  "discard %s",
			  record->project, record->id, record->id);
}

/* Runs a task of the gate, which may take long if there are many ignored files. */
static int run_slowly(const struct op_draft_apply_request *request, const char *what,
		      const struct snapshot_work *work, json_t **ret_answer, struct error *err)
{
	struct snapshot_job job;
	struct pollfd answer = { .events = POLLIN };

	if (snapshot_start(work, -1, -1, &job, err) < 0)
		return -1;
	answer.fd = job.answer;
	while (request->progress && poll(&answer, 1, PROGRESS_MS) == 0)
		request->progress(what);
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

static enum op_status take_choice(const struct op_draft_choice *choice,
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
	    check_project(record, err) < 0 || lock_draft(request->state, record, err) < 0 ||
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

int op_draft_show(const struct op_draft_apply_request *request,
		  const struct op_draft_apply_result *result, enum path_group group,
		  const struct op_draft_output *output, struct error *err)
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

/* ---- the list ---- */

int op_draft_list(const char *state, const char *project, struct draft_records *ret_records,
		  struct error *err)
{
	const struct client_query query = { .project = project, .newest = CLIENT_ALL };
	struct client_loops loops;
	struct draft_record record;

	if (client_list(state, &query, &loops, err) < 0)
		return -1;
	if (draft_record_list(state, ret_records, err) < 0) {
		client_loops_release(&loops);
		return -1;
	}
	for (size_t i = 0; i < loops.count; i++)
		if (make_record(&loops.items[i], &record) == 0) {
			ret_records->items = mem_extend(ret_records->items, ret_records->count,
							sizeof *ret_records->items);
			ret_records->items[ret_records->count++] = record;
		}
	client_loops_release(&loops);
	draft_records_sort(ret_records);
	return 0;
}

/* ---- discarding ---- */

/* The record goes last: as long as it is there, an interrupted discard can be repeated. */
enum op_status op_draft_discard(const char *state, const char *id, uint64_t *bytes,
				struct error *err)
{
	struct draft_record record;
	int result;

	if (op_draft_find(state, id, &record, err) < 0)
		return op_status_of(err);
	if (record.of_loop)
		error_with(err, ERROR_REFUSED,
			   "%s is a loop (to remove it with its draft: ringfence clean %s)", id,
			   id);
	result = record.of_loop || draft_record_lock(&record, err) < 0 ||
				 op_drop_checkpoints(state, record.project, record.id, bytes, err) <
					 0 ||
				 draft_record_remove(&record, bytes, err) < 0
			 ? -1
			 : 0;
	draft_record_release(&record);
	return result < 0 ? op_status_of(err) : OP_DONE;
}
