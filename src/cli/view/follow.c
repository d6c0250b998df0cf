/* A loop in the foreground: see follow.h. */
#include "cli/view/follow.h"

#include "cli/loops.h"
#include "cli/view/activity.h"
#include "cli/view/event_text.h"
#include "util/fd.h"
#include "util/mem.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/* Without news, whether somebody is still there is looked at this often, and what the agent says. */
enum { LOOK_MS = 1000, SPEAK_S = 10, GONE_LOOKS = 12, LIVE_MS = 200 };

struct follow {
	struct event_text tale;
	int64_t seen; /* the last event that was told */
	char *last;   /* what the agent said last */
	int news;     /* of the loop's folder */
	int gone;     /* how often nobody was there */
};

static volatile sig_atomic_t interrupts; /* by Ctrl-C */
static volatile sig_atomic_t told_to_go; /* TERM, or the terminal is gone: nobody is asked */

static void count_interrupt(int number)
{
	if (number == SIGINT)
		interrupts++;
	else
		told_to_go = 1;
}

/* What the agent does now, if that is news. */
static void tell_last(struct follow *follow)
{
	AUTO_FREE char *line = follow->tale.live.path ? NULL : activity_now(follow->tale.loop);

	if (!line || (follow->last && strcmp(follow->last, line) == 0))
		return;
	free(follow->last);
	follow->last = mem_dup(line);
	if (follow->tale.json)
		event_text_object(&follow->tale,
				  json_pack("{s:s, s:i, s:o}", "event", "says", "iteration",
					    (int)follow->tale.loop->state.iteration, "text",
					    client_text(line)));
	else
		event_text_tell(&follow->tale, "  ... %s", line);
}

static int tell_event(void *context, const struct journal_event *event, struct error *err)
{
	struct follow *follow = context;

	(void)err;
	event_text_event(&follow->tale, event);
	follow->seen = event->seq;
	return 0;
}

/* Tells what is new. True when there is nothing more to come. */
static bool catch_up(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->tale.loop;

	client_look(loop);
	if (loop->damaged || client_events(loop, follow->seen, tell_event, follow, err) < 0)
		return true;
	if (loop->state.phase == LOOP_PHASE_finished || loop->state.phase == LOOP_PHASE_paused)
		return loop->state.wish != LOOP_WISH_ABORT;
	if (loop->state.phase == LOOP_PHASE_agent && time(NULL) - follow->tale.at >= SPEAK_S)
		tell_last(follow);
	/* A supervisor that was killed is there again in a moment. */
	follow->gone = loop->alive ? 0 : follow->gone + 1;
	return follow->gone > GONE_LOOKS || (!loop->alive && loop->trouble);
}

static void wait_for_news(struct follow *follow)
{
	struct pollfd news = { .fd = follow->news, .events = POLLIN };
	int left_ms = follow->gone ? LOOK_MS / 4 : LOOK_MS;
	char events[4096];

	for (; left_ms > 0 && !interrupts && !told_to_go; left_ms -= LIVE_MS) {
		if (poll(&news, 1, follow->tale.live.path ? LIVE_MS : left_ms) > 0 &&
		    read(follow->news, events, sizeof events) >= 0)
			return;
		agent_text_look(&follow->tale.live);
		if (!follow->tale.live.path)
			return;
	}
}

/* Waits for a key or a signal. One that comes before the wait ends it as well: until then they are held back. */
static bool await_key(void)
{
	struct pollfd keys = { .fd = 0, .events = POLLIN };
	sigset_t held;
	sigset_t before;
	int ready = 0;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, &before);
	if (interrupts < 2 && !told_to_go)
		ready = ppoll(&keys, 1, NULL, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready > 0;
}

/* What to do after Ctrl-C: 'd', 'p' or 'a'. A second one aborts. */
static char ask_person(const struct follow *follow)
{
	char answer[16] = "";
	ssize_t n;

	if (told_to_go || follow->tale.json || !isatty(0) || !isatty(1))
		return 'd';
	printf("\nDetach (it goes on in the background), pause or abort? [D/p/a, Ctrl-C: abort] ");
	fflush(stdout);
	n = await_key() ? read(0, answer, sizeof answer - 1) : 0;
	if (n <= 0)
		puts(""); /* no key has ended the line */
	if (interrupts > 1)
		return 'a';
	interrupts = 0;
	return n <= 0 || answer[0] == '\n' ? 'd' : answer[0];
}

/* True if the person goes. */
static bool obey_person(struct follow *follow)
{
	const char *id = follow->tale.loop->id;
	char answer = ask_person(follow);
	struct error err;

	interrupts = 0;
	if (answer == 'p' || answer == 'a') {
		if (client_ask(follow->tale.loop, answer == 'p' ? "pause" : "abort", false, &err) <
		    0)
			cli_fail(&err);
		else
			event_text_tell(&follow->tale,
					answer == 'p' ? "pauses when the iteration has ended"
						      : "aborts");
		return false;
	}
	if (answer != 'd')
		return false;
	event_text_tell(
		&follow->tale,
		"the loop %s goes on in the background (ringfence logs -f %s, pause, abort)", id,
		id);
	return true;
}

static int conclude(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->tale.loop;
	AUTO_FREE char *reason = client_reason(loop);

	if (loop->damaged || strcmp(client_status(loop), "interrupted") == 0) {
		error_set(err, "%s: %s", client_status(loop), reason ? reason : "");
		cli_fail(err);
	}
	if (!loop->damaged && loop->state.phase == LOOP_PHASE_paused)
		event_text_tell(&follow->tale, "to go on: ringfence resume %s", loop->id);
	/* What a person does next, where something was done. */
	if (!loop->damaged && loop->state.phase == LOOP_PHASE_finished && loop->state.iteration)
		event_text_paint(&follow->tale, COLOR_DIM,
				 "ringfence diff shows what changed, rollback undoes it%s",
				 loop->state.git_ref
					 ? ", apply brings what was committed into your branch"
					 : "");
	return loops_exit_code(loop);
}

/* The last line: how it stands, and the exit status. */
static void tell_result(struct follow *follow, int code)
{
	json_t *line = json_pack("{s:s, s:i}", "event", "result", "exit_status", code);
	json_t *loop = client_json(follow->tale.loop);

	json_object_update(line, loop);
	json_decref(loop);
	event_text_object(&follow->tale, line);
}

int follow_loop(struct client_loop *loop, int64_t after, bool json)
{
	struct follow follow = { .seen = after };
	struct sigaction action = { .sa_handler = count_interrupt };
	struct error err;
	bool left = false;
	int code;

	event_text_begin(&follow.tale, loop, json);
	follow.news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (follow.news >= 0)
		inotify_add_watch(follow.news, loop->folder, IN_MOVED_TO | IN_DELETE);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	while (!left && !catch_up(&follow, &err)) {
		wait_for_news(&follow);
		left = (interrupts || told_to_go) && obey_person(&follow);
	}
	code = left ? LOOPS_INTERRUPTED : conclude(&follow, &err);
	/* The last words are said when the last process is gone. */
	if (!left &&
	    (loop->state.phase == LOOP_PHASE_finished || loop->state.phase == LOOP_PHASE_paused))
		client_wait_gone(loop, LOOK_MS);
	if (json) {
		client_look(loop);
		tell_result(&follow, code);
	}
	event_text_end(&follow.tale);
	fd_close(&follow.news);
	free(follow.last);
	return code;
}
