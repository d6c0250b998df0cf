/* The supervisor of one loop: see supervisor.h. */
#include "loop/supervisor.h"

#include "loop/attend.h"
#include "loop/control.h"
#include "loop/judge.h"
#include "loop/loop_folder.h"
#include "loop/loop_report.h"
#include "loop/phase.h"
#include "loop/spec_json.h"
#include "loop/work.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 200 };

/* What is half done when a supervisor comes: it does not count. */
static int take_over(struct supervisor *sup, struct error *err)
{
	enum loop_phase phase = sup->state.phase;
	int64_t seen_ms = loop_report_heartbeat_ms(sup->folder);
	int64_t down_ms = clock_wall_ms() -
			  (seen_ms > sup->state.phase_ms ? seen_ms : sup->state.phase_ms);

	attend_beat(sup); /* who sees the event finds a heartbeat, too */
	if (attend_append(sup, LOOP_EVENT_started,
			  json_pack("{s:i, s:I}", "pid", (int)getpid(), "down_ms",
				    (json_int_t)(down_ms > 2 * ATTEND_HEARTBEAT_MS ? down_ms : 0)),
			  err) < 0)
		return -1;
	if (phase != LOOP_PHASE_agent && phase != LOOP_PHASE_checks)
		return 0;

	struct agent_summary heard;
	int result;

	work_recall(sup, &heard);
	result = attend_append(sup, LOOP_EVENT_interrupted,
			       judge_interrupted(&sup->state, &heard, clock_wall_ms()), err);
	agent_summary_release(&heard);
	return result;
}

static int go(struct supervisor *sup, struct error *err)
{
	if (sup->state.phase == LOOP_PHASE_finished || sup->state.phase == LOOP_PHASE_paused) {
		attend_beat(sup); /* the one before was killed on its way out */
		return 0;
	}
	if (take_over(sup, err) < 0)
		return -1;
	while (!sup->leaving) {
		int result = 0;

		switch (sup->state.phase) {
		case LOOP_PHASE_baseline:
			result = phase_baseline(sup, err);
			break;
		case LOOP_PHASE_ready:
			result = phase_ready(sup, err);
			break;
		case LOOP_PHASE_agent:
			result = phase_agent(sup, err);
			break;
		case LOOP_PHASE_checks:
			result = phase_checks(sup, err);
			break;
		case LOOP_PHASE_waiting:
			result = phase_waiting(sup, err);
			break;
		case LOOP_PHASE_paused:
			if (sup->state.wish != LOOP_WISH_ABORT)
				return 0;
			result = phase_finish(sup, "aborted", "by a person", err);
			break;
		case LOOP_PHASE_new:
		case LOOP_PHASE_finished:
		case LOOP_PHASE_COUNT:
			return 0;
		}
		if (result < 0)
			return -1;
	}
	return 0;
}

/* The runner of a supervisor that was killed holds the lock until it is gone, too. */
static int take_lock(struct supervisor *sup, struct error *err)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		sup->lock = loop_folder_lock(sup->folder, err);
		if (sup->lock >= 0)
			return 0;
		if (err->status != ERROR_BUSY)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return -1;
}

/* Those of this program, with what was frozen of the user's own. */
static int load_prices(struct supervisor *sup, struct error *err)
{
	const char *own = sup->state.options.prices;

	if (price_table_init(&sup->prices, err) < 0)
		return -1;
	return own ? price_table_add(&sup->prices, "prices.txt", own, strlen(own), err) : 0;
}

static int open_all(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *journal = path_join(sup->folder, "journal.db");
	static const int wanted[] = { SIGTERM, SIGINT, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sup->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sup->signals < 0)
		return error_sys(err, "watch signals");
	if (take_lock(sup, err) < 0)
		return -1;
	loop_report_trouble(sup->folder, NULL);
	if (journal_open(journal, JOURNAL_WRITE, &sup->store, err) < 0 ||
	    loop_state_read(sup->store, &sup->state, err) < 0 ||
	    spec_json_read(sup->state.options.fence, &sup->fence, err) < 0 ||
	    load_prices(sup, err) < 0)
		return -1;
	sup->control = control_listen(sup->folder, err);
	return sup->control < 0 ? -1 : 0;
}

int supervisor_run(const char *folder, int farewell)
{
	struct supervisor sup = { .folder = folder,
				  .lock = -1,
				  .control = -1,
				  .signals = -1,
				  .farewell = farewell,
				  .runner = RUNNER_INIT,
				  .snapshot = SNAPSHOT_JOB_INIT };
	struct error err;
	int result;

	prctl(PR_SET_NAME, "ringfence-loop", 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (int i = 0; i < ATTEND_CLIENTS; i++)
		sup.clients[i] = -1;
	loop_state_init(&sup.state);
	sup.memory = survey_memory_new();
	result = open_all(&sup, &err) < 0 || go(&sup, &err) < 0 ? -1 : 0;
	if (result < 0) {
		fprintf(stderr, "%s\n", err.text);
		if (sup.lock >= 0) /* else another one is at work */
			loop_report_trouble(folder, err.text);
	}
	if (sup.stale)
		attend_beat(&sup);
	if (sup.control >= 0) {
		AUTO_FREE char *path = path_join(folder, "control");

		unlink(path);
	}
	if (write(sup.farewell, "f", 1) < 0)
		errno = 0;
	for (int i = 0; i < ATTEND_CLIENTS; i++)
		fd_close(&sup.clients[i]);
	journal_close(sup.store);
	free(sup.git_refused);
	fence_covers_release(&sup.covers);
	fence_spec_release(&sup.fence);
	price_table_release(&sup.prices);
	loop_state_release(&sup.state);
	survey_memory_free(sup.memory);
	return result < 0;
}
