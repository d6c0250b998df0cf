/* Running a batch: see batch_drive.h. */
#include "batch/batch_drive.h"

#include "batch/batch_begin.h"
#include "batch/batch_fold.h"
#include "batch/batch_folder.h"
#include "batch/batch_report.h"
#include "batch/batch_serve.h"
#include "batch/batch_space.h"
#include "batch/batch_tend.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/keeper.h"
#include "notify/notify_start.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void read_signals(void *context, bool readable)
{
	struct batch_run *run = context;
	struct signalfd_siginfo info;

	while (readable && read(run->signals, &info, sizeof info) == sizeof info)
		run->leaving = true;
}

/* Starts a new keeper if the old one died. */
static void replace_keeper(void *context, bool gone)
{
	struct batch_run *run = context;
	struct error err;

	if (!gone)
		return;
	fd_close(&run->farewell);
	if (keeper_start(run->folder, getpid(), &run->farewell, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

static int open_signals(struct batch_run *run, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? error_sys(err, "watch signals") : 0;
}

static int open_journal(struct batch_run *run, struct error *err)
{
	AUTO_FREE char *path = path_join(run->folder, "journal.db");
	struct journal_mark mark = { 0 };

	run->lock = loop_folder_await_lock(run->folder, err);
	if (run->lock < 0)
		return -1;
	loop_report_trouble(run->folder, NULL);
	if (journal_open(path, JOURNAL_WRITE, &run->store, err) < 0 ||
	    batch_fold_follow(run->store, &mark, &run->state, err) < 0 ||
	    batch_watch_init(&run->watch, run->home, run->state.count, err) < 0)
		return -1;
	run->deciding = mem_zero(run->state.count + 1);
	return 0;
}

static int open_all(struct batch_run *run, struct error *err)
{
	if (open_signals(run, err) < 0 || open_journal(run, err) < 0)
		return -1;
	wait_set_add(&run->waits, &(struct wait_set_watch){ .at = &run->signals,
							    .serve = read_signals,
							    .context = run });
	wait_set_add(&run->waits, &(struct wait_set_watch){ .at = &run->farewell,
							    .serve = replace_keeper,
							    .context = run });
	if (batch_serve_open(run, err) < 0)
		return -1;
	batch_tend_watch(run);
	return 0;
}

/* Returns 1 if something was done, 0 if the batch has to wait, or -1 with err set. */
static int act(struct batch_run *run, struct error *err)
{
	struct batch_action action;
	int result = 0;

	batch_schedule(&run->state, run->deciding, &action);
	switch (action.kind) {
	case BATCH_ACTION_WAIT:
		return 0;
	case BATCH_ACTION_BEGIN:
	case BATCH_ACTION_MERGE:
		result = batch_begin_loop(run, &action, err);
		break;
	case BATCH_ACTION_LAND:
		result = batch_run_append_task(run, BATCH_EVENT_landed, action.task, NULL, err);
		batch_space_free(run);
		break;
	case BATCH_ACTION_LOSE:
		result = batch_run_append_task(run, BATCH_EVENT_lost, action.task, NULL, err);
		break;
	case BATCH_ACTION_REFUSE:
		result = batch_run_append_task(run, BATCH_EVENT_refused, action.task, action.reason,
					       err);
		break;
	case BATCH_ACTION_PAUSE:
		result = batch_run_append(run, BATCH_EVENT_paused,
					  json_pack("{s:s}", "reason", action.reason), err);
		break;
	case BATCH_ACTION_FINISH:
		result = batch_run_append(run, BATCH_EVENT_finished,
					  json_pack("{s:s, s:s}", "status", action.status, "reason",
						    action.reason),
					  err);
		break;
	}
	return result < 0 ? -1 : 1;
}

/* Nothing depends on the file. */
static void report(struct batch_run *run)
{
	struct error err;

	if (run->stale && json_array_size(json_object_get(run->state.config, "notify")))
		notify_start(run->folder); /* again, if it was killed */
	if (run->stale && batch_report_write(run->folder, &run->state, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	run->stale = false;
}

static void wait_for_news(struct batch_run *run)
{
	report(run);
	if (!batch_watch_has_changed(&run->watch))
		wait_set_round(&run->waits, INT64_MAX);
}

static int work(struct batch_run *run, struct error *err)
{
	if (run->state.paused || run->state.finished)
		return 0; /* the previous supervisor was killed while exiting */
	if (batch_run_append(run, BATCH_EVENT_started, json_pack("{s:i}", "pid", (int)getpid()),
			     err) < 0 ||
	    batch_begin_take_over(run, err) < 0)
		return -1;
	while (!run->leaving && !run->state.paused && !run->state.finished) {
		int done;

		/* A request comes before the next decision: to start a loop may take long. */
		wait_set_round(&run->waits, 0);
		done = batch_tend_look(run, err) < 0 ? -1 : act(run, err);
		if (done < 0)
			return -1;
		if (!done)
			wait_for_news(run);
	}
	batch_space_free(run);
	report(run);
	return 0;
}

static void release(struct batch_run *run)
{
	batch_serve_close(run);
	fd_close(&run->signals);
	if (write(run->farewell, "f", 1) < 0)
		errno = 0;
	if (run->watch.loops)
		batch_watch_release(&run->watch);
	journal_close(run->store);
	batch_state_release(&run->state);
	free(run->deciding);
	free(run->home);
}

int batch_drive_run(const char *folder, int farewell)
{
	struct batch_run run = { .folder = folder,
				 .home = batch_folder_state(folder),
				 .lock = -1,
				 .signals = -1,
				 .control = -1,
				 .farewell = farewell };
	struct error err;
	int result;

	prctl(PR_SET_NAME, "ringfence-work", 0, 0, 0);
	run.place = (struct batch_loop_place){ .state = run.home, .batch = path_name(folder) };
	batch_state_init(&run.state);
	result = open_all(&run, &err) < 0 || work(&run, &err) < 0 ? -1 : 0;
	if (result < 0) {
		fprintf(stderr, "%s\n", err.text);
		if (run.lock >= 0) /* otherwise another supervisor is running */
			loop_report_trouble(folder, err.text);
	}
	release(&run);
	return result < 0;
}
