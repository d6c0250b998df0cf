/* Creating, inspecting and controlling batches: see batch_client.h. */
#include "batch/batch_client.h"

#include "batch/batch_fold.h"
#include "batch/batch_folder.h"
#include "batch/batch_request.h"
#include "journal/journal.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/control.h"
#include "loop/supervised.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOCK_MS = 15000, ASK_MS = 5000 };

void batch_client_release(struct batch_client *batch)
{
	batch_state_release(&batch->state);
	free(batch->id);
	free(batch->folder);
	free(batch->trouble);
	*batch = (struct batch_client){ 0 };
}

void batch_clients_release(struct batch_clients *batches)
{
	for (size_t i = 0; i < batches->count; i++)
		batch_client_release(&batches->items[i]);
	free(batches->items);
	*batches = (struct batch_clients){ 0 };
}

/* ---- reading ---- */

static int fold(void *context, const struct journal_event *event, struct error *err)
{
	return batch_fold(context, event, err);
}

static int read_state(struct batch_client *batch, struct error *err)
{
	if (batch->damaged)
		batch->read = (struct journal_mark){ 0 };
	return supervised_follow(batch->folder, &batch->read, fold, &batch->state, err);
}

void batch_client_refresh(struct batch_client *batch)
{
	struct error err;

	free(batch->trouble);
	/* Locks first, then journal: a batch that ends in between must not look interrupted. */
	batch->alive = loop_folder_is_locked(batch->folder) || loop_folder_is_kept(batch->folder);
	batch->damaged = read_state(batch, &err) < 0;
	if (batch->damaged)
		batch_state_release(&batch->state);
	batch->trouble = batch->damaged ? mem_dup(err.text)
					: loop_report_read_trouble(batch->folder);
}

const char *batch_client_status(const struct batch_client *batch)
{
	if (batch->damaged)
		return "failed";
	if (batch->state.finished)
		return batch->state.status ? batch->state.status : "failed";
	if (batch->state.paused)
		return "paused";
	return batch->alive ? "running" : "interrupted";
}

int batch_client_follow(const struct batch_client *batch, struct journal_mark *mark,
			journal_fn *take, void *context, struct error *err)
{
	return supervised_follow(batch->folder, mark, take, context, err);
}

/* ---- finding ---- */

/* Reads the batch in a folder. Returns false if there is none. */
static bool read_batch(const char *batches, const char *id, struct batch_client *ret_batch)
{
	struct batch_client batch = { .id = mem_dup(id), .folder = path_join(batches, id) };
	AUTO_FREE char *journal = path_join(batch.folder, "journal.db");
	AUTO_FREE char *lock = path_join(batch.folder, "lock");

	if (access(journal, F_OK) < 0 || (access(lock, F_OK) < 0 && journal_is_blank(journal))) {
		batch_client_release(&batch);
		return false;
	}
	batch_client_refresh(&batch);
	/* Whoever created it was killed before it had a configuration. */
	if (!batch.damaged && !batch.state.last_seq) {
		batch_client_release(&batch);
		return false;
	}
	*ret_batch = batch;
	return true;
}

int batch_client_list(const char *state, struct batch_clients *ret_batches, struct error *err)
{
	AUTO_FREE char *batches = batch_folder_batches(state, err);
	struct list ids = { 0 };

	*ret_batches = (struct batch_clients){ 0 };
	if (!batches || loop_folder_list(batches, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.count; i++) {
		struct batch_client batch;

		if (!read_batch(batches, ids.items[i], &batch))
			continue;
		ret_batches->items = mem_extend(ret_batches->items, ret_batches->count,
						sizeof *ret_batches->items);
		ret_batches->items[ret_batches->count++] = batch;
	}
	list_release(&ids);
	return 0;
}

static bool is_of_project(const struct batch_client *batch, const char *project)
{
	return !batch->state.project || strcmp(batch->state.project, project) == 0;
}

/* Reads from the newest one on, so that old batches cost nothing. Ids have no order within a
 * second. */
static int find_newest(const char *batches, const char *project, struct batch_client *ret_batch,
		       struct error *err)
{
	enum { SECOND = sizeof "20261119-195213" - 1 };
	struct list ids = { 0 };
	bool found = false;

	if (loop_folder_list(batches, &ids, err) < 0)
		return -1;
	for (size_t i = ids.count; i-- > 0;) {
		struct batch_client batch;

		if (found && strncmp(ids.items[i], ret_batch->id, SECOND) != 0)
			break;
		if (!read_batch(batches, ids.items[i], &batch))
			continue;
		if (!is_of_project(&batch, project) ||
		    (found && batch.state.created_ms < ret_batch->state.created_ms)) {
			batch_client_release(&batch);
			continue;
		}
		if (found)
			batch_client_release(ret_batch);
		*ret_batch = batch;
		found = true;
	}
	list_release(&ids);
	return found ? 0
		     : error_with(err, ERROR_NOT_FOUND,
				  "no work list of the project '%s' was run (see: ringfence work "
				  "--help)",
				  project);
}

int batch_client_find(const char *state, const char *id, const char *project,
		      struct batch_client *ret_batch, struct error *err)
{
	AUTO_FREE char *batches = batch_folder_batches(state, err);

	if (!batches)
		return -1;
	if (!id)
		return find_newest(batches, project, ret_batch, err);
	if (*id && *id != '.' && !strchr(id, '/') && read_batch(batches, id, ret_batch))
		return 0;
	return error_with(err, ERROR_NOT_FOUND,
			  "there is no batch '%.100s' (see: ringfence work --show)", id);
}

/* ---- one batch of a project ---- */

static int refuse_if_open(const struct batch_client *batch, const char *project, struct error *err)
{
	if (batch->damaged || batch->state.finished || strcmp(batch->state.project, project) != 0)
		return 0;
	return error_with(err, ERROR_REFUSED,
			  "batch %s of this project has not ended: it is %s (ringfence work "
			  "--show, --resume, --abort)",
			  batch->id, batch_client_status(batch));
}

/* Refuses if a batch of the project has not ended. id: of one that may go on, or NULL. */
static int refuse_others(const char *batches, const char *project, const char *id,
			 struct error *err)
{
	struct list ids = { 0 };
	int result = loop_folder_list(batches, &ids, err);

	for (size_t i = ids.count; result == 0 && i-- > 0;) {
		struct batch_client batch;

		if ((id && strcmp(ids.items[i], id) == 0) ||
		    !read_batch(batches, ids.items[i], &batch))
			continue;
		result = refuse_if_open(&batch, project, err);
		batch_client_release(&batch);
	}
	list_release(&ids);
	return result;
}

static int lock_batches(const char *batches, struct error *err)
{
	AUTO_FD fd = open(batches, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t until_ms = (int64_t)clock_steady_ms() + ASK_MS;

	if (fd < 0)
		return error_sys(err, "open '%s'", batches);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if ((int64_t)clock_steady_ms() > until_ms)
			return error_sys(err, "lock '%s'", batches);
		supervised_pause();
	}
	return fd_steal(&fd);
}

/*
 * Makes sure that all other batches of the project have ended: two would do the same tasks, and pay
 * for them twice. Returns a lock, under which the caller records that this one begins or goes on,
 * or -1 with err set.
 */
static int claim_project(const char *batches, const char *project, const char *id,
			 struct error *err)
{
	AUTO_FD lock = lock_batches(batches, err);

	return lock < 0 || refuse_others(batches, project, id, err) < 0 ? -1 : fd_steal(&lock);
}

/* ---- writing ---- */

/* Writes an event in place of a supervisor. The caller holds the lock. Consumes the data. */
static int append(const struct batch_client *batch, enum journal_mode mode, enum batch_event kind,
		  json_t *data, struct error *err)
{
	return supervised_append(batch->folder, mode, batch_event_name(kind), data, err);
}

static struct supervised_view look(void *context)
{
	struct batch_client *batch = context;

	batch_client_refresh(batch);
	return (struct supervised_view){ .seq = batch->state.last_seq,
					 .alive = batch->alive,
					 .trouble = batch->trouble };
}

static int start(struct batch_client *batch, struct error *err)
{
	return supervised_start(batch->folder, batch->state.last_seq, look, batch, err);
}

int batch_client_create(const char *state, json_t *config, struct batch_client *ret_batch,
			struct error *err)
{
	AUTO_FREE char *batches = batch_folder_batches(state, err);
	AUTO_FD claim = batches ? claim_project(batches, jsonget_text(config, "project"), NULL, err)
				: -1;
	struct batch_client batch = { 0 };

	if (claim < 0 || loop_folder_new(batches, &batch.id, &batch.folder, err) < 0)
		return -1;
	if (append(&batch, JOURNAL_CREATE, BATCH_EVENT_created,
		   json_pack("{s:O}", "config", config), err) == 0) {
		fd_close(&claim);
		batch_client_refresh(&batch);
		if (batch.damaged)
			error_set(err, "%s", batch.trouble);
		else if (start(&batch, err) == 0) {
			*ret_batch = batch;
			return 0;
		}
	}
	batch_client_release(&batch);
	return -1;
}

/* ---- requests ---- */

static int ask_supervisor(const struct batch_client *batch, const char *wish, const char *task,
			  struct error *err)
{
	json_t *request = json_pack("{s:s, s:s*}", "do", wish, "task", task);
	int result = control_ask(batch->folder, request, err);

	json_decref(request);
	return result;
}

static bool ends(const char *wish)
{
	return strcmp(wish, "pause") == 0 || strcmp(wish, "abort") == 0;
}

static int check_request(const struct batch_client *batch, const char *wish, struct error *err)
{
	if (batch->damaged)
		return error_set(err, "%s", batch->trouble);
	if (ends(wish) && batch->state.finished)
		return error_with(err, ERROR_REFUSED, "batch %s has already ended: %s", batch->id,
				  batch_client_status(batch));
	if (strcmp(wish, "pause") == 0 && batch->state.paused)
		return error_with(err, ERROR_REFUSED, "batch %s is already paused", batch->id);
	return 0;
}

/* Makes sure that the batch may go on, and that it is read as it is now: it may have changed before
 * the caller had its lock. Returns a lock like claim_project(). */
static int claim(struct batch_client *batch, struct error *err)
{
	AUTO_FREE char *batches = path_folder(batch->folder);

	return read_state(batch, err) < 0
		       ? -1
		       : claim_project(batches, batch->state.project, batch->id, err);
}

static int record(struct batch_client *batch, const char *wish, const char *task, struct error *err)
{
	enum batch_event event;
	int about = batch_request_read(&batch->state, wish, task, &event, err);
	int result = about < 0 ? -1 : 0;

	if (about > 0)
		result = append(batch, JOURNAL_WRITE, event, json_pack("{s:s}", "task", task), err);
	if (result == 0 && (batch->state.paused || batch->state.finished))
		result = append(batch, JOURNAL_WRITE, BATCH_EVENT_resumed, json_object(), err);
	if (result == 0 && about == 0)
		result = append(batch, JOURNAL_WRITE, BATCH_EVENT_asked,
				json_pack("{s:s}", "wish", wish), err);
	return result;
}

/* Nothing is running: the request is recorded, and a supervisor carries it out. To end a batch is
 * always possible. */
static int record_request(struct batch_client *batch, const char *wish, const char *task,
			  struct error *err)
{
	AUTO_FD lock = loop_folder_lock(batch->folder, err);
	AUTO_FD claimed = lock < 0 || ends(wish) ? -1 : claim(batch, err);
	int result = lock < 0 || (claimed < 0 && !ends(wish)) || read_state(batch, err) < 0 ||
				     check_request(batch, wish, err) < 0 ||
				     record(batch, wish, task, err) < 0
			     ? -1
			     : 0;

	fd_close(&claimed);
	fd_close(&lock);
	batch_client_refresh(batch);
	return result < 0 ? -1 : start(batch, err);
}

int batch_client_ask(struct batch_client *batch, const char *wish, const char *task,
		     struct error *err)
{
	int64_t until_ms = (int64_t)clock_steady_ms() + ASK_MS;

	if (check_request(batch, wish, err) < 0)
		return -1;
	/* A killed supervisor is started again within moments, and one that begins or ends has no
	 * socket: try again. */
	for (bool asked = batch->alive; (asked ? ask_supervisor(batch, wish, task, err)
					       : record_request(batch, wish, task, err)) < 0;
	     asked = batch->alive) {
		if (err->status == ERROR_REFUSED || (!asked && err->status == ERROR_NOT_FOUND) ||
		    (int64_t)clock_steady_ms() > until_ms)
			return -1;
		supervised_pause();
		batch_client_refresh(batch);
		if (check_request(batch, wish, err) < 0)
			return -1;
	}
	return 0;
}

/* Records that the batch goes on. The caller holds the locks. */
static int record_resume(struct batch_client *batch, json_t *changes, struct error *err)
{
	if (strcmp(batch_client_status(batch), "completed") == 0)
		return error_with(err, ERROR_REFUSED, "batch %s is completed", batch->id);
	if (json_object_size(changes) &&
	    append(batch, JOURNAL_WRITE, BATCH_EVENT_changed, json_incref(changes), err) < 0)
		return -1;
	return batch->state.paused || batch->state.finished
		       ? append(batch, JOURNAL_WRITE, BATCH_EVENT_resumed, json_object(), err)
		       : 0;
}

int batch_client_resume(struct batch_client *batch, json_t *changes, struct error *err)
{
	AUTO_FD lock = -1;
	AUTO_FD claimed = -1;
	int result;

	if (batch->damaged)
		return error_set(err, "%s", batch->trouble);
	lock = loop_folder_lock(batch->folder, err);
	if (lock < 0 && err->status == ERROR_BUSY)
		return error_with(err, ERROR_BUSY, "batch %s is already running", batch->id);
	if (lock < 0)
		return -1;
	claimed = claim(batch, err);
	result = claimed < 0 ? -1 : record_resume(batch, changes, err);
	fd_close(&claimed);
	fd_close(&lock);
	batch_client_refresh(batch);
	return result < 0 ? -1 : start(batch, err);
}
