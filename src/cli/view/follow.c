/* A loop in the foreground: see follow.h. */
#include "cli/view/follow.h"

#include "cli/loops.h"
#include "cli/view/estimate_text.h"
#include "cli/view/event_print.h"
#include "cli/view/interrupt.h"
#include "cli/view/live.h"
#include "cli/view/live_text.h"
#include "cli/view/page.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/activity.h"
#include "view/view_limits.h"
#include "view/view_now.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/*
 * Without events, the supervisor is checked every POLL_MS and given up after GONE_POLLS. The
 * agent's output is read every TICK_MS, and the live region drawn. For programs, after QUIET_S
 * without a line, the activity of an agent that prints plain text is printed.
 */
enum {
	POLL_MS = 1000,
	QUIET_S = 10,
	GONE_POLLS = 12,
	TICK_MS = 200,
	SPIN_MS = 400,
	HEARTBEAT_MS = 60000, /* the default */
};

struct follow {
	struct event_text view;
	struct live live;
	struct view_now now; /* as of the last refresh */
	struct view_limits limits;
	int64_t heartbeat_ms;
	int64_t seen; /* number of the last event printed */
	struct journal_mark read;
	char *activity; /* the last one printed */
	int inotify;    /* watches the loop's folder */
	int gone;       /* consecutive polls without a supervisor */
};

/* Prints the agent's current activity for programs, if it has changed. */
static void print_activity(struct follow *follow)
{
	AUTO_FREE char *line = follow->view.agent.path ? NULL : activity_now(follow->view.loop);

	if (!line || (follow->activity && strcmp(follow->activity, line) == 0))
		return;
	free(follow->activity);
	follow->activity = mem_dup(line);
	event_text_object(&follow->view, json_pack("{s:s, s:i, s:o}", "event", "says", "iteration",
						   (int)follow->view.loop->state.iteration, "text",
						   client_text(line)));
}

/* Reads what happens now. */
static void look(struct follow *follow)
{
	view_now_release(&follow->now);
	view_now_read(follow->view.loop, &follow->now);
	view_limits_read(follow->view.loop, clock_wall_ms(), &follow->limits);
}

static struct live_text picture_of(const struct follow *follow)
{
	return (struct live_text){ .now = &follow->now,
				   .limits = &follow->limits,
				   .now_ms = clock_wall_ms(),
				   .width = page_width(),
				   .spin = (unsigned)(clock_steady_ms() / SPIN_MS),
				   .utf8 = env_is_utf8(),
				   .color = color_wanted() };
}

static void draw(struct follow *follow)
{
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(1 << 14);
	struct live_text text = picture_of(follow);

	if (!follow->live.on || live_wait_ms(&follow->live) > 0)
		return;
	live_drop_keys(&follow->live);
	if (text.width < LIVE_TEXT_NARROW) {
		live_hide(&follow->live);
		return;
	}
	view_limits_tick(&follow->limits, &follow->view.loop->state, text.now_ms);
	live_text_add(&text, &lines);
	live_draw(&follow->live, &lines);
}

/* Prints a line if nothing else has been printed for a while. */
static void beat(struct follow *follow)
{
	struct live_text text = picture_of(follow);

	if (follow->live.on || follow->view.json || follow->view.quiet || !follow->heartbeat_ms ||
	    (time(NULL) - follow->view.at) * 1000 < follow->heartbeat_ms)
		return;
	AUTO_FREE char *line = live_text_heartbeat(&text);

	event_text_paint(&follow->view, COLOR_DIM, "%s", line);
}

static int print_event(void *context, const struct journal_event *event, struct error *err)
{
	struct follow *follow = context;

	(void)err;
	if (event->seq <= follow->seen)
		return 0;
	event_print(&follow->view, event);
	follow->seen = event->seq;
	return 0;
}

/* Prints new events. Returns true when the loop has ended and no more will follow. */
static bool catch_up(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->view.loop;

	client_refresh(loop);
	if (loop->damaged || client_follow(loop, &follow->read, print_event, follow, err) < 0)
		return true;
	if (loop->state.step == LOOP_STEP_finished || loop->state.step == LOOP_STEP_paused)
		return loop->state.wish != LOOP_WISH_ABORT;
	if (follow->view.json && loop->state.step == LOOP_STEP_agent &&
	    time(NULL) - follow->view.at >= QUIET_S)
		print_activity(follow);
	/* The keeper restarts a supervisor that was killed. */
	follow->gone = loop->alive ? 0 : follow->gone + 1;
	return follow->gone > GONE_POLLS || (!loop->alive && loop->trouble);
}

/* Lets Ctrl-Z stop this process, with a clean terminal. */
static void handle_stop(struct follow *follow)
{
	if (interrupt_is_stop_pending()) {
		live_hide(&follow->live);
		interrupt_stop();
	}
	if (interrupt_was_continued())
		live_leave(&follow->live);
}

/* Waits, prints the agent's output, and draws. Returns true when the journal may have changed. */
static bool tick(struct follow *follow, int left_ms)
{
	struct pollfd changed = { .fd = follow->inotify, .events = POLLIN };
	bool ticks = follow->live.on || event_text_has_agent(&follow->view);
	char events[4096];

	if (poll(&changed, 1, ticks && left_ms > TICK_MS ? TICK_MS : left_ms) > 0 &&
	    read(follow->inotify, events, sizeof events) >= 0)
		return true;
	handle_stop(follow);
	if (event_text_poll(&follow->view) && follow->live.on)
		look(follow);
	draw(follow);
	return !ticks;
}

static void wait_for_events(struct follow *follow)
{
	int64_t until_ms = (int64_t)clock_steady_ms() + (follow->gone ? POLL_MS / 4 : POLL_MS);
	int64_t left_ms;

	while (!interrupt_is_pending() && (left_ms = until_ms - (int64_t)clock_steady_ms()) > 0)
		if (tick(follow, (int)left_ms))
			return;
}

/* Asks the user and carries out the answer. Returns true to detach. */
static bool handle_interrupt(struct follow *follow)
{
	const char *id = follow->view.loop->id;
	char answer;
	struct error err;

	live_drop_keys(&follow->live);
	live_hide(&follow->live);
	event_text_poll(&follow->view);
	answer = interrupt_ask("the loop", follow->view.json, follow->live.on);

	if (answer == 'p' || answer == 'a') {
		if (client_ask(follow->view.loop,
			       answer == 'p' ? CONTROL_REQUEST_pause : CONTROL_REQUEST_abort, false,
			       &err) < 0)
			cli_fail(&err);
		else
			event_text_print(&follow->view, answer == 'p'
								? "pausing when this iteration ends"
								: "aborting");
		return false;
	}
	if (answer != 'd')
		return false;
	event_text_leave(&follow->view);
	event_text_print(&follow->view,
			 "loop %s continues in the background (ringfence logs -f %s, pause, abort)",
			 id, id);
	return true;
}

/* Compares the cost of a loop that has ended with its estimate. */
static void print_comparison(struct follow *follow)
{
	const struct client_loop *loop = follow->view.loop;
	bool ended = !loop->damaged && loop->state.step == LOOP_STEP_finished;
	AUTO_FREE char *line = ended && loop->state.iteration ? estimate_text_compare(loop) : NULL;

	if (line)
		event_text_paint(&follow->view, COLOR_DIM, "%s", line);
}

/* Prints how to see and take over the result. */
static void print_next(struct follow *follow)
{
	const struct loop_state *state = &follow->view.loop->state;

	event_text_paint(&follow->view, COLOR_DIM, "ringfence diff shows what changed, %s%s",
			 state->options.draft
				 ? "apply takes it over; until then your project is unchanged"
				 : "rollback undoes it",
			 state->git_ref && !state->options.draft
				 ? ", apply brings the commits into your branch"
				 : "");
}

static int conclude(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->view.loop;
	AUTO_FREE char *reason = client_reason(loop);

	if (loop->damaged || strcmp(client_status(loop), "interrupted") == 0) {
		error_set(err, "%s: %s", client_status(loop), reason ? reason : "");
		cli_fail(err);
	}
	if (!loop->damaged && loop->state.step == LOOP_STEP_paused)
		event_text_print(&follow->view, "to continue: ringfence resume %s", loop->id);
	if (follow->view.quiet)
		return loops_exit_code(loop);
	if (!loop->damaged && loop->state.step == LOOP_STEP_finished && loop->state.iteration)
		print_next(follow);
	print_comparison(follow);
	return loops_exit_code(loop);
}

/* Prints the last object: the loop's status and the exit status. */
static void print_result(struct follow *follow, int code)
{
	json_t *line = json_pack("{s:s, s:i}", "event", "result", "exit_status", code);
	json_t *loop = client_json(follow->view.loop);

	json_object_update(line, loop);
	json_decref(loop);
	event_text_object(&follow->view, line);
}

int follow_read(struct follow_options *options, const char *heartbeat, struct error *err)
{
	uint64_t ms = HEARTBEAT_MS;

	if (options->quiet && (options->json || options->verbose))
		return error_set(err, "--quiet and --%s cannot be used together",
				 options->json ? "json" : "verbose");
	if (heartbeat && strcmp(heartbeat, "0") == 0)
		ms = 0;
	else if (heartbeat && text_duration_ms(heartbeat, &ms) < 0)
		return error_set(err,
				 "--heartbeat must be a duration such as 30s, or 0, not '%.100s'",
				 heartbeat);
	options->heartbeat_ms = (int64_t)ms;
	return 0;
}

static void begin(struct follow *follow, struct client_loop *loop,
		  const struct follow_options *options)
{
	event_text_begin(&follow->view, loop, options->json);
	follow->view.quiet = options->quiet;
	follow->view.verbose = options->verbose;
	live_begin(&follow->live);
	follow->live.on = follow->live.on && !options->json && !options->quiet;
	follow->view.live = &follow->live;
	follow->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (follow->inotify >= 0)
		inotify_add_watch(follow->inotify, loop->folder, IN_MOVED_TO | IN_DELETE);
	if (options->after)
		event_text_join(&follow->view);
	interrupt_catch();
}

static void end(struct follow *follow)
{
	event_text_end(&follow->view);
	live_end(&follow->live);
	view_now_release(&follow->now);
	fd_close(&follow->inotify);
	free(follow->activity);
}

/* Follows until the loop stops. Returns true if the user has detached. */
static bool follow_on(struct follow *follow, struct error *err)
{
	bool detached = false;

	while (!detached && !catch_up(follow, err)) {
		look(follow);
		beat(follow);
		draw(follow);
		wait_for_events(follow);
		detached = interrupt_is_pending() && handle_interrupt(follow);
	}
	live_hide(&follow->live);
	return detached;
}

int follow_loop(struct client_loop *loop, const struct follow_options *options)
{
	struct follow follow = { .seen = options->after, .heartbeat_ms = options->heartbeat_ms };
	struct error err;
	bool detached;
	int code;

	begin(&follow, loop, options);
	detached = follow_on(&follow, &err);
	code = detached ? LOOPS_INTERRUPTED : conclude(&follow, &err);
	/* Return only after the last process of the loop is gone. */
	if (!detached &&
	    (loop->state.step == LOOP_STEP_finished || loop->state.step == LOOP_STEP_paused))
		client_wait_gone(loop, POLL_MS);
	if (options->json) {
		client_refresh(loop);
		print_result(&follow, code);
	}
	end(&follow);
	return code;
}
