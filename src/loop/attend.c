/* Waiting, and answering meanwhile: see attend.h. */
#include "loop/attend.h"

#include "loop/control.h"
#include "loop/disk.h"
#include "loop/keeper.h"
#include "loop/loop_checkpoint.h"
#include "loop/loop_report.h"
#include "loop/seal.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/mem.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How long an agent that has said its last word may be silent before it is ended. */
enum { AFTER_END_MS = 60000 };

/* What a clock may be set by without a word. */
enum { JUMP_MS = 10000 };

int64_t attend_steady_ms(void)
{
	return (int64_t)clock_steady_ms();
}

void attend_beat(struct supervisor *sup)
{
	struct error err;

	sup->heartbeat_ms = attend_steady_ms();
	sup->stale = false;
	if (loop_report_state(sup->folder, &sup->state, clock_wall_ms(), &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

int attend_append(struct supervisor *sup, enum loop_event kind, json_t *data, struct error *err)
{
	struct error why;

	/* Whoever sees the end finds the result, or why not all of it is there. */
	if (kind == LOOP_EVENT_finished &&
	    seal_work_tree(sup->folder, &sup->state.options, &why) < 0)
		json_object_set_new(data, "uncommitted", loop_report_text(why.text));

	AUTO_FREE char *text = json_dumps(data, JSON_COMPACT);
	struct journal_event event = { .seq = sup->state.last_seq + 1,
				       .at_ms = clock_wall_ms(),
				       .kind = loop_event_name(kind),
				       .data = text };

	json_decref(data);
	if (!text)
		return error_set(err, "an event could not be written as JSON");
	if (journal_append(sup->store, loop_event_can_wait(kind) ? JOURNAL_LATER : JOURNAL_NOW,
			   event.at_ms, event.kind, event.data, err) < 0 ||
	    loop_state_take(&sup->state, &event, err) < 0)
		return -1;
	sup->stale = true;
	return 0;
}

int64_t attend_jump_ms(int64_t apart_before_ms, int64_t apart_ms)
{
	int64_t jump = apart_ms - apart_before_ms;

	return jump > JUMP_MS || jump < -JUMP_MS ? jump : 0;
}

int attend_clock(struct supervisor *sup, struct error *err)
{
	int64_t apart = clock_wall_ms() - attend_steady_ms();
	int64_t jump = sup->apart_ms ? attend_jump_ms(sup->apart_ms, apart) : 0;

	sup->apart_ms = apart; /* a clock that is adjusted bit by bit is followed */
	if (!jump || sup->state.phase == LOOP_PHASE_finished)
		return 0;
	return attend_append(sup, LOOP_EVENT_changed,
			     json_pack("{s:I}", "down_ms", (json_int_t)jump), err);
}

static json_t *obey(struct supervisor *sup, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "do"));
	struct error err;
	bool known = what && (strcmp(what, "pause") == 0 || strcmp(what, "abort") == 0 ||
			      strcmp(what, "reset") == 0);

	if (!known)
		return json_pack("{s:b, s:s}", "ok", 0, "error", "no such request");
	if (attend_append(sup, LOOP_EVENT_asked, json_pack("{s:s}", "wish", what), &err) < 0)
		return json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	if (sup->working && strcmp(what, "abort") == 0) {
		sup->cut = CUT_ABORT;
		if (json_is_true(json_object_get(request, "now")))
			fd_close(&sup->runner.lifeline);
		else
			runner_stop(&sup->runner);
	}
	return json_pack("{s:b}", "ok", 1);
}

static void accept_client(struct supervisor *sup)
{
	int client = accept4(sup->control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	for (int i = 0; client >= 0 && i < ATTEND_CLIENTS; i++) {
		if (sup->clients[i] < 0) {
			sup->clients[i] = client;
			return;
		}
	}
	if (client >= 0)
		close(client);
}

static void serve_client(struct supervisor *sup, int *client)
{
	json_t *request = control_read(*client);
	json_t *answer;

	if (!request) {
		fd_close(client);
		return;
	}
	answer = obey(sup, request);
	control_answer(*client, answer);
	json_decref(answer);
	json_decref(request);
}

static void take_signals(struct supervisor *sup)
{
	struct signalfd_siginfo info;

	while (read(sup->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		sup->leaving = true;
		if (sup->working)
			fd_close(&sup->runner.lifeline);
	}
}

/* A supervisor without a keeper starts another one, which adopts it, and which is nobody's child. */
static void replace_keeper(struct supervisor *sup)
{
	struct error err;

	fd_close(&sup->farewell);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	if (keeper_start(sup->folder, getpid(), &sup->farewell, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int until(int64_t when_ms, int64_t now, int most)
{
	if (when_ms <= now)
		return 0;
	return when_ms - now < most ? (int)(when_ms - now) : most;
}

/* How long an agent may still be silent; `most` where nobody is to be. */
static int silence_left(const struct supervisor *sup, int most)
{
	int64_t idle_ms = sup->state.options.idle_ms;

	/* Some never end after their last word; others have something in the background to wait for. */
	if (sup->heard.finished && (!idle_ms || idle_ms > AFTER_END_MS))
		idle_ms = AFTER_END_MS;
	if (!sup->working || sup->cut || !idle_ms || sup->state.phase != LOOP_PHASE_agent)
		return most;
	return until(sup->said_ms + idle_ms, attend_steady_ms(), most);
}

static void watch_silence(struct supervisor *sup)
{
	if (silence_left(sup, 1) > 0)
		return;
	sup->cut = CUT_IDLE;
	runner_stop(&sup->runner);
}

enum {
	WATCH_CONTROL,
	WATCH_SIGNALS,
	WATCH_FAREWELL,
	WATCH_OUTPUT,
	WATCH_COMPLAINTS,
	WATCH_RESULT,
	WATCH_SNAPSHOT,
	WATCHED
};

bool attend(struct supervisor *sup, int64_t at_most_ms)
{
	struct pollfd watched[WATCHED + ATTEND_CLIENTS];
	struct error err;
	int64_t now;
	int wait;

	if (attend_clock(sup, &err) < 0)
		fprintf(stderr, "%s\n", err.text); /* the next event says it, too */
	/* Nothing depends on that file: it is written when there is time. */
	if (sup->stale)
		attend_beat(sup);
	now = clock_wall_ms();
	wait = until(sup->heartbeat_ms + ATTEND_HEARTBEAT_MS, attend_steady_ms(),
		     ATTEND_HEARTBEAT_MS);

	wait = silence_left(sup, until(at_most_ms, now, wait));
	wait = until(loop_checkpoint_due_ms(sup), attend_steady_ms(), wait);
	wait = until(disk_due_ms(sup), attend_steady_ms(), wait);
	watched[WATCH_CONTROL] = (struct pollfd){ .fd = sup->control, .events = POLLIN };
	watched[WATCH_SIGNALS] = (struct pollfd){ .fd = sup->signals, .events = POLLIN };
	watched[WATCH_FAREWELL] = (struct pollfd){ .fd = sup->farewell };
	watched[WATCH_OUTPUT] = (struct pollfd){ .fd = sup->working ? sup->output.fd : -1,
						 .events = POLLIN };
	watched[WATCH_COMPLAINTS] = (struct pollfd){ .fd = sup->working ? sup->complaints.fd : -1,
						     .events = POLLIN };
	watched[WATCH_RESULT] = (struct pollfd){ .fd = sup->working ? sup->runner.result : -1,
						 .events = POLLIN };
	watched[WATCH_SNAPSHOT] = (struct pollfd){ .fd = sup->snapshot.pid && !sup->snapshot_ended
								 ? sup->snapshot.answer
								 : -1,
						   .events = POLLIN };
	for (int i = 0; i < ATTEND_CLIENTS; i++)
		watched[WATCHED + i] = (struct pollfd){ .fd = sup->clients[i], .events = POLLIN };
	if (poll(watched, WATCHED + ATTEND_CLIENTS, wait) < 0)
		return false;
	if (attend_steady_ms() - sup->heartbeat_ms >= ATTEND_HEARTBEAT_MS)
		attend_beat(sup);
	if (watched[WATCH_SIGNALS].revents)
		take_signals(sup);
	if (watched[WATCH_FAREWELL].revents)
		replace_keeper(sup);
	if (watched[WATCH_CONTROL].revents)
		accept_client(sup);
	for (int i = 0; i < ATTEND_CLIENTS; i++)
		if (watched[WATCHED + i].revents)
			serve_client(sup, &sup->clients[i]);
	if (watched[WATCH_OUTPUT].revents || watched[WATCH_COMPLAINTS].revents)
		sup->said_ms = attend_steady_ms();
	if (watched[WATCH_OUTPUT].revents)
		sink_serve(&sup->output);
	if (watched[WATCH_COMPLAINTS].revents)
		sink_serve(&sup->complaints);
	watch_silence(sup);
	disk_watch(sup);
	sup->snapshot_ended = sup->snapshot_ended || watched[WATCH_SNAPSHOT].revents;
	loop_checkpoint_watch(sup);
	return watched[WATCH_RESULT].revents != 0;
}
