/* Creating, starting, inspecting and controlling loops: see client.h. */
#include "loop/client.h"

#include "loop/resume.h"
#include "loop/run/draft_leftovers.h"
#include "loop/run/leftovers.h"
#include "loop/run/room.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_index.h"
#include "loop/state/loop_outcome.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/control.h"
#include "loop/supervised.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STALE_MS = 120000, ASK_MS = 5000, CLOSE_MS = 600000, RESUME_TRIES = 500 };

void client_loop_release(struct client_loop *loop)
{
	loop_state_release(&loop->state);
	free(loop->id);
	free(loop->folder);
	free(loop->trouble);
	*loop = (struct client_loop){ 0 };
}

/* Reads the events that the state does not have yet; after an error, all of them. */
static int read_state(struct client_loop *loop, struct error *err)
{
	AUTO_FREE char *path = path_join(loop->folder, "journal.db");
	struct journal *store = NULL;
	int result;

	if (loop->damaged || loop->read.seq == 0) {
		loop_state_release(&loop->state);
		loop_state_init(&loop->state);
		loop->read = (struct journal_mark){ 0 };
	}
	loop->unwritable = NULL;
	if (journal_open(path, JOURNAL_READ, &store, err) < 0)
		return -1;
	loop->unwritable = journal_copied_why(store);
	result = loop_state_follow(store, &loop->read, &loop->state, err);
	journal_close(store);
	return result;
}

/* Is this a loop that its keeper continues? */
static bool is_under_way(const struct loop_state *state)
{
	return state->step != LOOP_STEP_new && state->step != LOOP_STEP_paused &&
	       state->step != LOOP_STEP_finished;
}

void client_refresh(struct client_loop *loop)
{
	struct error err;
	bool kept;

	free(loop->trouble);
	/* Locks first, then journal: a loop that ends in between must not look interrupted. */
	loop->alive = loop_folder_is_locked(loop->folder);
	kept = !loop->alive && loop_folder_is_kept(loop->folder);
	loop->damaged = read_state(loop, &err) < 0;
	loop->trouble = loop->damaged ? mem_dup(err.text) : loop_report_read_trouble(loop->folder);
	loop->restarting = kept && !loop->trouble && is_under_way(&loop->state);
	loop->alive = loop->alive || loop->restarting;
}

const char *client_status(const struct client_loop *loop)
{
	if (loop->damaged)
		return "failed";
	if (loop->restarting) /* or started for the first time */
		return loop->state.supervisor ? "restarting" : "starting";
	return loop_state_status(&loop->state, loop->alive);
}

json_t *client_outcome(const struct client_loop *loop)
{
	AUTO_FREE char *reason = loop->damaged ? NULL : client_reason(loop);

	return loop->damaged ? NULL : loop_outcome_json(&loop->state, client_status(loop), reason);
}

/* The time is shown in the reader's time zone. */
static char *reason_of_wait(const struct loop_state *state)
{
	AUTO_FREE char *until = clock_text(state->wait_until_ms, CLOCK_ZONE);

	return mem_format("%s: waiting until %s", state->reason, until);
}

int64_t client_heartbeat_ms(const struct client_loop *loop)
{
	return loop->alive && !loop->restarting ? loop_report_heartbeat_ms(loop->folder) : 0;
}

char *client_reason(const struct client_loop *loop)
{
	const char *status = client_status(loop);
	int64_t seen_ms = client_heartbeat_ms(loop);

	if (seen_ms && clock_wall_ms() - seen_ms > STALE_MS)
		return mem_format("its supervisor (process %d) has not reported for %lld s",
				  (int)loop->state.supervisor,
				  (long long)(clock_wall_ms() - seen_ms) / 1000);
	if (loop->damaged)
		return mem_dup(loop->trouble);
	if (strcmp(status, "interrupted") == 0)
		return mem_format("%s (to continue: ringfence resume %s)",
				  loop->trouble ? loop->trouble : "its supervisor is gone",
				  loop->id);
	if (strcmp(status, "restarting") == 0)
		return mem_dup("its supervisor is gone, and is being started again");
	if (!loop->state.reason || !*loop->state.reason)
		return NULL;
	return strcmp(status, "waiting") == 0 ? reason_of_wait(&loop->state)
					      : mem_dup(loop->state.reason);
}

json_t *client_text(const char *text)
{
	return loop_report_text(text);
}

json_t *client_json(const struct client_loop *loop)
{
	AUTO_FREE char *reason = client_reason(loop);
	json_t *value = loop_report_loop(loop->id, &loop->state, loop->alive && !loop->restarting,
					 loop_report_heartbeat_ms(loop->folder));

	json_object_set_new(value, "status", json_string(client_status(loop)));
	json_object_set_new(value, "reason", reason ? loop_report_text(reason) : json_null());
	return value;
}

int client_events(const struct client_loop *loop, int64_t after, journal_fn *take, void *context,
		  struct error *err)
{
	AUTO_FREE char *path = path_join(loop->folder, "journal.db");
	struct journal *store = NULL;
	int result;

	if (journal_open(path, JOURNAL_READ, &store, err) < 0)
		return -1;
	result = journal_each(store, after, take, context, err);
	journal_close(store);
	return result;
}

int client_follow(const struct client_loop *loop, struct journal_mark *mark, journal_fn *take,
		  void *context, struct error *err)
{
	return supervised_follow(loop->folder, mark, take, context, err);
}

/* Writes an event in place of a supervisor. The caller holds the lock. Consumes the data. */
static int append(const struct client_loop *loop, enum journal_mode mode, enum loop_event kind,
		  json_t *data, struct error *err)
{
	if (mode != JOURNAL_CREATE && loop_index_reopen(loop->folder, err) < 0) {
		json_decref(data);
		return -1;
	}
	return supervised_append(loop->folder, mode, loop_event_name(kind), data, err);
}

/* Serializes starts: of two loops for the same project, the second sees the first. */
static int start_lock(const char *loops, struct error *err)
{
	AUTO_FREE char *path = path_join(loops, ".start");
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

static int refuse_second(const char *state, const json_t *config, struct error *err)
{
	AUTO_FREE char *id = jsonget_string(config, "draft")
				     ? NULL
				     : client_running(state, jsonget_text(config, "project"));

	return id ? error_with(
			    err, ERROR_BUSY,
			    "the loop %s is already running in this project (stop it with ringfence "
			    "abort %s; ringfence run --workspace draft starts another one beside it)",
			    id, id)
		  : 0;
}

static struct supervised_view look(void *context)
{
	struct client_loop *loop = context;

	client_refresh(loop);
	return (struct supervised_view){ .seq = loop->state.last_seq,
					 .alive = loop->alive,
					 .trouble = loop->trouble };
}

static int start(struct client_loop *loop, struct error *err)
{
	return supervised_start(loop->folder, loop->state.last_seq, look, loop, err);
}

char *client_reserve(const char *state, struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);
	AUTO_FREE char *folder = NULL;
	char *id = NULL;

	return loops && loop_folder_new(loops, &id, &folder, err) == 0 ? id : NULL;
}

char *client_reserve_id(const char *state, const char *id, struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);

	return loops && loop_folder_claim(loops, id, err) == 0 ? mem_dup(id) : NULL;
}

void client_release_id(const char *state, const char *id)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);

	rmdir(folder); /* fails for a loop that has started: its folder is not empty */
}

int client_create(const char *state, const char *id, json_t *config, struct client_loop *ret_loop,
		  struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);
	AUTO_FD lock = loops ? start_lock(loops, err) : -1;
	struct client_loop loop = { 0 };

	if (lock < 0 || refuse_second(state, config, err) < 0)
		return -1;
	if (id) {
		loop.id = mem_dup(id);
		loop.folder = path_join(loops, id);
	} else if (loop_folder_new(loops, &loop.id, &loop.folder, err) < 0) {
		return -1;
	}
	if (append(&loop, JOURNAL_CREATE, LOOP_EVENT_created, json_pack("{s:O}", "config", config),
		   err) == 0) {
		client_refresh(&loop);
		if (start(&loop, err) == 0) {
			*ret_loop = loop;
			return 0;
		}
	}
	client_loop_release(&loop);
	return -1;
}

static int write_resumed(const struct client_loop *loop, json_t *changes, const char *told,
			 struct error *err)
{
	enum loop_step step = loop->state.step;

	if (told && append(loop, JOURNAL_WRITE, LOOP_EVENT_told,
			   json_pack("{s:s, s:b}", "text", told, "now", 0), err) < 0)
		return -1;
	if (json_object_size(changes) > 0 &&
	    append(loop, JOURNAL_WRITE, LOOP_EVENT_changed, json_incref(changes), err) < 0)
		return -1;
	if (step != LOOP_STEP_paused && step != LOOP_STEP_finished)
		return 0;
	return append(loop, JOURNAL_WRITE, LOOP_EVENT_resumed, json_object(), err);
}

/* *ret_locked: somebody else had the lock. */
static int try_to_resume(const char *state, struct client_loop *loop, json_t *changes,
			 const char *told, bool *ret_locked, struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);
	AUTO_FD starting = loops ? start_lock(loops, err) : -1;
	AUTO_FD lock = -1;
	struct error why;

	if (starting < 0)
		return -1;
	client_refresh(loop);
	if (loop->damaged)
		return error_set(err, "%s", loop->trouble);
	if (loop->alive)
		return error_with(
			err, ERROR_BUSY,
			"the loop %s is already running (to pause it: ringfence pause %s)",
			loop->id, loop->id);
	if (access(loop->state.options.project, F_OK) < 0 && errno == ENOENT)
		return error_with(
			err, ERROR_REFUSED,
			"cannot resume the loop %s: its folder '%s' is gone (move it back, "
			"or remove the loop: ringfence clean %s)",
			loop->id, loop->state.options.project, loop->id);
	loop->read =
		(struct journal_mark){ 0 }; /* the question changes the state: read all again */
	if (resume_permits(&loop->state, changes, told, clock_wall_ms(), &why) < 0)
		return error_with(err, ERROR_REFUSED, "cannot resume the loop %s: %s", loop->id,
				  why.text);
	client_refresh(loop);
	if (refuse_second(state, loop->state.config, err) < 0)
		return -1;
	lock = loop_folder_lock(loop->folder, err);
	*ret_locked = lock < 0 && err->status == ERROR_BUSY;
	if (lock < 0 || leftovers_open(loop->folder, &loop->state, err) < 0 ||
	    write_resumed(loop, changes, told, err) < 0)
		return -1;
	fd_close(&lock);
	loop_report_trouble(loop->folder, NULL);
	client_refresh(loop);
	return start(loop, err);
}

int client_resume(const char *state, struct client_loop *loop, json_t *changes, const char *told,
		  struct error *err)
{
	/* A process that only looks at the loop has its lock for a moment. */
	for (int i = 0;; i++) {
		bool locked = false;
		int result = try_to_resume(state, loop, changes, told, &locked, err);

		if (!locked || i == RESUME_TRIES)
			return result;
		supervised_pause();
	}
}

/* Lets a supervisor commit the leftovers in a draft and end the loop. Consumes the data. */
static int close_draft(struct client_loop *loop, int *lock, json_t *data, struct error *err)
{
	if (append(loop, JOURNAL_WRITE, LOOP_EVENT_closing, data, err) < 0)
		return -1;
	fd_close(lock);
	loop_report_trouble(loop->folder, NULL);
	client_refresh(loop);
	return start(loop, err);
}

int client_update_branch(struct client_loop *loop, struct error *err)
{
	AUTO_FD lock = loop_folder_lock(loop->folder, err);

	client_refresh(loop);
	if (lock < 0)
		return err->status == ERROR_BUSY ? 0 : -1;
	if (loop->state.step != LOOP_STEP_finished || !draft_leftovers_wanted(&loop->state))
		return 0;
	if (close_draft(loop, &lock,
			json_pack("{s:s?, s:s?, s:b, s:b}", "status", loop->state.status, "reason",
				  loop->state.reason, "fence_failed", loop->state.fence_failed,
				  "refused", loop->state.refused),
			err) < 0)
		return -1;
	client_wait_gone(loop, CLOSE_MS);
	client_refresh(loop);
	if (loop->state.step != LOOP_STEP_finished)
		return error_set(err, "its commit is not made yet (see: ringfence status)");
	return loop->state.uncommitted ? error_set(err, "%s", loop->state.uncommitted) : 0;
}

/* A request to a loop. */
struct wish {
	enum control_request request;
	const char *text;  /* of `tell`, cleaned */
	int64_t most_nusd; /* of `limit` */
	bool now;
};

static int record_abort(struct client_loop *loop, int *lock, struct error *err)
{
	json_t *aborted = json_pack("{s:s, s:s}", "status", "aborted", "reason", "by you");

	return draft_leftovers_wanted(&loop->state)
		       ? close_draft(loop, lock, aborted, err)
		       : append(loop, JOURNAL_WRITE, LOOP_EVENT_finished, aborted, err);
}

static int permits_tell(const struct client_loop *loop, struct error *err)
{
	struct error why;

	if (loop_state_permits_tell(&loop->state, &why) == 0)
		return 0;
	return error_with(err, ERROR_REFUSED, "cannot tell the loop %s anything: %s", loop->id,
			  why.text);
}

/* The loop may have gone on since it was read. */
static int record_told(struct client_loop *loop, const struct wish *wish, struct error *err)
{
	if (read_state(loop, err) < 0 || permits_tell(loop, err) < 0)
		return -1;
	if (!control_is_legal(loop->state.step, wish->request))
		return error_set(err,
				 "loop %s is ending, and its supervisor is gone (to let it end: "
				 "ringfence resume %s)",
				 loop->id, loop->id);
	return append(loop, JOURNAL_WRITE, LOOP_EVENT_told,
		      json_pack("{s:s, s:b}", "text", wish->text, "now", wish->now), err);
}

/* Nothing is running without a supervisor: the request is recorded at once. */
static int record_request(struct client_loop *loop, const struct wish *wish, struct error *err)
{
	AUTO_FD lock = loop_folder_lock(loop->folder, err);

	if (lock < 0)
		return -1;
	if (wish->request == CONTROL_REQUEST_abort)
		return record_abort(loop, &lock, err);
	if (wish->request == CONTROL_REQUEST_tell)
		return record_told(loop, wish, err);
	if (wish->request == CONTROL_REQUEST_limit)
		return append(loop, JOURNAL_WRITE, LOOP_EVENT_changed,
			      json_pack("{s:I}", "max_cost_nusd", (json_int_t)wish->most_nusd),
			      err);
	return append(loop, JOURNAL_WRITE, LOOP_EVENT_asked,
		      json_pack("{s:s}", "wish", control_request_name(wish->request)), err);
}

static int ask_supervisor(const struct client_loop *loop, const struct wish *wish,
			  struct error *err)
{
	json_t *request = json_pack("{s:s, s:s*, s:b}", "do", control_request_name(wish->request),
				    "text", wish->text, "now", wish->now);
	int result;

	if (wish->most_nusd)
		json_object_set_new(request, "max_cost_nusd",
				    json_integer((json_int_t)wish->most_nusd));
	result = control_ask(loop->folder, request, err);
	json_decref(request);
	return result;
}

/* Is the loop beyond this request, so that no retry helps? Then err says so. */
static bool is_over(const struct client_loop *loop, const struct wish *wish, struct error *err)
{
	if (loop->damaged || (loop->state.step == LOOP_STEP_finished &&
			      !control_is_legal(LOOP_STEP_finished, wish->request))) {
		error_set(err, "the loop %s has ended in the meantime: %s", loop->id,
			  client_status(loop));
		return true;
	}
	return wish->request == CONTROL_REQUEST_tell && permits_tell(loop, err) < 0;
}

static int ask(struct client_loop *loop, const struct wish *wish, struct error *err)
{
	int64_t until_ms = (int64_t)clock_steady_ms() + ASK_MS;

	if (loop->damaged)
		return error_set(err, "%s", loop->trouble);
	/* A killed supervisor is restarted within moments. */
	while ((loop->alive ? ask_supervisor(loop, wish, err) : record_request(loop, wish, err)) <
	       0) {
		if ((int64_t)clock_steady_ms() > until_ms)
			return -1;
		supervised_pause();
		client_refresh(loop);
		if (is_over(loop, wish, err))
			return -1;
	}
	return 0;
}

int client_ask(struct client_loop *loop, enum control_request request, bool now, struct error *err)
{
	return ask(loop, &(struct wish){ .request = request, .now = now }, err);
}

int client_limit(struct client_loop *loop, int64_t most_nusd, struct error *err)
{
	return ask(loop, &(struct wish){ .request = CONTROL_REQUEST_limit, .most_nusd = most_nusd },
		   err);
}

int client_tell(struct client_loop *loop, const char *text, bool now, struct error *err)
{
	if (!loop->damaged && permits_tell(loop, err) < 0)
		return -1;
	return ask(loop,
		   &(struct wish){ .request = CONTROL_REQUEST_tell, .text = text, .now = now },
		   err);
}

int client_preview(json_t *config, bool private_git, struct prompt *ret_prompt, struct error *err)
{
	json_t *data = json_pack("{s:O}", "config", config);
	AUTO_FREE char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct journal_event event = {
		.seq = 1, .at_ms = clock_wall_ms(), .kind = "created", .data = text
	};
	struct loop_state state;
	int result;

	json_decref(data);
	loop_state_init(&state);
	result = text ? loop_state_fold(&state, &event, err) : error_set(err, SUPERVISED_NOT_UTF8);
	if (result == 0) {
		state.git_mode = private_git ? mem_dup("private") : NULL;
		prompt_write(&state, event.at_ms, ret_prompt);
	}
	loop_state_release(&state);
	return result;
}

void client_prompt(const struct client_loop *loop, struct prompt *ret_prompt)
{
	prompt_write(&loop->state, clock_wall_ms(), ret_prompt);
}

int client_hold(const struct client_loop *loop, struct error *err)
{
	int lock = loop_folder_lock(loop->folder, err);

	return lock < 0 && err->status == ERROR_BUSY
		       ? error_with(err, ERROR_BUSY, "the loop %s is running", loop->id)
		       : lock;
}

int client_restoring(const struct client_loop *loop, json_t *data, struct error *err)
{
	return append(loop, JOURNAL_WRITE, LOOP_EVENT_restoring, data, err);
}

int client_restored(const struct client_loop *loop, json_t *data, struct error *err)
{
	return append(loop, JOURNAL_WRITE, LOOP_EVENT_restored, data, err);
}

bool client_wait_gone(const struct client_loop *loop, int64_t most_ms)
{
	int64_t until_ms = (int64_t)clock_steady_ms() + most_ms;

	while (loop_folder_is_locked(loop->folder)) {
		if ((int64_t)clock_steady_ms() > until_ms)
			return false;
		supervised_pause();
	}
	return true;
}

char *client_subject(const struct loop_options *options)
{
	return leftovers_subject(options);
}

int client_commit_leftovers(const struct client_loop *loop, struct error *err)
{
	return leftovers_commit(loop->folder, &loop->state, err);
}

char *client_room(const char *path, int64_t least)
{
	return room_trouble(path, least);
}
