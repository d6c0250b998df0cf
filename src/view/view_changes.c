/* The changes of a loop: see view_changes.h. */
#include "view/view_changes.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void view_changes_begin(const char *state, const struct client_loop *loop, const char *task,
			struct snapshot_work *ret_work)
{
	const struct loop_options *options = &loop->state.options;

	snapshot_begin(ret_work, task, state, options->project, loop->id);
	snapshot_tell_number(ret_work, "ignored", options->checkpoint_ignored);
	if (options->draft)
		snapshot_tell(ret_work, "draft", options->draft);
}

bool view_changes_live(const char *state, const struct client_loop *loop)
{
	const struct loop_options *options = &loop->state.options;
	AUTO_FREE char *running = options->draft ? NULL : client_running(state, options->project);

	return options->draft ? loop->alive : running != NULL;
}

/* The second side is the last checkpoint of a loop that has ended, or else the present. */
static void tell_sides(const struct view_changes_request *request, struct snapshot_work *work)
{
	const struct loop_state *loop = &request->loop->state;

	snapshot_tell_number(work, "from", loop->start);
	if (loop->step == LOOP_STEP_finished)
		snapshot_tell_number(work, "to", loop->checkpoint);
	else
		snapshot_tell_number(work, "live",
				     view_changes_live(request->state, request->loop));
}

static void tell_kind(const struct view_changes_request *request, struct snapshot_work *work)
{
	size_t index;
	const json_t *action;

	if (request->kind == VIEW_CHANGES_DIFF) {
		snapshot_tell(work, "style", "patch");
		snapshot_tell_number(work, "most_bytes", VIEW_CHANGES_BYTES);
		if (request->path)
			snapshot_tell(work, "only", request->path);
		return;
	}
	snapshot_tell(work, "style", "json");
	if (request->kind != VIEW_CHANGES_FINDINGS)
		return;
	snapshot_tell_number(work, "findings", true);
	json_array_foreach(request->loop->state.options.findings, index, action)
	{
		snapshot_tell(work, "action", json_string_value(action));
	}
}

int view_changes_start(const struct view_changes_request *request, struct view_changes_job *ret_job,
		       struct error *err)
{
	struct view_changes_job job = VIEW_CHANGES_JOB_INIT;
	struct snapshot_work work;
	int result;

	if (request->loop->damaged || request->loop->state.checkpoint < 0)
		return error_with(err, ERROR_NOT_FOUND, "loop %s has no checkpoint yet",
				  request->loop->id);
	job.output = memfd_create("changes", MFD_CLOEXEC);
	if (job.output < 0)
		return error_sys(err, "create a file in memory");
	view_changes_begin(request->state, request->loop, "diff", &work);
	tell_sides(request, &work);
	tell_kind(request, &work);
	result = snapshot_start(&work, job.output, -1, &job.work, err);
	snapshot_release(&work);
	if (result < 0)
		fd_close(&job.output);
	else
		*ret_job = job;
	return result;
}

/* Waits for the job and reads the beginning of what it printed. Returns 0, or -1 with err set. */
static int end(struct view_changes_job *job, struct buffer *out, struct error *err)
{
	json_t *answer = NULL;
	int result = snapshot_end(&job->work, &answer, err);
	off_t size = result < 0 ? 0 : lseek(job->output, 0, SEEK_END);
	size_t wanted = (size_t)size < out->max ? (size_t)size : out->max;
	char *bytes = mem_alloc(wanted + 1);

	json_decref(answer);
	if (result == 0 && (size < 0 || pread(job->output, bytes, wanted, 0) != (ssize_t)wanted))
		result = error_sys(err, "read the output of ringfence-snapshot");
	if (result == 0) {
		buffer_add(out, bytes, wanted);
		out->overflow = (size_t)size > wanted;
	}
	free(bytes);
	fd_close(&job->output);
	*job = VIEW_CHANGES_JOB_INIT;
	return result;
}

/* Returns what a job printed as JSON, which the caller owns, or NULL with err set. */
static json_t *end_json(struct view_changes_job *job, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(VIEW_CHANGES_LIST);
	json_t *parsed;

	if (end(job, &text, err) < 0)
		return NULL;
	if (buffer_overflowed(&text)) {
		error_with(err, ERROR_NO_SPACE, "the list of changes is longer than %d MiB",
			   VIEW_CHANGES_LIST >> 20);
		return NULL;
	}
	parsed = json_loads(buffer_text(&text), 0, NULL);
	if (!parsed)
		error_with(err, ERROR_PROTOCOL, "the output of ringfence-snapshot is not JSON");
	return parsed;
}

static void add_change(struct view_changes *changes, const json_t *change)
{
	struct view_change item = { .path = mem_dup(jsonget_text(change, "path")),
				    .from = mem_copy(jsonget_string(change, "from")),
				    .status = mem_dup(jsonget_text(change, "status")),
				    .binary = jsonget_flag(change, "binary"),
				    .added = (uint64_t)jsonget_number(change, "added"),
				    .removed = (uint64_t)jsonget_number(change, "removed"),
				    .bytes = (uint64_t)jsonget_number(change, "bytes") };

	changes->items = mem_extend(changes->items, changes->count, sizeof item);
	changes->items[changes->count++] = item;
}

int view_changes_end_files(struct view_changes_job *job, struct view_changes *ret_changes,
			   struct error *err)
{
	struct view_changes changes = { 0 };
	json_t *list = end_json(job, err);
	size_t index;
	const json_t *change;

	if (!list)
		return -1;
	json_array_foreach(json_object_get(list, "changes"), index, change)
	{
		if (index < VIEW_CHANGES_MOST)
			add_change(&changes, change);
		else
			changes.unlisted++;
		changes.added += (uint64_t)jsonget_number(change, "added");
		changes.removed += (uint64_t)jsonget_number(change, "removed");
	}
	json_decref(list);
	*ret_changes = changes;
	return 0;
}

/* Drops the last line, of which only a part is there. */
static void drop_part(struct buffer *text)
{
	while (text->used > 0 && text->data[text->used - 1] != '\n')
		text->used--;
}

int view_changes_end_diff(struct view_changes_job *job, struct view_diff *ret_diff,
			  struct error *err)
{
	struct view_diff diff = { .text = BUFFER_INIT(VIEW_CHANGES_BYTES) };

	if (end(job, &diff.text, err) < 0) {
		buffer_release(&diff.text);
		return -1;
	}
	diff.cut = buffer_overflowed(&diff.text);
	if (diff.cut)
		drop_part(&diff.text);
	*ret_diff = diff;
	return 0;
}

int view_changes_end_findings(struct view_changes_job *job, json_t **ret_findings,
			      struct error *err)
{
	json_t *list = end_json(job, err);
	json_t *findings = json_incref(json_object_get(list, "findings"));

	json_decref(list);
	if (!list)
		return -1;
	if (!json_is_array(findings)) {
		json_decref(findings);
		return error_with(err, ERROR_PROTOCOL,
				  "the output of ringfence-snapshot has no findings");
	}
	while (json_array_size(findings) > VIEW_CHANGES_MOST)
		json_array_remove(findings, json_array_size(findings) - 1);
	*ret_findings = findings;
	return 0;
}

void view_changes_cancel(struct view_changes_job *job)
{
	snapshot_cancel(&job->work);
	fd_close(&job->output);
}

void view_changes_release(struct view_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		free(changes->items[i].path);
		free(changes->items[i].from);
		free(changes->items[i].status);
	}
	free(changes->items);
	*changes = (struct view_changes){ 0 };
}

void view_changes_release_diff(struct view_diff *diff)
{
	buffer_release(&diff->text);
	*diff = (struct view_diff){ 0 };
}
