/* Running a loop: see drive.h. */
#include "loop/supervise/drive.h"

#include "loop/run/disk.h"
#include "loop/run/loop_alert.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/verification.h"
#include "loop/run/work.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/check_mutants.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/keeper.h"
#include "loop/supervise/serve.h"
#include "loop/supervise/step.h"
#include "loop/supervise/step_end.h"
#include "util/clock.h"
#include "util/file/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A supervisor process. */
struct drive {
	struct supervisor sup;
	struct serve serve;
	int signals, farewell;
};

/* Takes over from an earlier supervisor. An iteration in progress does not count. */
static int take_over(struct supervisor *sup, struct error *err)
{
	enum loop_step step = sup->state.step;
	int64_t seen_ms = loop_report_heartbeat_ms(sup->folder);
	int64_t down_ms = clock_wall_ms() -
			  (seen_ms > sup->state.step_ms ? seen_ms : sup->state.step_ms);

	verification_recover(sup);
	supervisor_beat(sup); /* readers of the event must find a heartbeat */
	if (supervisor_append(sup, LOOP_EVENT_started,
			      json_pack("{s:i, s:I}", "pid", (int)getpid(), "down_ms",
					(json_int_t)(down_ms > 2 * SUPERVISOR_HEARTBEAT_MS ? down_ms
											   : 0)),
			      err) < 0)
		return -1;
	if (step != LOOP_STEP_agent && step != LOOP_STEP_checks && step != LOOP_STEP_review)
		return 0;

	struct agent_summary heard;
	int result;

	work_recall(sup, &heard);
	/* A review changes nothing: it is repeated alone. */
	result = step == LOOP_STEP_review ? supervisor_append(sup, LOOP_EVENT_reviewed,
							      judge_review_lost(&heard), err)
					  : supervisor_append(sup, LOOP_EVENT_interrupted,
							      judge_interrupted(&sup->state, &heard,
										clock_wall_ms()),
							      err);
	agent_summary_release(&heard);
	return result;
}

static int run_steps(struct supervisor *sup, struct error *err)
{
	if (sup->state.step == LOOP_STEP_finished || sup->state.step == LOOP_STEP_paused) {
		supervisor_beat(sup); /* the previous supervisor was killed while exiting */
		return 0;
	}
	if (take_over(sup, err) < 0)
		return -1;
	while (!sup->leaving) {
		int result = 0;

		switch (sup->state.step) {
		case LOOP_STEP_baseline:
			result = step_baseline(sup, err);
			break;
		case LOOP_STEP_ready:
			result = step_ready(sup, err);
			break;
		case LOOP_STEP_agent:
			result = step_agent(sup, err);
			break;
		case LOOP_STEP_checks:
			result = step_checks(sup, err);
			break;
		case LOOP_STEP_mutants:
			result = check_mutants_step(sup, err);
			break;
		case LOOP_STEP_review:
			result = step_review(sup, err);
			break;
		case LOOP_STEP_waiting:
			result = step_waiting(sup, err);
			break;
		case LOOP_STEP_paused:
			if (sup->state.wish != LOOP_WISH_ABORT)
				return 0;
			result = step_end_aborted(sup, err);
			break;
		case LOOP_STEP_closing:
			result = step_closing(sup, err);
			break;
		case LOOP_STEP_new:
		case LOOP_STEP_finished:
		case LOOP_STEP_COUNT:
			return 0;
		}
		if (result < 0)
			return -1;
	}
	return 0;
}

static void read_signals(void *context, bool readable)
{
	struct drive *drive = context;
	struct signalfd_siginfo info;

	while (readable && read(drive->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		drive->sup.leaving = true;
		if (drive->sup.run.working)
			fd_close(&drive->sup.run.runner.lifeline);
	}
}

/* Starts a new keeper if the old one died. It adopts this process, and has no parent. */
static void replace_keeper(void *context, bool gone)
{
	struct drive *drive = context;
	struct error err;

	if (!gone)
		return;
	fd_close(&drive->farewell);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	if (keeper_start(drive->sup.folder, getpid(), &drive->farewell, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int open_signals(struct drive *drive, struct error *err)
{
	static const int wanted[] = { SIGTERM, SIGINT, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	drive->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return drive->signals < 0 ? error_sys(err, "watch signals") : 0;
}

/* Adds the watches in the order in which they are served. */
static int open_all(struct drive *drive, struct error *err)
{
	struct wait_set *set = &drive->sup.waits;

	wait_set_add(set, &(struct wait_set_watch){
				  .at = &drive->signals, .serve = read_signals, .context = drive });
	wait_set_add(set, &(struct wait_set_watch){ .at = &drive->farewell,
						    .serve = replace_keeper,
						    .context = drive });
	if (open_signals(drive, err) < 0 || supervisor_open(&drive->sup, err) < 0 ||
	    serve_open(&drive->serve, &drive->sup, err) < 0)
		return -1;
	work_watch(&drive->sup);
	disk_watch(&drive->sup);
	loop_alert_watch(&drive->sup);
	loop_checkpoint_watch(&drive->sup);
	return 0;
}

int drive_run(const char *folder, int farewell)
{
	struct drive drive = { .signals = -1, .farewell = farewell };
	struct error err;
	int result;

	prctl(PR_SET_NAME, "ringfence-loop", 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	supervisor_init(&drive.sup, folder);
	serve_init(&drive.serve);
	result = open_all(&drive, &err) < 0 || run_steps(&drive.sup, &err) < 0 ? -1 : 0;
	if (result < 0) {
		fprintf(stderr, "%s\n", err.text);
		if (drive.sup.lock >= 0) /* otherwise another supervisor is running */
			loop_report_trouble(folder, err.text);
	}
	if (drive.sup.heart.stale)
		supervisor_beat(&drive.sup);
	serve_close(&drive.serve);
	if (write(drive.farewell, "f", 1) < 0)
		errno = 0;
	supervisor_release(&drive.sup);
	return result < 0;
}
