/* Drafts: see op_draft.h. */
#include "ops/op_draft.h"

#include "draft/draft.h"
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

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_COMMAND = 1 << 16, EXIT_MS = 10000 };

/* ---- drafts of loops ---- */

int op_draft_of_loop(const struct client_loop *loop, struct draft_record *ret_record)
{
	const struct loop_options *options = &loop->state.options;
	const char *commit = loop->state.git_commit;

	if (loop->damaged || !options->draft)
		return -1;
	*ret_record = (struct draft_record){ .id = mem_dup(loop->id),
					     .folder = mem_dup(loop->folder),
					     .layers = mem_dup(options->draft),
					     .project = mem_dup(options->project),
					     .command = mem_dup(options->objective),
					     .commit = commit ? mem_dup(commit) : NULL,
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
		result = op_draft_of_loop(&loop, ret_record);
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

/* Saves the result as a checkpoint. The task is "result", or "rehearse", which also describes what
 * the draft changes. Returns 0 with the answer, which the caller releases; or -1 with err set. */
static int save(const char *state, const char *task, struct draft_record *record,
		json_t **ret_answer, struct error *err)
{
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, task, state, record->project, record->id);
	snapshot_tell(&work, "kind", "after");
	snapshot_tell(&work, "draft", record->layers);
	result = snapshot_run(&work, -1, ret_answer, err);
	snapshot_release(&work);
	if (result == 0)
		record->result = jsonget_number(*ret_answer, "number");
	return result;
}

char *op_draft_line(char *const *command)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(MOST_COMMAND);

	for (; *command; command++) {
		AUTO_FREE char *word = shell_quoted(*command);

		buffer_printf(&line, "%s%s", line.used ? " " : "", word);
	}
	return mem_dup(buffer_text(&line));
}

/* Opens the draft of a loop; while the loop is running, only for reading. */
static int open_loop(const char *state, struct draft_record *record, struct error *err)
{
	return hold_loop(state, record, err) < 0 && err->status != ERROR_BUSY ? -1 : 0;
}

/* Locks the draft of a command, and records that one is running. */
static int open_own(struct draft_record *record, char *const *command, struct error *err)
{
	if (draft_record_lock(record, err) < 0)
		return -1;
	free(record->command);
	record->command = op_draft_line(command);
	record->code = DRAFT_RECORD_NONE;
	return draft_record_write(record, err);
}

enum op_status op_draft_open(const struct op_draft_open_request *request,
			     struct draft_record *ret_record, struct error *err)
{
	struct draft_record record;
	int result;

	if (op_draft_find(request->state, request->id, &record, err) < 0)
		return op_status_of(err);
	if (strcmp(record.project, request->project) != 0)
		result = error_with(err, ERROR_INVALID, "draft %s is of another project: %s",
				    record.id, record.project);
	else if (record.of_loop)
		result = open_loop(request->state, &record, err);
	else
		result = open_own(&record, request->command, err);
	if (result < 0) {
		draft_record_release(&record);
		return op_status_of(err);
	}
	*ret_record = record;
	return OP_DONE;
}

static int add_covers(const char *state, const struct draft_record *record,
		      struct fence_covers *covers, struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	size_t index;
	json_t *entry;
	int result;

	snapshot_begin(&work, "git-look", state, record->project, record->id);
	snapshot_tell(&work, "folder", record->folder);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_array_foreach(json_object_get(answer, "covers"), index, entry)
		fence_covers_add(covers, jsonget_text(entry, "path"), jsonget_text(entry, "source"),
				 record->lock >= 0 && jsonget_flag(entry, "writable"));
	json_decref(answer);
	return result;
}

int op_draft_show_git(const char *state, const struct draft_record *record, struct fence_spec *spec,
		      struct error *err)
{
	struct client_loop loop = { 0 };
	int result = 0;

	if (!record->of_loop)
		return 0;
	if (client_find(state, record->id, NULL, &loop, err) < 0)
		return -1;
	if (loop_state_protects_git(&loop.state))
		fence_paths_add_git(&spec->read, record->project);
	else
		result = add_covers(state, record, &spec->covers, err);
	client_loop_release(&loop);
	return result;
}

int op_draft_find_pins(const char *state, const struct draft_record *record, json_t **ret_pins,
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

/* Saves the result, and reads what the draft changes, as apply does. This process is in the view,
 * so it cannot compare with the project as it is now. */
static int save_and_read(const char *state, struct draft_record *record,
			 struct op_draft_summary *ret_summary, struct error *err)
{
	json_t *answer = NULL;
	json_t *pins = NULL;
	int result = save(state, "rehearse", record, &answer, err);

	if (result == 0)
		result = op_draft_find_pins(state, record, &pins, err);
	if (result == 0)
		result = apply_changes_read(answer, pins, &ret_summary->changes, err);
	ret_summary->ignored = jsonget_flag(answer, "ignored_changed");
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
	    save_and_read(state, record, ret_summary, err) < 0)
		return op_status_of(err);
	record->code = code;
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

/* The draft of a loop gets a checkpoint, because a loop that was killed, or rolled back, has none
 * of its last state. */
int op_draft_lock(const char *state, struct draft_record *record, struct error *err)
{
	json_t *answer = NULL;
	int result;

	if (!record->of_loop)
		return draft_record_lock(record, err);
	if (hold_loop(state, record, err) < 0)
		return err->status != ERROR_BUSY
			       ? -1
			       : error_with(err, ERROR_BUSY,
					    "loop %s is running: wait until it ends, or run "
					    "ringfence pause %s",
					    record->id, record->id);
	/* Without its folder, only the last checkpoint is left. */
	if (access(record->layers, F_OK) < 0 && errno == ENOENT && record->result > 0)
		return 0;
	result = save(state, "result", record, &answer, err);
	json_decref(answer);
	return result;
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
		if (op_draft_of_loop(&loops.items[i], &record) == 0) {
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
