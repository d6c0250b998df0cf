/* A loop in the foreground: see follow.h. */
#include "cli/view/follow.h"

#include "cli/loops.h"
#include "cli/view/estimate_text.h"
#include "cli/view/event_text.h"
#include "cli/view/interrupt.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "view/activity.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/*
 * Without events, the supervisor is checked every POLL_MS and given up after GONE_POLLS. The
 * agent's log is read every AGENT_POLL_MS; after QUIET_S without a line, its activity is printed.
 */
enum { POLL_MS = 1000, QUIET_S = 10, GONE_POLLS = 12, AGENT_POLL_MS = 200 };

struct follow {
	struct event_text view;
	int64_t seen; /* number of the last event printed */
	struct journal_mark read;
	char *activity; /* the last one printed */
	int inotify;    /* watches the loop's folder */
	int gone;       /* consecutive polls without a supervisor */
};

/* Prints the agent's current activity, if it has changed. */
static void print_activity(struct follow *follow)
{
	AUTO_FREE char *line = follow->view.agent.path ? NULL : activity_now(follow->view.loop);

	if (!line || (follow->activity && strcmp(follow->activity, line) == 0))
		return;
	free(follow->activity);
	follow->activity = mem_dup(line);
	if (follow->view.json)
		event_text_object(&follow->view,
				  json_pack("{s:s, s:i, s:o}", "event", "says", "iteration",
					    (int)follow->view.loop->state.iteration, "text",
					    client_text(line)));
	else
		event_text_print(&follow->view, "  ... %s", line);
}

static int print_event(void *context, const struct journal_event *event, struct error *err)
{
	struct follow *follow = context;

	(void)err;
	if (event->seq <= follow->seen)
		return 0;
	event_text_event(&follow->view, event);
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
	if (loop->state.step == LOOP_STEP_agent && time(NULL) - follow->view.at >= QUIET_S)
		print_activity(follow);
	/* The keeper restarts a supervisor that was killed. */
	follow->gone = loop->alive ? 0 : follow->gone + 1;
	return follow->gone > GONE_POLLS || (!loop->alive && loop->trouble);
}

static void wait_for_events(struct follow *follow)
{
	struct pollfd changed = { .fd = follow->inotify, .events = POLLIN };
	int left_ms = follow->gone ? POLL_MS / 4 : POLL_MS;
	char events[4096];

	for (; left_ms > 0 && !interrupt_is_pending(); left_ms -= AGENT_POLL_MS) {
		if (poll(&changed, 1, follow->view.agent.path ? AGENT_POLL_MS : left_ms) > 0 &&
		    read(follow->inotify, events, sizeof events) >= 0)
			return;
		agent_text_poll(&follow->view.agent);
		if (!follow->view.agent.path)
			return;
	}
}

/* Asks the user and carries out the answer. Returns true to detach. */
static bool handle_interrupt(struct follow *follow)
{
	const char *id = follow->view.loop->id;
	char answer = interrupt_ask("the loop", follow->view.json);
	struct error err;

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
	if (!loop->damaged && loop->state.step == LOOP_STEP_finished && loop->state.iteration)
		event_text_paint(
			&follow->view, COLOR_DIM, "ringfence diff shows what changed, %s%s",
			loop->state.options.draft
				? "apply takes it over; until then your project is unchanged"
				: "rollback undoes it",
			loop->state.git_ref && !loop->state.options.draft
				? ", apply brings the commits into your branch"
				: "");
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

int follow_loop(struct client_loop *loop, int64_t after, bool json)
{
	struct follow follow = { .seen = after };
	struct error err;
	bool detached = false;
	int code;

	event_text_begin(&follow.view, loop, json);
	follow.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (follow.inotify >= 0)
		inotify_add_watch(follow.inotify, loop->folder, IN_MOVED_TO | IN_DELETE);
	interrupt_catch();
	while (!detached && !catch_up(&follow, &err)) {
		wait_for_events(&follow);
		detached = interrupt_is_pending() && handle_interrupt(&follow);
	}
	code = detached ? LOOPS_INTERRUPTED : conclude(&follow, &err);
	/* Return only after the last process of the loop is gone. */
	if (!detached &&
	    (loop->state.step == LOOP_STEP_finished || loop->state.step == LOOP_STEP_paused))
		client_wait_gone(loop, POLL_MS);
	if (json) {
		client_refresh(loop);
		print_result(&follow, code);
	}
	event_text_end(&follow.view);
	fd_close(&follow.inotify);
	free(follow.activity);
	return code;
}
