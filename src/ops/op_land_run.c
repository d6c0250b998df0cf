/* Pushing, and opening a request: see op_land.h. */
#include "ops/op_land.h"

#include "land/land_body.h"
#include "land/land_drive.h"
#include "loop/state/loop_taint.h"
#include "ops/land_access.h"
#include "ops/land_gate.h"
#include "report/report.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

enum { MOST_LOOKS = 3 };

/* ---- whose result ---- */

static enum op_status find_tip(const struct op_land_request *request, struct op_land_result *result,
			       struct error *err)
{
	const struct op_target target = { .state = request->state,
					  .project = request->project,
					  .loop = result->batch.state.tip };

	if (result->batch.damaged) {
		error_set(err, "%s", result->batch.trouble);
		return OP_DAMAGED;
	}
	if (!target.loop) {
		error_with(err, ERROR_REFUSED, "no task of batch %s is done: there is no result",
			   result->batch.id);
		return OP_REFUSED;
	}
	result->id = result->batch.id;
	result->folder = result->batch.folder;
	result->completed = strcmp(batch_client_status(&result->batch), "completed") == 0;
	return op_find(&target, &result->loop, err);
}

/* A loop of a batch has not what the others have done: only who names it can mean it. */
static enum op_status refuse_part(const struct client_loop *loop, struct error *err)
{
	if (!loop->state.options.batch)
		return OP_DONE;
	error_with(err, ERROR_INVALID,
		   "the newest loop is a part of a batch: use ringfence land %s (to land only this "
		   "loop: ringfence land %s)",
		   loop->state.options.batch, loop->id);
	return OP_INVALID;
}

static enum op_status find(const struct op_land_request *request, struct op_land_result *result,
			   struct error *err)
{
	const struct op_target target = { .state = request->state,
					  .project = request->project,
					  .loop = request->id };
	struct error none;
	enum op_status status;

	if (request->id &&
	    batch_client_find(request->state, request->id, NULL, &result->batch, &none) == 0) {
		result->is_batch = true;
		return find_tip(request, result, err);
	}
	status = op_find(&target, &result->loop, err);
	result->id = result->loop.id;
	result->folder = result->loop.folder;
	if (status != OP_DONE)
		return status;
	result->completed = strcmp(client_status(&result->loop), "completed") == 0;
	return request->id ? OP_DONE : refuse_part(&result->loop, err);
}

/* A loop that was completed may have been rolled back since: then its checks say nothing about it.
 */
static bool is_checked(const struct op_land_result *result)
{
	json_t *outcome = client_outcome(&result->loop);
	bool checked = !jsonget_number(outcome, "failing") && !jsonget_flag(outcome, "outdated");

	json_decref(outcome);
	return checked;
}

static enum op_status permit(const struct op_land_request *request,
			     const struct op_land_result *result, struct error *err)
{
	const char *status = result->is_batch ? batch_client_status(&result->batch)
					      : client_status(&result->loop);
	const char *kind = result->is_batch ? "batch" : "loop";

	if (result->loop.alive || (result->is_batch && result->batch.alive)) {
		error_with(err, ERROR_BUSY, "%s %s is still running: wait until it ends", kind,
			   result->id);
		return OP_RUNNING;
	}
	if (request->unfinished || (result->completed && is_checked(result)))
		return OP_DONE;
	error_with(err, ERROR_REFUSED,
		   "%s %s is %s%s: only work whose checks hold is landed (to land it as a draft "
		   "that says so: --unfinished)",
		   kind, result->id, status,
		   result->completed ? ", but its files have changed since its checks ran" : "");
	return OP_REFUSED;
}

/* Another process would write the record over ours. A dry run writes nothing. */
static enum op_status lock(const struct op_land_request *request, struct op_land_result *result,
			   struct error *err)
{
	AUTO_FREE char *path = path_join(result->folder, "land.lock");
	AUTO_FD fd = -1;

	if (request->dry)
		return OP_DONE;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		result->lock = fd_steal(&fd);
		return OP_DONE;
	}
	if (fd < 0 || errno != EWOULDBLOCK) {
		error_sys(err, "lock '%s'", path);
		return OP_FAILED;
	}
	error_with(err, ERROR_BUSY,
		   "another ringfence land is landing %s %s: wait until it ends, or stop it",
		   result->is_batch ? "batch" : "loop", result->id);
	return OP_RUNNING;
}

/* ---- what the request says ---- */

/* The time would change the text each time; the path of the project is nobody's business. */
static void set_frame(const struct op_land_result *result, struct document *document)
{
	free(document->subtitle);
	document->subtitle = mem_format("Ringfence %s %s", result->is_batch ? "batch" : "loop",
					result->id);
	free(document->footer);
	document->footer = mem_dup("Written by Ringfence. Words and paths in it come from the "
				   "agent and the project.");
}

static int write_document(const struct op_land_request *request,
			  const struct op_land_result *result, struct buffer *out,
			  struct error *err)
{
	struct report report;
	struct document document;

	if (result->is_batch) {
		report_batch_document(request->state, &result->batch, clock_wall_ms(), &document);
	} else {
		if (report_read(request->state, &result->loop, clock_wall_ms(), &report, err) < 0)
			return -1;
		report_request_document(&report, &document);
		report_release(&report);
	}
	set_frame(result, &document);
	document_markdown(&document, out);
	document_release(&document);
	return 0;
}

static int write_text(const struct op_land_request *request, struct op_land_result *result,
		      struct error *err)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(LAND_BODY_OURS);
	const char *objective = result->loop.state.options.objective;

	if (!result->completed || !is_checked(result))
		buffer_add_text(&out, "**This work is not finished: what decides whether it is "
				      "done does not hold.**\n\n");
	if (result->loop.state.git_commit &&
	    strcmp(result->loop.state.git_commit, result->commit) != 0)
		buffer_add_text(&out, "**The branch has commits that the loop did not make. What "
				      "follows does not tell about them.**\n\n");
	if (write_document(request, result, &out, err) < 0)
		return -1;
	if (buffer_overflowed(&out)) {
		out.used = 0;
		out.overflow = false;
		buffer_printf(&out,
			      "The report is too long for this place. Where the loop ran, this "
			      "writes it: `ringfence report %s`\n",
			      result->id);
	}
	result->body = mem_dup(buffer_text(&out));
	result->title = result->is_batch ? mem_format("Work list %s", result->id)
					 : land_body_title(objective ? objective : "");
	return 0;
}

/* ---- the branch ---- */

static int open_place(const struct op_land_request *request, struct op_land_result *result,
		      struct land_git *git, struct error *err)
{
	AUTO_FREE char *source = mem_format("ringfence/%s", result->loop.id);
	AUTO_FREE char *url = NULL;

	result->branch = mem_format("ringfence/%s", result->id);
	if (request->remote)
		result->remote = mem_dup(request->remote);
	else if (land_git_remote(git, &result->remote, err) < 0)
		return -1;
	if (land_git_url(git, result->remote, &url, err) < 0 ||
	    land_git_commit(git, source, result->commit, err) < 0)
		return -1;
	land_record_read(result->folder, &result->record);
	land_remote_mask(url);
	if (result->record.url && strcmp(result->record.url, url) != 0) {
		/* Another repository knows nothing of what was landed before. */
		land_record_release(&result->record);
	}
	free(result->record.url);
	result->record.url = mem_dup(url);
	return 0;
}

static bool is_ours(const struct land_record *record, const char *there)
{
	return !*there || strcmp(there, record->pushed) == 0 || strcmp(there, record->pushing) == 0;
}

static int remember_push(struct op_land_result *result, struct error *err)
{
	struct land_record *record = &result->record;

	memcpy(record->pushed, result->commit, sizeof record->pushed);
	return land_record_write(result->folder, record, err);
}

static enum op_status push(const struct land_git *git, struct op_land_result *result,
			   struct error *err)
{
	struct land_record *record = &result->record;
	char there[LAND_COMMIT];

	if (land_git_there(git, result->remote, result->branch, there, err) < 0)
		return op_status_of(err);
	if (strcmp(there, result->commit) == 0) {
		result->push = OP_LAND_UP_TO_DATE;
		return remember_push(result, err) < 0 ? OP_FAILED : OP_DONE;
	}
	if (!is_ours(record, there)) {
		error_with(err, ERROR_REFUSED,
			   "somebody else has moved the branch %s of the remote '%s' to %.10s: "
			   "nothing was pushed (to give it up: git push %s --delete %s)",
			   result->branch, result->remote, there, result->remote, result->branch);
		return OP_REFUSED;
	}
	memcpy(record->pushing, result->commit, sizeof record->pushing);
	if (land_record_write(result->folder, record, err) < 0 ||
	    land_git_push(git, result->remote, result->branch, result->commit, there, err) < 0 ||
	    remember_push(result, err) < 0)
		return OP_FAILED;
	result->push = OP_LAND_PUSHED;
	return OP_DONE;
}

/* ---- the request ---- */

static int remember_request(struct op_land_result *result, struct error *err)
{
	struct land_record *record = &result->record;

	record->number = result->request.number;
	free(record->page);
	record->page = mem_dup(result->request.url);
	free(record->forge);
	record->forge = mem_dup(result->client.forge->name);
	record->merged = result->request.state == LAND_REQUEST_MERGED;
	return land_record_write(result->folder, record, err);
}

/* The request that we opened before is not open any more. */
static enum op_status refuse_closed(struct op_land_result *result, struct error *err)
{
	const struct land_client *client = &result->client;
	bool merged = result->request.state == LAND_REQUEST_MERGED;

	if (remember_request(result, err) < 0)
		return OP_FAILED;
	error_with(err, ERROR_REFUSED, "the %s %s is %s%s", client->forge->request,
		   result->request.url, merged ? "merged already" : "closed",
		   merged ? "" : ": reopen it there, or leave it");
	return OP_REFUSED;
}

static int open_request(const struct op_land_request *request, struct op_land_result *result,
			struct error *err)
{
	const char *into = request->into ? request->into : result->repository.branch;
	AUTO_FREE char *body = land_body_with("", result->body);
	const struct land_proposal proposal = { .branch = result->branch,
						.into = into,
						.title = result->title,
						.body = body,
						.draft = request->unfinished };

	result->record.draft = proposal.draft;
	if (land_record_write(result->folder, &result->record, err) < 0 ||
	    land_drive_open(&result->client, result->place.path, &proposal, &result->request, err) <
		    0)
		return -1;
	result->opened = OP_LAND_OPENED;
	return remember_request(result, err);
}

/* Brings an open request up to date. A draft that we opened becomes ready when the work is done. */
static int update_request(const struct op_land_request *request, struct op_land_result *result,
			  struct error *err)
{
	AUTO_FREE char *body = land_body_with(result->request.body, result->body);
	const char *path = result->place.path;

	if (strcmp(body, result->request.body) != 0) {
		if (land_drive_update(&result->client, path, &result->request, body, err) < 0)
			return -1;
		result->opened = OP_LAND_UPDATED;
	}
	if (result->request.draft && result->record.draft && !request->unfinished) {
		if (land_drive_ready(&result->client, path, &result->request, err) < 0)
			return -1;
		result->request.draft = result->record.draft = false;
		result->opened = OP_LAND_UPDATED;
	}
	return remember_request(result, err);
}

static enum op_status propose(const struct op_land_request *request, struct op_land_result *result,
			      struct error *err)
{
	struct land_client *client = &result->client;
	const char *path = result->place.path;
	int found;

	if (land_drive_repository(client, path, &result->repository, err) < 0)
		return op_status_of(err);
	found = land_drive_find(client, path, result->branch, &result->request, err);
	if (found < 0)
		return op_status_of(err);
	if (!found && result->record.number) {
		if (land_drive_look(client, path, result->record.number, &result->request, err) < 0)
			return op_status_of(err);
		if (result->request.state != LAND_REQUEST_OPEN)
			return refuse_closed(result, err);
		found = 1;
	}
	result->opened = OP_LAND_FOUND;
	if ((found ? update_request : open_request)(request, result, err) < 0)
		return op_status_of(err);
	return OP_DONE;
}

/* Without access to an API, a person opens the request. */
static void set_compare(const struct op_land_request *request, struct op_land_result *result,
			const struct land_forge *forge)
{
	if (forge && result->place.path)
		result->compare = land_forge_compare(forge, &result->place, request->into,
						     result->branch);
}

/* Looking commits what was left in a work tree. Only what was looked at is pushed. */
static enum op_status look(const struct op_land_request *request, const struct land_git *git,
			   struct op_land_result *result, struct error *err)
{
	AUTO_FREE char *source = mem_format("ringfence/%s", result->loop.id);
	char seen[LAND_COMMIT];

	for (int i = 0; i < MOST_LOOKS; i++) {
		enum op_status status = land_gate(request, result, err);

		memcpy(seen, result->commit, sizeof seen);
		if (op_failed(status))
			return status;
		if (land_git_commit(git, source, result->commit, err) < 0)
			return OP_FAILED;
		if (strcmp(seen, result->commit) == 0)
			return status;
		op_question_release(&result->question);
		op_question_release(&result->secrets);
	}
	error_with(err, ERROR_BUSY, "the branch %s moves while it is looked at (try again)",
		   source);
	return OP_FAILED;
}

static enum op_status land(const struct op_land_request *request, struct land_git *git,
			   struct op_land_result *result, struct error *err)
{
	const struct land_forge *forge = NULL;
	AUTO_FREE char *url = NULL;
	enum op_status status;

	if (open_place(request, result, git, err) < 0 || write_text(request, result, err) < 0)
		return op_status_of(err);
	status = look(request, git, result, err);
	if (status != OP_DONE)
		return status;
	if (request->dry)
		return OP_UNCHANGED;
	if (land_git_url(git, result->remote, &url, err) < 0 ||
	    land_access_open(request, git->taint, url, result, &forge, err) < 0)
		return op_status_of(err);
	status = push(git, result, err);
	if (status != OP_DONE)
		return status;
	if (result->client.forge)
		return propose(request, result, err);
	set_compare(request, result, forge);
	return OP_DONE;
}

/* Git runs commands in the project. */
static void add_taint(const struct op_land_request *request, const struct op_land_result *result,
		      struct taint *ret_taint)
{
	const json_t *templates = json_object_get(result->batch.state.config, "templates");
	size_t index;
	const json_t *config;

	taint_init(ret_taint, env_home());
	ret_taint->folder = request->project;
	taint_add(ret_taint, request->project);
	loop_taint_add(&result->loop.state, ret_taint);
	json_array_foreach(templates, index, config) loop_taint_add_config(config, ret_taint);
}

enum op_status op_land(const struct op_land_request *request, struct op_land_result *ret_result,
		       struct error *err)
{
	struct land_git git;
	struct taint taint;
	enum op_status status;

	*ret_result = (struct op_land_result){ .lock = -1 };
	status = find(request, ret_result, err);
	if (status == OP_DONE)
		status = permit(request, ret_result, err);
	if (status == OP_DONE)
		status = lock(request, ret_result, err);
	if (status != OP_DONE)
		return status;
	add_taint(request, ret_result, &taint);
	if (land_git_open(request->project, &taint, request->asks, &git, err) == 0) {
		status = land(request, &git, ret_result, err);
		land_git_close(&git);
	} else {
		status = op_status_of(err);
	}
	taint_release(&taint);
	return status;
}

void op_land_release(struct op_land_result *result)
{
	client_loop_release(&result->loop);
	batch_client_release(&result->batch);
	free(result->branch);
	free(result->remote);
	free(result->title);
	free(result->body);
	free(result->compare);
	land_remote_release(&result->place);
	land_client_release(&result->client);
	land_repository_release(&result->repository);
	land_request_release(&result->request);
	land_record_release(&result->record);
	op_question_release(&result->question);
	op_question_release(&result->secrets);
	fd_close(&result->lock);
	*result = (struct op_land_result){ .lock = -1 };
}
