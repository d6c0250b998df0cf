/* Running a batch: see batch_drive.h. */
#include "batch/batch_drive.h"

#include "batch/batch_fold.h"
#include "batch/batch_folder.h"
#include "batch/batch_loop.h"
#include "batch/batch_race.h"
#include "batch/batch_report.h"
#include "batch/batch_request.h"
#include "batch/batch_schedule.h"
#include "batch/batch_watch.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/control.h"
#include "loop/supervise/keeper.h"
#include "loop/supervise/wait_set.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LOOK_MS = 2000,   /* between looks at every running loop: killed processes tell nothing */
	CONTINUE_MAX = 5, /* times that a loop is continued after its processes were killed */
	START_TRIES = 3,
	REQUEST_MS = 1000
};

#define NO_MONEY "the limit of cost is reached (to go on: ringfence work --resume --max-cost USD)"

struct drive {
	const char *folder;
	char *home; /* Ringfence's state folder */
	struct journal *store;
	struct batch_state state;
	struct batch_watch watch;
	bool *deciding; /* for batch_schedule() */
	int lock, signals, farewell, control;
	int64_t looked_ms;
	bool leaving; /* got SIGTERM */
	bool stale;   /* state.json is older than the state */
	struct wait_set waits;
};

/* ---- events ---- */

/* Writes an event and updates the state. Consumes the data. Returns 0, or -1 with err set. */
static int append(struct drive *drive, enum batch_event kind, json_t *data, struct error *err)
{
	AUTO_FREE char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct journal_event event = { .seq = drive->state.last_seq + 1,
				       .at_ms = clock_wall_ms(),
				       .kind = batch_event_name(kind),
				       .data = text };

	json_decref(data);
	if (!text)
		return error_set(err, "an event cannot be written as JSON");
	drive->stale = true;
	return journal_append(drive->store, JOURNAL_NOW, event.at_ms, event.kind, text, err) < 0
		       ? -1
		       : batch_fold(&drive->state, &event, err);
}

/* The reason may have a path that is not valid UTF-8. */
static int append_task(struct drive *drive, enum batch_event kind, size_t task, const char *reason,
		       struct error *err)
{
	return append(drive, kind,
		      json_pack("{s:s, s:o*}", "task", drive->state.tasks[task].id, "reason",
				reason ? client_text(reason) : NULL),
		      err);
}

/* ---- the loops ---- */

/* A merge that may still be completed without an agent. */
static bool is_deciding(const struct batch_task *task, const struct client_loop *loop)
{
	return task->step == BATCH_STEP_running && task->merged && loop->state.iteration == 0 &&
	       loop->state.step != LOOP_STEP_paused && loop->state.step != LOOP_STEP_waiting;
}

static int note_held(struct drive *drive, size_t task, const char *reason, struct error *err)
{
	return drive->state.tasks[task].step == BATCH_STEP_held
		       ? 0
		       : append_task(drive, BATCH_EVENT_held, task, reason, err);
}

/* A person answers a blocked agent by the id of its loop: there are others. */
static int note_waiting(struct drive *drive, size_t task, const struct client_loop *loop,
			struct error *err)
{
	AUTO_FREE char *blocked =
		loop->state.blocked
			? mem_format("blocked: \"%s\" (to answer: ringfence answer %s TEXT)",
				     loop->state.blocked, loop->id)
			: NULL;

	return note_held(drive, task, blocked ? blocked : loop->state.reason, err);
}

/* Has a loop reached a limit of cost that was low only because that of the batch is near? With more
 * money it can go on. */
static bool needs_money(const struct batch_task *task, const struct client_loop *loop)
{
	return strcmp(client_status(loop), "limit") == 0 && batch_schedule_is_cut(task) &&
	       loop->state.spent_nusd >= task->grant_nusd;
}

static int note_ended(struct drive *drive, size_t task, const struct client_loop *loop,
		      struct error *err)
{
	AUTO_FREE char *reason = client_reason(loop);
	json_t *data = json_pack("{s:s, s:s, s:o, s:I, s:i}", "task", drive->state.tasks[task].id,
				 "status", client_status(loop), "reason",
				 client_text(reason ? reason : ""), "spent_nusd",
				 (json_int_t)loop->state.spent_nusd, "iterations",
				 (int)loop->state.iteration);
	bool broken = loop->state.fence_failed;

	if (append(drive, BATCH_EVENT_ended, data, err) < 0)
		return -1;
	batch_watch_drop(&drive->watch, task);
	batch_watch_read(&drive->watch, true); /* other candidates may have lost now */
	drive->deciding[task] = false;
	/* No other loop would do better. */
	return broken && drive->state.wish == BATCH_WISH_NONE
		       ? append(drive, BATCH_EVENT_asked,
				json_pack("{s:s, s:s}", "wish", "pause", "why", "the fence failed"),
				err)
		       : 0;
}

/* Is the loop of this task to be aborted? */
static bool is_unwanted(const struct drive *drive, size_t task)
{
	return drive->state.wish == BATCH_WISH_ABORT || batch_race_is_lost(&drive->state, task);
}

/* Continues a loop whose processes were killed; one that is killed again and again is held. */
static int revive(struct drive *drive, size_t task, struct error *err)
{
	struct batch_watch_loop *at = &drive->watch.loops[task];
	struct error why;

	if (at->continued++ < CONTINUE_MAX &&
	    batch_loop_start(&drive->state, drive->home, task, false, &why) == 0) {
		at->changed = true;
		return 0;
	}
	if (at->continued > CONTINUE_MAX)
		error_set(&why, "its processes were killed %d times", CONTINUE_MAX);
	return append_task(drive, BATCH_EVENT_held, task, why.text, err);
}

/* Passes a request to pause or abort on. A candidate that has lost is aborted. */
static void pass_on(struct drive *drive, size_t task, struct client_loop *loop)
{
	struct batch_watch_loop *at = &drive->watch.loops[task];
	bool abort = is_unwanted(drive, task);
	struct error err;

	if ((drive->state.wish == BATCH_WISH_NONE && !abort) || at->asked)
		return;
	/* If that fails, the next look tries again. */
	at->asked = client_ask(loop, abort ? CONTROL_REQUEST_abort : CONTROL_REQUEST_pause, false,
			       &err) == 0;
	at->changed = at->asked;
	if (!at->asked)
		fprintf(stderr, "%s\n", err.text);
}

static int look_at(struct drive *drive, size_t task, struct client_loop *loop, struct error *err)
{
	enum batch_step step = drive->state.tasks[task].step;
	enum loop_step there = loop->state.step;

	drive->deciding[task] = is_deciding(&drive->state.tasks[task], loop);
	if (loop->damaged)
		return note_held(drive, task, loop->trouble, err);
	if (there == LOOP_STEP_finished)
		return !is_unwanted(drive, task) && needs_money(&drive->state.tasks[task], loop)
			       ? note_held(drive, task, NO_MONEY, err)
			       : note_ended(drive, task, loop, err);
	if (is_unwanted(drive, task) || there != LOOP_STEP_paused)
		pass_on(drive, task, loop);
	if (there == LOOP_STEP_paused)
		return note_waiting(drive, task, loop, err);
	if (step == BATCH_STEP_held && loop->alive)
		return append_task(drive, BATCH_EVENT_unheld, task, NULL, err);
	return loop->alive || step == BATCH_STEP_held ? 0 : revive(drive, task, err);
}

static bool has_loop(const struct batch_task *task)
{
	return task->step == BATCH_STEP_running || task->step == BATCH_STEP_held;
}

/* Ends a task whose loop cannot be read, or never started: there is nothing to abort. */
static int drop_lost(struct drive *drive, size_t task, struct error *err)
{
	const struct client_loop *loop = &drive->watch.loops[task].loop;
	bool by_you = drive->state.wish == BATCH_WISH_ABORT;

	if (!is_unwanted(drive, task) || (loop->id && !loop->damaged))
		return 0;
	return append(drive, BATCH_EVENT_ended,
		      json_pack("{s:s, s:s, s:s, s:I}", "task", drive->state.tasks[task].id,
				"status", "aborted", "reason",
				by_you ? "by you" : "another candidate has won", "spent_nusd",
				(json_int_t)loop->state.spent_nusd),
		      err);
}

static int start_loop(struct drive *drive, size_t task, bool resume, struct error *err);

/* Would the agent of a task that is held only say once more that it is blocked? */
static bool lacks_answer(const struct drive *drive, size_t task)
{
	const struct loop_state *state = &drive->watch.loops[task].loop.state;

	return state->step == LOOP_STEP_paused && state->blocked && !loop_state_unread(state);
}

/* Continues the loop of a task that is held, because a person wants it. It may cost what is there
 * now. */
static int unhold(struct drive *drive, size_t task, struct error *err)
{
	const struct batch_task *at = &drive->state.tasks[task];
	int64_t grant_nusd = batch_schedule_grant(&drive->state, task);

	if (!at->wanted || drive->state.wish != BATCH_WISH_NONE || is_unwanted(drive, task))
		return 0;
	if (grant_nusd < 0 || lacks_answer(drive, task))
		return append_task(drive, BATCH_EVENT_held, task, at->reason, err);
	return append(drive, BATCH_EVENT_unheld,
		      json_pack("{s:s, s:I}", "task", at->id, "grant_nusd", (json_int_t)grant_nusd),
		      err) < 0
		       ? -1
		       : start_loop(drive, task, true, err);
}

static int look_at_all(struct drive *drive, struct error *err)
{
	int64_t now_ms = wait_set_steady_ms();
	bool all = now_ms - drive->looked_ms >= LOOK_MS;

	drive->looked_ms = all ? now_ms : drive->looked_ms;
	batch_watch_read(&drive->watch, all);
	for (size_t i = 0; i < drive->state.count; i++) {
		struct client_loop *loop = has_loop(&drive->state.tasks[i])
						   ? batch_watch_changed(&drive->watch, i)
						   : NULL;

		if ((loop && look_at(drive, i, loop, err) < 0) ||
		    (has_loop(&drive->state.tasks[i]) &&
		     (unhold(drive, i, err) < 0 || drop_lost(drive, i, err) < 0)))
			return -1;
	}
	return 0;
}

/* Records that a task begins a loop, with a new id. merges: the loop whose result it merges, or
 * NULL. */
static int append_begun(struct drive *drive, size_t task, const char *base, const char *merges,
			int64_t grant_nusd, struct error *err)
{
	AUTO_FREE char *id = client_reserve(drive->home, err);

	return id ? append(drive, BATCH_EVENT_begun,
			   json_pack("{s:s, s:s, s:s*, s:s*, s:I}", "task",
				     drive->state.tasks[task].id, "loop", id, "base", base,
				     "merges", merges, "grant_nusd", (json_int_t)grant_nusd),
			   err)
		  : -1;
}

/* Gives the loop of a task another id: the start of the first one was interrupted. */
static int begin_again(struct drive *drive, size_t task, struct error *err)
{
	const struct batch_task *at = &drive->state.tasks[task];

	return append_begun(drive, task, at->base, at->merged, at->grant_nusd, err);
}

/* Starts the loop of a task that has begun, and watches it. If that is impossible, the batch
 * pauses: the next task would fail likewise. */
static int start_loop(struct drive *drive, size_t task, bool resume, struct error *err)
{
	struct error why;

	for (int i = 0; i < START_TRIES; i++) {
		if (batch_loop_start(&drive->state, drive->home, task, resume, &why) == 0)
			return batch_watch_add(&drive->watch, task, drive->state.tasks[task].loop,
					       err);
		if (why.status == ERROR_EXISTS && begin_again(drive, task, err) < 0)
			return -1;
		if (why.status != ERROR_BUSY && why.status != ERROR_EXISTS)
			break;
	}
	drive->deciding[task] = false;
	if (append_task(drive, BATCH_EVENT_held, task, why.text, err) < 0)
		return -1;
	return drive->state.wish == BATCH_WISH_NONE
		       ? append(drive, BATCH_EVENT_asked,
				json_pack("{s:s, s:o}", "wish", "pause", "why",
					  client_text(why.text)),
				err)
		       : 0;
}

static int begin(struct drive *drive, const struct batch_action *action, struct error *err)
{
	bool merge = action->kind == BATCH_ACTION_MERGE;
	const char *merges = merge ? drive->state.tasks[action->task].loop : NULL;

	if (append_begun(drive, action->task, drive->state.tip, merges, action->grant_nusd, err) <
	    0)
		return -1;
	drive->deciding[action->task] = merge;
	return start_loop(drive, action->task, false, err);
}

/* ---- requests ---- */

/* Asks every loop again, also those that wait for a person. */
static void look_again(struct drive *drive)
{
	for (size_t i = 0; i < drive->watch.count; i++)
		drive->watch.loops[i].asked = false;
	batch_watch_read(&drive->watch, true);
}

static int carry_out(struct drive *drive, const json_t *request, struct error *err)
{
	const char *wish = jsonget_text(request, "do");
	const char *task = jsonget_string(request, "task");
	enum batch_event event;
	int about = batch_request_read(&drive->state, wish, task, &event, err);

	if (about)
		return about < 0 ? -1 : append(drive, event, json_pack("{s:s}", "task", task), err);
	if (strcmp(wish, "resume") == 0)
		return append(drive, BATCH_EVENT_resumed, json_object(), err);
	if (strcmp(wish, "pause") != 0 && strcmp(wish, "abort") != 0)
		return error_with(err, ERROR_PROTOCOL, "unknown request");
	if (append(drive, BATCH_EVENT_asked, json_pack("{s:s}", "wish", wish), err) < 0)
		return -1;
	look_again(drive);
	return 0;
}

/* A client sends its request as soon as it has connected. */
static void serve_control(void *context, bool readable)
{
	struct drive *drive = context;
	AUTO_FD client = readable ? accept4(drive->control, NULL, NULL, SOCK_CLOEXEC) : -1;
	json_t *request = NULL;
	json_t *answer;
	struct error err;

	if (client >= 0 &&
	    poll(&(struct pollfd){ .fd = client, .events = POLLIN }, 1, REQUEST_MS) > 0)
		request = control_read(client);
	if (!request)
		return;
	answer = carry_out(drive, request, &err) < 0
			 ? json_pack("{s:b, s:s}", "ok", 0, "error", err.text)
			 : json_pack("{s:b}", "ok", 1);
	control_answer(client, answer);
	json_decref(answer);
	json_decref(request);
}

static int control_fd(void *context)
{
	return ((const struct drive *)context)->control;
}

/* ---- the process ---- */

static int loops_fd(void *context)
{
	return ((const struct drive *)context)->watch.inotify;
}

/* Loops are looked at only while one runs: a batch that waits for a person uses no CPU time. */
static int64_t look_due_ms(void *context)
{
	const struct drive *drive = context;

	for (size_t i = 0; i < drive->state.count; i++)
		if (drive->state.tasks[i].step == BATCH_STEP_running)
			return drive->looked_ms + LOOK_MS;
	return INT64_MAX;
}

/* They are read by look_at_all(), before the next decision. */
static void serve_loops(void *context, bool readable)
{
	(void)context;
	(void)readable;
}

static int signals_fd(void *context)
{
	return ((const struct drive *)context)->signals;
}

static void read_signals(void *context, bool readable)
{
	struct drive *drive = context;
	struct signalfd_siginfo info;

	while (readable && read(drive->signals, &info, sizeof info) == sizeof info)
		drive->leaving = true;
}

static int farewell_fd(void *context)
{
	return ((const struct drive *)context)->farewell;
}

/* Starts a new keeper if the old one died. */
static void replace_keeper(void *context, bool gone)
{
	struct drive *drive = context;
	struct error err;

	if (!gone)
		return;
	fd_close(&drive->farewell);
	if (keeper_start(drive->folder, getpid(), &drive->farewell, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

static int open_signals(struct drive *drive, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	drive->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return drive->signals < 0 ? error_sys(err, "watch signals") : 0;
}

static int open_journal(struct drive *drive, struct error *err)
{
	AUTO_FREE char *path = path_join(drive->folder, "journal.db");
	struct journal_mark mark = { 0 };

	drive->lock = loop_folder_await_lock(drive->folder, err);
	if (drive->lock < 0)
		return -1;
	loop_report_trouble(drive->folder, NULL);
	if (journal_open(path, JOURNAL_WRITE, &drive->store, err) < 0 ||
	    batch_fold_follow(drive->store, &mark, &drive->state, err) < 0 ||
	    batch_watch_init(&drive->watch, drive->home, drive->state.count, err) < 0)
		return -1;
	drive->deciding = mem_zero(drive->state.count + 1);
	return 0;
}

static int open_all(struct drive *drive, struct error *err)
{
	if (open_signals(drive, err) < 0 || open_journal(drive, err) < 0)
		return -1;
	drive->control = control_listen(drive->folder, err);
	if (drive->control < 0)
		return -1;
	wait_set_add(&drive->waits, &(struct wait_set_watch){ .fd = signals_fd,
							      .serve = read_signals,
							      .context = drive });
	wait_set_add(&drive->waits, &(struct wait_set_watch){ .fd = farewell_fd,
							      .serve = replace_keeper,
							      .context = drive });
	wait_set_add(&drive->waits, &(struct wait_set_watch){ .fd = control_fd,
							      .serve = serve_control,
							      .context = drive });
	wait_set_add(&drive->waits, &(struct wait_set_watch){ .fd = loops_fd,
							      .due_ms = look_due_ms,
							      .serve = serve_loops,
							      .context = drive });
	return 0;
}

/* Takes over from an earlier supervisor: finds the loop of each task that has begun, or starts it
 * if that was killed before. */
static int take_over(struct drive *drive, struct error *err)
{
	for (size_t i = 0; i < drive->state.count; i++) {
		const struct batch_task *task = &drive->state.tasks[i];
		struct error ignored;

		if (task->step == BATCH_STEP_held)
			batch_watch_add(&drive->watch, i, task->loop, &ignored);
		if (task->step == BATCH_STEP_running && start_loop(drive, i, false, err) < 0)
			return -1;
	}
	return 0;
}

/* Returns 1 if something was done, 0 if the batch has to wait, or -1 with err set. */
static int act(struct drive *drive, struct error *err)
{
	struct batch_action action;
	int result = 0;

	batch_schedule(&drive->state, drive->deciding, &action);
	switch (action.kind) {
	case BATCH_ACTION_WAIT:
		return 0;
	case BATCH_ACTION_BEGIN:
	case BATCH_ACTION_MERGE:
		result = begin(drive, &action, err);
		break;
	case BATCH_ACTION_LAND:
		result = append_task(drive, BATCH_EVENT_landed, action.task, NULL, err);
		break;
	case BATCH_ACTION_LOSE:
		result = append_task(drive, BATCH_EVENT_lost, action.task, NULL, err);
		break;
	case BATCH_ACTION_REFUSE:
		result = append_task(drive, BATCH_EVENT_refused, action.task, action.reason, err);
		break;
	case BATCH_ACTION_PAUSE:
		result = append(drive, BATCH_EVENT_paused,
				json_pack("{s:s}", "reason", action.reason), err);
		break;
	case BATCH_ACTION_FINISH:
		result = append(drive, BATCH_EVENT_finished,
				json_pack("{s:s, s:s}", "status", action.status, "reason",
					  action.reason),
				err);
		break;
	}
	return result < 0 ? -1 : 1;
}

/* Nothing depends on the file. */
static void report(struct drive *drive)
{
	struct error err;

	if (drive->stale && batch_report_write(drive->folder, &drive->state, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	drive->stale = false;
}

static void wait_for_news(struct drive *drive)
{
	report(drive);
	if (!batch_watch_has_changed(&drive->watch))
		wait_set_round(&drive->waits, INT64_MAX);
}

static int run(struct drive *drive, struct error *err)
{
	if (drive->state.paused || drive->state.finished)
		return 0; /* the previous supervisor was killed while exiting */
	if (append(drive, BATCH_EVENT_started, json_pack("{s:i}", "pid", (int)getpid()), err) < 0 ||
	    take_over(drive, err) < 0)
		return -1;
	while (!drive->leaving && !drive->state.paused && !drive->state.finished) {
		int done = look_at_all(drive, err) < 0 ? -1 : act(drive, err);

		if (done < 0)
			return -1;
		if (!done)
			wait_for_news(drive);
	}
	report(drive);
	return 0;
}

static void release(struct drive *drive)
{
	if (drive->control >= 0) {
		AUTO_FREE char *path = path_join(drive->folder, "control");

		unlink(path);
	}
	fd_close(&drive->control);
	fd_close(&drive->signals);
	if (write(drive->farewell, "f", 1) < 0)
		errno = 0;
	if (drive->watch.loops)
		batch_watch_release(&drive->watch);
	journal_close(drive->store);
	batch_state_release(&drive->state);
	free(drive->deciding);
	free(drive->home);
}

int batch_drive_run(const char *folder, int farewell)
{
	struct drive drive = { .folder = folder,
			       .home = batch_folder_state(folder),
			       .lock = -1,
			       .signals = -1,
			       .control = -1,
			       .farewell = farewell };
	struct error err;
	int result;

	prctl(PR_SET_NAME, "ringfence-work", 0, 0, 0);
	batch_state_init(&drive.state);
	result = open_all(&drive, &err) < 0 || run(&drive, &err) < 0 ? -1 : 0;
	if (result < 0) {
		fprintf(stderr, "%s\n", err.text);
		if (drive.lock >= 0) /* otherwise another supervisor is running */
			loop_report_trouble(folder, err.text);
	}
	release(&drive);
	return result < 0;
}
