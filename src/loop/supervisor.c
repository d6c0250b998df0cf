/* The supervisor of one loop: see supervisor.h. */
#include "loop/supervisor.h"

#include "loop/control.h"
#include "loop/frozen.h"
#include "loop/judge.h"
#include "loop/keeper.h"
#include "loop/place.h"
#include "loop/prompt.h"
#include "loop/report.h"
#include "loop/runner.h"
#include "loop/sink.h"
#include "loop/state.h"
#include "loop/survey.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	HEARTBEAT_MS = 30000,
	MOST_CLIENTS = 16,
	LOCK_TRIES = 200,
	FINAL_BYTES = 16384,
	MOST_LOST = 5
};

struct supervisor {
	const char *folder;
	struct store *store;
	struct loop_state state;
	struct fence_spec fence;
	struct survey_memory *memory;
	struct survey before;
	int lock, control, signals, farewell;
	int clients[MOST_CLIENTS];
	struct runner runner;
	struct sink output, complaints;
	int64_t heartbeat_ms;
	int64_t said_ms; /* when the agent last said something */
	bool working;    /* a runner is at work */
	bool cut;        /* it is to end: an abort, or no output */
	bool idle;       /* the latter */
	int lost;        /* runners that were killed in the baseline */
	bool leaving;    /* TERM: the machine goes down, or somebody wants this process to */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For silence: a clock that is set does not end an agent. */
static int64_t steady_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A beat: whoever looks at the file knows that somebody is there. */
static void beat(struct supervisor *sup)
{
	struct error err;

	sup->heartbeat_ms = now_ms();
	if (report_state(sup->folder, &sup->state, sup->heartbeat_ms, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

/* Writes an event, then acts as if it had been read. Takes the data over. */
static int append(struct supervisor *sup, enum loop_event kind, json_t *data, struct error *err)
{
	AUTO_FREE char *text = json_dumps(data, JSON_COMPACT);
	struct store_event event = { .seq = sup->state.last_seq + 1,
				     .at_ms = now_ms(),
				     .kind = loop_event_name(kind),
				     .data = text };

	json_decref(data);
	if (!text)
		return error_set(err, "an event could not be written as JSON");
	if (store_append(sup->store, event.at_ms, event.kind, event.data, err) < 0 ||
	    loop_state_take(&sup->state, &event, err) < 0)
		return -1;
	beat(sup);
	return 0;
}

static json_t *obey(struct supervisor *sup, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "do"));
	struct error err;
	bool known = what && (strcmp(what, "pause") == 0 || strcmp(what, "abort") == 0 ||
			      strcmp(what, "reset") == 0);

	if (!known)
		return json_pack("{s:b, s:s}", "ok", 0, "error", "no such request");
	if (append(sup, LOOP_EVENT_asked, json_pack("{s:s}", "wish", what), &err) < 0)
		return json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	if (sup->working && strcmp(what, "abort") == 0) {
		sup->cut = true;
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

	for (int i = 0; client >= 0 && i < MOST_CLIENTS; i++) {
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
	if (!sup->working || sup->cut || !sup->state.options.idle_ms ||
	    sup->state.phase != LOOP_PHASE_agent)
		return most;
	return until(sup->said_ms + sup->state.options.idle_ms, steady_ms(), most);
}

static void watch_silence(struct supervisor *sup)
{
	if (silence_left(sup, 1) > 0)
		return;
	sup->cut = sup->idle = true;
	runner_stop(&sup->runner);
}

enum {
	WATCH_CONTROL,
	WATCH_SIGNALS,
	WATCH_FAREWELL,
	WATCH_OUTPUT,
	WATCH_COMPLAINTS,
	WATCH_RESULT,
	WATCHED
};

/* One round: waits for something to happen, at most until the given time. True when the runner has
 * ended. */
static bool attend(struct supervisor *sup, int64_t at_most_ms)
{
	struct pollfd watched[WATCHED + MOST_CLIENTS];
	int64_t now = now_ms();
	int wait = until(sup->heartbeat_ms + HEARTBEAT_MS, now, HEARTBEAT_MS);

	wait = silence_left(sup, until(at_most_ms, now, wait));
	watched[WATCH_CONTROL] = (struct pollfd){ .fd = sup->control, .events = POLLIN };
	watched[WATCH_SIGNALS] = (struct pollfd){ .fd = sup->signals, .events = POLLIN };
	watched[WATCH_FAREWELL] = (struct pollfd){ .fd = sup->farewell };
	watched[WATCH_OUTPUT] = (struct pollfd){ .fd = sup->working ? sup->output.fd : -1,
						 .events = POLLIN };
	watched[WATCH_COMPLAINTS] = (struct pollfd){ .fd = sup->working ? sup->complaints.fd : -1,
						     .events = POLLIN };
	watched[WATCH_RESULT] = (struct pollfd){ .fd = sup->working ? sup->runner.result : -1,
						 .events = POLLIN };
	for (int i = 0; i < MOST_CLIENTS; i++)
		watched[WATCHED + i] = (struct pollfd){ .fd = sup->clients[i], .events = POLLIN };
	if (poll(watched, WATCHED + MOST_CLIENTS, wait) < 0)
		return false;
	if (now_ms() - sup->heartbeat_ms >= HEARTBEAT_MS)
		beat(sup);
	if (watched[WATCH_SIGNALS].revents)
		take_signals(sup);
	if (watched[WATCH_FAREWELL].revents)
		replace_keeper(sup);
	if (watched[WATCH_CONTROL].revents)
		accept_client(sup);
	for (int i = 0; i < MOST_CLIENTS; i++)
		if (watched[WATCHED + i].revents)
			serve_client(sup, &sup->clients[i]);
	if (watched[WATCH_OUTPUT].revents || watched[WATCH_COMPLAINTS].revents)
		sup->said_ms = steady_ms();
	if (watched[WATCH_OUTPUT].revents)
		sink_serve(&sup->output);
	if (watched[WATCH_COMPLAINTS].revents)
		sink_serve(&sup->complaints);
	watch_silence(sup);
	return watched[WATCH_RESULT].revents != 0;
}

/* Runs a command line in the fence to its end, and answers others meanwhile. */
static int work(struct supervisor *sup, const char *command, const char *input, size_t size,
		int64_t timeout_ms, const char *folder, const char *name,
		struct runner_result *ret_result, struct error *err)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	AUTO_FREE char *out = mem_format("%s/%sstdout.log", folder, name);
	AUTO_FREE char *complaints = mem_format("%s/%sstderr.log", folder, name);
	struct fence_spec spec = sup->fence;

	spec.project = sup->state.options.project;
	spec.command = arguments;
	spec.limits[FENCE_LIMIT_TIME] = (uint64_t)timeout_ms;
	if (runner_start(&spec, sup->lock, input, size, &sup->runner, err) < 0)
		return -1;
	sink_open(&sup->output, sup->runner.output, out);
	sink_open(&sup->complaints, sup->runner.complaints, complaints);
	sup->working = true;
	sup->cut = sup->idle = false;
	sup->said_ms = steady_ms();
	while (!attend(sup, INT64_MAX))
		;
	runner_end(&sup->runner, ret_result);
	while (sup->output.fd >= 0 && sink_serve(&sup->output) && sup->output.fd >= 0 &&
	       poll(&(struct pollfd){ .fd = sup->output.fd, .events = POLLIN }, 1, 0) > 0)
		;
	while (sup->complaints.fd >= 0 && sink_serve(&sup->complaints) && sup->complaints.fd >= 0 &&
	       poll(&(struct pollfd){ .fd = sup->complaints.fd, .events = POLLIN }, 1, 0) > 0)
		;
	sup->working = false;
	return 0;
}

static void forget_output(struct supervisor *sup)
{
	sink_release(&sup->output);
	sink_release(&sup->complaints);
}

static int finish(struct supervisor *sup, const char *status, const char *reason, struct error *err)
{
	return append(sup, LOOP_EVENT_finished,
		      json_pack("{s:s, s:o}", "status", status, "reason", report_text(reason)),
		      err);
}

/* A fence that does not hold ends everything: that is no verdict on the work. */
static int finish_unfenced(struct supervisor *sup, const char *why, struct error *err)
{
	return append(sup, LOOP_EVENT_finished,
		      json_pack("{s:s, s:o, s:b}", "status", "failed", "reason", report_text(why),
				"fence_failed", 1),
		      err);
}

/* What was under way does not count. In the baseline nothing was. */
static int interrupt(struct supervisor *sup, struct error *err)
{
	if (sup->state.phase == LOOP_PHASE_baseline && ++sup->lost < MOST_LOST)
		return 0;
	if (sup->state.phase == LOOP_PHASE_baseline)
		return finish_unfenced(sup,
				       "the process that holds the fence is killed again and again",
				       err);
	return append(sup, LOOP_EVENT_interrupted, judge_interrupted(&sup->state, now_ms()), err);
}

/* After a run in the fence: what ended the loop, or this try? True if something did. */
static bool was_cut(struct supervisor *sup, const struct runner_result *result, int *ret_result,
		    struct error *err)
{
	*ret_result = 0;
	if (sup->leaving)
		return true;
	if (sup->cut && !sup->idle)
		*ret_result = finish(sup, "aborted", "by a person", err);
	else if (result->lost)
		*ret_result = interrupt(sup, err);
	else if (result->kind == FENCE_SETUP)
		*ret_result = finish_unfenced(sup, result->why, err);
	else
		return false;
	return true;
}

/* The folder of an iteration, made; the caller frees. NULL with err set. */
static char *iteration_folder(const struct supervisor *sup, uint32_t iteration, uint32_t attempt,
			      struct error *err)
{
	char *folder = attempt > 1
			       ? mem_format("%s/iterations/%u.%u", sup->folder, iteration, attempt)
			       : mem_format("%s/iterations/%u", sup->folder, iteration);

	if (make_folders(folder, 0700) == 0)
		return folder;
	error_sys(err, "make '%s'", folder);
	free(folder);
	return NULL;
}

/* One check, recorded. */
static int run_check(struct supervisor *sup, size_t index, const char *folder, struct error *err)
{
	const char *command = sup->state.options.checks.items[index];
	AUTO_FREE char *name = mem_format("check-%zu.", index + 1);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	struct runner_result result;
	json_t *data;
	int ended;

	if (sup->state.wish ==
	    LOOP_WISH_ABORT) /* written down by a supervisor that was killed then */
		return finish(sup, "aborted", "by a person", err);
	if (work(sup, command, "", 0, sup->state.options.check_timeout_ms, folder, name, &result,
		 err) < 0)
		return -1;
	sink_text(&sup->output, &text);
	sink_text(&sup->complaints, &text);
	forget_output(sup);
	if (was_cut(sup, &result, &ended, err))
		return ended;
	data = judge_check(index, command, &result, buffer_text(&text), text.used);
	return append(sup, LOOP_EVENT_checked, data, err);
}

static int baseline(struct supervisor *sup, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *folder = iteration_folder(sup, 0, 1, err);
	struct guard_snapshot snapshot;

	if (!folder)
		return -1;
	while (sup->state.phase == LOOP_PHASE_baseline && !sup->leaving &&
	       sup->state.checks_done < options->checks.count)
		if (run_check(sup, sup->state.checks_done, folder, err) < 0)
			return -1;
	if (sup->state.phase != LOOP_PHASE_baseline || sup->leaving)
		return 0;
	if (survey_take(sup->memory, options->project, &sup->before, err) < 0)
		return -1;
	judge_snapshot(&sup->state, &sup->before, &snapshot);
	if (append(sup, LOOP_EVENT_baselined,
		   json_pack("{s:o}", "snapshot", loop_snapshot_json(&snapshot)), err) < 0)
		return -1;
	if (judge_done_already(&sup->state))
		return finish(sup, "completed", "everything holds already; nothing was started",
			      err);
	return 0;
}

/* Between iterations: may another one begin? */
static int begin(struct supervisor *sup, struct error *err)
{
	struct guard_decision decision;
	uint32_t iteration = sup->state.used + 1;
	uint32_t attempt = sup->state.iteration == iteration ? sup->state.attempt + 1 : 1;

	if (sup->state.wish == LOOP_WISH_ABORT)
		return finish(sup, "aborted", "by a person", err);
	if (sup->state.wish == LOOP_WISH_PAUSE)
		return append(sup, LOOP_EVENT_paused,
			      json_pack("{s:s}", "reason", "by a person (ringfence resume)"), err);
	judge_before(&sup->state, now_ms(), &decision);
	if (decision.action == GUARD_LIMIT || decision.action == GUARD_FAILED)
		return finish(sup, decision.action == GUARD_LIMIT ? "limit" : "failed",
			      decision.reasons[0], err);
	if (decision.action == GUARD_PAUSE)
		return append(sup, LOOP_EVENT_paused,
			      json_pack("{s:s}", "reason", decision.reasons[0]), err);
	if (survey_take(sup->memory, sup->state.options.project, &sup->before, err) < 0)
		return -1;
	return append(sup, LOOP_EVENT_begun,
		      json_pack("{s:i, s:i, s:s, s:o}", "iteration", (int)iteration, "attempt",
				(int)attempt, "tree", sup->before.tree, "head",
				report_text(sup->before.head)),
		      err);
}

static int run_agent(struct supervisor *sup, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer final = BUFFER_INIT(FINAL_BYTES + 1);
	struct runner_result result;
	int ended;

	if (!folder)
		return -1;
	prompt_write(&sup->state, now_ms(), &prompt);
	if (place_write(folder, "prompt.md", prompt.data, prompt.used, err) < 0 ||
	    report_survey(folder, "before.json", &sup->before, err) < 0 ||
	    work(sup, options->agent_command, prompt.data, prompt.used, options->timeout_ms, folder,
		 "", &result, err) < 0)
		return -1;
	sink_last(&sup->output, FINAL_BYTES, &final);

	uint64_t bytes = sup->output.bytes + sup->complaints.bytes;

	forget_output(sup);
	if (was_cut(sup, &result, &ended, err))
		return ended;
	return append(sup, LOOP_EVENT_ended,
		      judge_end(&result, sup->idle, bytes, buffer_text(&final), final.used), err);
}

static int decide(struct supervisor *sup, const char *folder, struct error *err)
{
	static const enum loop_event events[] = {
		[GUARD_DONE] = LOOP_EVENT_finished,   [GUARD_GO_ON] = LOOP_EVENT_continued,
		[GUARD_WAIT] = LOOP_EVENT_waits,      [GUARD_PAUSE] = LOOP_EVENT_paused,
		[GUARD_EARLY] = LOOP_EVENT_finished,  [GUARD_LIMIT] = LOOP_EVENT_finished,
		[GUARD_FAILED] = LOOP_EVENT_finished,
	};
	struct guard_decision decision;
	struct survey after;
	json_t *data;

	if (survey_take(sup->memory, sup->state.options.project, &after, err) < 0)
		return -1;
	judge_after(&sup->state, &after, now_ms(), &decision, &data);
	if (report_survey(folder, "after.json", &after, err) < 0 ||
	    report_json(folder, "analysis.json", data, err) < 0) {
		json_decref(data);
		return -1;
	}
	return append(sup, events[decision.action], data, err);
}

static int check_work(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *folder = iteration_folder(sup, sup->state.iteration, sup->state.attempt,
						  err);

	if (!folder)
		return -1;
	while (sup->state.phase == LOOP_PHASE_checks && !sup->leaving &&
	       sup->state.checks_done < sup->state.options.checks.count)
		if (run_check(sup, sup->state.checks_done, folder, err) < 0)
			return -1;
	if (sup->state.phase != LOOP_PHASE_checks || sup->leaving)
		return 0;
	return decide(sup, folder, err);
}

static int wait_out(struct supervisor *sup, struct error *err)
{
	while (now_ms() < sup->state.wait_until_ms && sup->state.wish == LOOP_WISH_NONE &&
	       !sup->leaving)
		attend(sup, sup->state.wait_until_ms);
	return sup->leaving ? 0 : append(sup, LOOP_EVENT_waited, json_object(), err);
}

/* What is half done when a supervisor comes: it does not count. */
static int take_over(struct supervisor *sup, struct error *err)
{
	enum loop_phase phase = sup->state.phase;
	int64_t seen_ms = report_heartbeat_ms(sup->folder);
	int64_t down_ms = now_ms() -
			  (seen_ms > sup->state.phase_ms ? seen_ms : sup->state.phase_ms);

	if (append(sup, LOOP_EVENT_started,
		   json_pack("{s:i, s:I}", "pid", (int)getpid(), "down_ms",
			     (json_int_t)(down_ms > 2 * HEARTBEAT_MS ? down_ms : 0)),
		   err) < 0)
		return -1;
	if (phase != LOOP_PHASE_agent && phase != LOOP_PHASE_checks)
		return 0;
	return append(sup, LOOP_EVENT_interrupted, judge_interrupted(&sup->state, now_ms()), err);
}

static int go(struct supervisor *sup, struct error *err)
{
	if (sup->state.phase == LOOP_PHASE_finished || sup->state.phase == LOOP_PHASE_paused) {
		beat(sup); /* the one before was killed on its way out */
		return 0;
	}
	if (take_over(sup, err) < 0)
		return -1;
	while (!sup->leaving) {
		int result = 0;

		switch (sup->state.phase) {
		case LOOP_PHASE_baseline:
			result = baseline(sup, err);
			break;
		case LOOP_PHASE_ready:
			result = begin(sup, err);
			break;
		case LOOP_PHASE_agent:
			result = run_agent(sup, err);
			break;
		case LOOP_PHASE_checks:
			result = check_work(sup, err);
			break;
		case LOOP_PHASE_waiting:
			result = wait_out(sup, err);
			break;
		case LOOP_PHASE_paused:
			if (sup->state.wish != LOOP_WISH_ABORT)
				return 0;
			result = finish(sup, "aborted", "by a person", err);
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
	bool busy = true;

	for (int i = 0; i < LOCK_TRIES && busy; i++) {
		sup->lock = place_lock(sup->folder, &busy, err);
		if (sup->lock >= 0)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return -1;
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
	report_trouble(sup->folder, NULL);
	if (store_open(journal, STORE_WRITE, &sup->store, err) < 0 ||
	    loop_state_read(sup->store, &sup->state, err) < 0 ||
	    frozen_thaw(sup->state.options.fence, &sup->fence, err) < 0)
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
				  .runner = RUNNER_INIT };
	struct error err;
	int result;

	prctl(PR_SET_NAME, "ringfence-loop", 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (int i = 0; i < MOST_CLIENTS; i++)
		sup.clients[i] = -1;
	loop_state_init(&sup.state);
	sup.memory = survey_memory_new();
	result = open_all(&sup, &err) < 0 || go(&sup, &err) < 0 ? -1 : 0;
	if (result < 0) {
		fprintf(stderr, "%s\n", err.text);
		if (sup.lock >= 0) /* else another one is at work */
			report_trouble(folder, err.text);
	}
	if (sup.control >= 0) {
		AUTO_FREE char *path = path_join(folder, "control");

		unlink(path);
	}
	if (write(sup.farewell, "f", 1) < 0)
		errno = 0;
	for (int i = 0; i < MOST_CLIENTS; i++)
		fd_close(&sup.clients[i]);
	store_close(sup.store);
	fence_spec_release(&sup.fence);
	loop_state_release(&sup.state);
	survey_memory_free(sup.memory);
	return result < 0;
}
