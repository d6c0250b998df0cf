/* A loop in the foreground: see follow.h. */
#include "cli/follow.h"

#include "cli/doing.h"
#include "cli/live.h"
#include "cli/loops.h"
#include "cli/models.h"
#include "cli/page.h"
#include "cli/paint.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/* Without news, whether somebody is still there is looked at this often, and what the agent says. */
enum { LOOK_MS = 1000, SPEAK_S = 10, GONE_LOOKS = 12, LIVE_MS = 200 };

struct follow {
	struct client_loop *loop;
	bool json;
	int64_t seen;   /* the last event that was told */
	time_t told_at; /* when something was said last */
	char *last;     /* what the agent said last */
	int news;       /* of the loop's folder */
	int gone;       /* how often nobody was there */
	bool stops;     /* somebody has asked for a pause or an end */
	struct live live;
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

/* One object, one line. Takes it over. */
static void tell_object(struct follow *follow, json_t *object)
{
	loops_print_line(object);
	follow->told_at = time(NULL);
}

/* An event of the journal, for programs. Takes the data over. */
static void tell_raw(struct follow *follow, const struct store_event *event, json_t *data)
{
	static const char *const inner[] = { "breakers", "snapshot", "excerpt", "reflection" };
	json_t *line = json_pack("{s:s, s:I, s:I}", "event", event->kind, "seq",
				 (json_int_t)event->seq, "at_ms", (json_int_t)event->at_ms);

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		json_object_del(data, inner[i]);
	if (json_object_get(data, "config")) { /* what was asked for is known to who asked */
		json_object_clear(data);
		json_object_set_new(data, "id", json_string(follow->loop->id));
		json_object_set_new(data, "project",
				    json_string(follow->loop->state.options.project));
	}
	json_object_update_missing(line, data);
	json_decref(data);
	tell_object(follow, line);
}

static __attribute__((format(printf, 3, 4))) void paint(struct follow *follow, enum paint colour,
							const char *format, ...)
{
	char text[4096];
	va_list arguments;

	if (follow->json)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	page_tell(colour, text, (int)strspn(text, " ") + 2);
	follow->told_at = time(NULL);
}

#define tell(follow, ...) paint(follow, PAINT_PLAIN, __VA_ARGS__)

static const char *text_of(const json_t *data, const char *key)
{
	const char *text = json_string_value(json_object_get(data, key));

	return text ? text : "";
}

static int number_of(const json_t *data, const char *key)
{
	return (int)json_integer_value(json_object_get(data, key));
}

static void tell_begun(struct follow *follow, const json_t *data, int64_t at_ms)
{
	const struct loop_state *state = &follow->loop->state;
	const struct guard_limits *limits = &state->options.limits;
	AUTO_BUFFER struct buffer left = BUFFER_INIT(256);
	int64_t left_ms = limits->total_s * 1000 - (at_ms - state->created_ms - state->rested_ms);

	if (limits->iterations)
		buffer_printf(&left, " of %u", limits->iterations);
	if (number_of(data, "attempt") > 1)
		buffer_printf(&left, ", try %d", number_of(data, "attempt"));
	if (limits->total_s && left_ms > 60000) {
		buffer_add_text(&left, ", time left ");
		text_add_duration(&left, (uint64_t)left_ms / 60000 * 60000);
	}
	if (state->spent_nusd)
		buffer_printf(&left, ", US$ %.2f %s", (double)state->spent_nusd / 1e9,
			      state->options.replay ? "replayed" : "spent");
	if (state->spent_nusd && limits->cost_nusd)
		buffer_printf(&left, " of %.2f", (double)limits->cost_nusd / 1e9);
	paint(follow, PAINT_BOLD, "iteration %d%s: the agent works", number_of(data, "iteration"),
	      buffer_text(&left));
}

static uint64_t amount_of(const json_t *data, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(data, key));
}

/* Who counted, and what the other one says: agents have prices of their own, and forget their children. */
static void tell_cost(struct follow *follow, const json_t *data)
{
	const json_t *metered = json_object_get(data, "metered");
	const struct models_use use = { .requests = amount_of(metered, "requests"),
					.free_requests = amount_of(metered, "free_requests"),
					.input = amount_of(metered, "input"),
					.output = amount_of(metered, "output"),
					.cost_nusd = amount_of(data, "cost_nusd"),
					.replay =
						json_is_true(json_object_get(metered, "replay")) };
	AUTO_FREE char *words = metered ? models_cost_words(&use) : NULL;
	uint64_t said = amount_of(data, "agent_cost_nusd");

	if (words && said && said != use.cost_nusd)
		tell(follow, "  %s; the agent says US$ %.4f", words, (double)said / 1e9);
	else if (words)
		tell(follow, "  %s", words);
	else if (!metered && use.cost_nusd)
		tell(follow, "  the agent says that this cost US$ %.4f",
		     (double)use.cost_nusd / 1e9);
}

/* What the fence has refused, and what it has put aside; the first of each by name. */
static void tell_found(struct follow *follow, const json_t *data)
{
	const json_t *denied = json_object_get(data, "denied");
	const json_t *aside = json_object_get(data, "put_aside");
	int denials = number_of(data, "denials") ? number_of(data, "denials")
						 : (int)json_array_size(denied);
	size_t index;
	const json_t *entry;

	if (denials)
		paint(follow, PAINT_RED, "  denied by the fence: %d (ringfence suggest)", denials);
	json_array_foreach(denied, index, entry)
		paint(follow, PAINT_RED, "    %s %.300s", text_of(entry, "kind"),
		      text_of(entry, "target"));
	if (json_array_size(aside))
		tell(follow, "  put aside, because the host would execute it: %d",
		     number_of(data, "quarantined"));
	json_array_foreach(aside, index, entry)
	{
		if (*text_of(entry, "kept"))
			tell(follow, "    %.300s -> %.500s", text_of(entry, "path"),
			     text_of(entry, "kept"));
		else
			tell(follow,
			     "    COULD NOT put %.300s aside: do not use this folder before it is gone",
			     text_of(entry, "path"));
	}
}

static void tell_ended(struct follow *follow, const json_t *data)
{
	double seconds = (double)json_integer_value(json_object_get(data, "duration_ms")) / 1000;
	int signal = number_of(data, "signal");
	const char *error = text_of(data, "error");
	const char *limit = text_of(data, "limit");

	tell_cost(follow, data);
	if (*error && strcmp(error, "none") != 0 && *text_of(data, "message") &&
	    !*text_of(data, "unreached")) /* that is told with what is done about it */
		tell(follow, "  the agent reports (%s): %.300s", error, text_of(data, "message"));
	if (json_is_true(json_object_get(data, "over_budget")))
		tell(follow, "  the agent was ended after %.1f s: it had spent what it may (%s)",
		     seconds, limit);
	else if (json_is_true(json_object_get(data, "timed_out")))
		tell(follow, "  the agent ran out of time after %.1f s (%s)", seconds, limit);
	else if (json_is_true(json_object_get(data, "idle")))
		tell(follow,
		     "  the agent was ended after %.1f s: it had printed nothing for too long (%s)",
		     seconds, limit);
	else if (signal)
		tell(follow, "  the agent was killed by signal %d after %.1f s", signal, seconds);
	else
		tell(follow, "  the agent ended with status %d after %.1f s",
		     number_of(data, "code"), seconds);
	if (*text_of(data, "not_recorded"))
		tell(follow, "  %s", text_of(data, "not_recorded"));
	tell_found(follow, data);
}

/* Only what a person should know. */
static void tell_checkpointed(struct follow *follow, const json_t *data)
{
	const json_t *left = json_object_get(data, "not_kept");
	const json_t *first = json_array_get(left, 0);

	if (json_object_get(data, "error"))
		tell(follow, "  a checkpoint could not be taken: %s", text_of(data, "error"));
	if (json_object_get(data, "notice"))
		tell(follow, "  checkpoint: %s", text_of(data, "notice"));
	if (json_is_true(json_object_get(data, "recovered")))
		tell(follow, "  a rollback that was cut off was finished first");
	if (first && number_of(data, "number") == 0)
		tell(follow, "  %zu not in checkpoint 0 (%s: %s); a rollback leaves them alone",
		     json_array_size(left), text_of(first, "path"), text_of(first, "why"));
}

static void tell_git(struct follow *follow, const json_t *data)
{
	if (strcmp(text_of(data, "mode"), "read-only") == 0)
		tell(follow, "  git only reads inside: %s", text_of(data, "why"));
	else if (*text_of(data, "why"))
		tell(follow, "  %s", text_of(data, "why"));
	else if (json_is_true(json_object_get(data, "submodules")))
		tell(follow, "  git of submodules only reads inside");
}

static void tell_imported(struct follow *follow, const json_t *data)
{
	const char *ref = text_of(data, "ref");
	const char *branch = text_behind(ref, "refs/heads/");
	size_t index;
	json_t *entry;

	if (json_object_get(data, "error"))
		tell(follow, "  what was committed did not come in: %s", text_of(data, "error"));
	if (number_of(data, "refs") > 0 && *ref)
		tell(follow, "  committed: %s is %.10s", branch ? branch : ref,
		     text_of(data, "commit"));
	json_array_foreach(json_object_get(data, "refused"), index, entry)
		tell(follow, "  not committed: %s", json_string_value(entry));
}

static void tell_checked(struct follow *follow, const json_t *data)
{
	const char *word = json_is_true(json_object_get(data, "vacuous"))  ? "ran nothing: no pass"
			   : json_is_true(json_object_get(data, "passed")) ? "passes"
									   : "fails";

	if (json_is_true(json_object_get(data, "passed")))
		paint(follow, PAINT_GREEN, "  check '%s' %s", text_of(data, "command"), word);
	else if (*text_of(data, "limit"))
		tell(follow, "  check '%s' ran out of time (%s)", text_of(data, "command"),
		     text_of(data, "limit"));
	else
		paint(follow, PAINT_RED, "  check '%s' %s (status %d)%s", text_of(data, "command"),
		      word, number_of(data, "code"),
		      json_is_true(json_object_get(data, "new"))
			      ? "; before the first iteration it passed"
			      : "");
	tell_found(follow, data);
}

static void tell_data(struct follow *follow, int kind, const json_t *data, int64_t at_ms)
{
	time_t until = (time_t)(json_integer_value(json_object_get(data, "until_ms")) / 1000);
	char clock[32] = "";
	struct tm parts;

	if (localtime_r(&until, &parts))
		strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S", &parts);
	if (loops_failure_words(data))
		tell(follow, "  %s", loops_failure_words(data));
	switch (kind) {
	case LOOP_EVENT_checked:
		tell_checked(follow, data);
		break;
	case LOOP_EVENT_checkpointed:
		tell_checkpointed(follow, data);
		break;
	case LOOP_EVENT_git:
		tell_git(follow, data);
		break;
	case LOOP_EVENT_imported:
		tell_imported(follow, data);
		break;
	case LOOP_EVENT_begun:
		tell_begun(follow, data, at_ms);
		live_begin(&follow->live, follow->loop, number_of(data, "iteration"),
			   number_of(data, "attempt"));
		break;
	case LOOP_EVENT_ended:
		live_end(&follow->live);
		tell_ended(follow, data);
		break;
	case LOOP_EVENT_interrupted:
		live_end(&follow->live);
		tell(follow, "  iteration %d was interrupted; it does not count",
		     number_of(data, "iteration"));
		break;
	case LOOP_EVENT_continued:
		tell(follow, "  %s%s", follow->stops ? "" : "goes on: ", text_of(data, "reason"));
		break;
	case LOOP_EVENT_asked:
		follow->stops |= strcmp(text_of(data, "wish"), "reset") != 0;
		break;
	case LOOP_EVENT_resumed:
		follow->stops = false;
		break;
	case LOOP_EVENT_waits:
		tell(follow, "  waits until %s: %s", clock, text_of(data, "reason"));
		break;
	case LOOP_EVENT_paused:
		tell(follow, "paused: %s", text_of(data, "reason"));
		break;
	case LOOP_EVENT_finished:
		if (*text_of(data, "uncommitted"))
			tell(follow, "  %s", text_of(data, "uncommitted"));
		paint(follow, PAINT_BOLD, "%s: %s",
		      json_is_true(json_object_get(data, "refused")) ? "refused"
								     : text_of(data, "status"),
		      text_of(data, "reason"));
		break;
	default:
		break;
	}
}

static int tell_event(void *context, const struct store_event *event, struct error *err)
{
	struct follow *follow = context;
	json_t *data = json_loads(event->data, 0, NULL);

	(void)err;
	if (follow->json) {
		tell_raw(follow, event, data);
	} else {
		tell_data(follow, loop_event_find(event->kind), data, event->at_ms);
		json_decref(data);
	}
	follow->seen = event->seq;
	return 0;
}

static void tell_line(void *context, enum paint colour, const char *line, int indent)
{
	struct follow *follow = context;

	if (follow->json)
		return;
	page_tell(colour, line, indent);
	follow->told_at = time(NULL);
}

/* What the agent does now, if that is news. */
static void tell_last(struct follow *follow)
{
	AUTO_FREE char *line = follow->live.path ? NULL : doing_now(follow->loop);

	if (!line || (follow->last && strcmp(follow->last, line) == 0))
		return;
	free(follow->last);
	follow->last = mem_dup(line);
	if (follow->json)
		tell_object(follow, json_pack("{s:s, s:i, s:o}", "event", "says", "iteration",
					      (int)follow->loop->state.iteration, "text",
					      client_text(line)));
	else
		tell(follow, "  ... %s", line);
}

/* Tells what is new. True when there is nothing more to come. */
static bool catch_up(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->loop;

	client_look(loop);
	if (loop->damaged || client_events(loop, follow->seen, tell_event, follow, err) < 0)
		return true;
	if (loop->state.phase == LOOP_PHASE_finished || loop->state.phase == LOOP_PHASE_paused)
		return loop->state.wish != LOOP_WISH_ABORT;
	if (loop->state.phase == LOOP_PHASE_agent && time(NULL) - follow->told_at >= SPEAK_S)
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
		if (poll(&news, 1, follow->live.path ? LIVE_MS : left_ms) > 0 &&
		    read(follow->news, events, sizeof events) >= 0)
			return;
		live_look(&follow->live);
		if (!follow->live.path)
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

	if (told_to_go || follow->json || !isatty(0) || !isatty(1))
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
	const char *id = follow->loop->id;
	char answer = ask_person(follow);
	struct error err;

	interrupts = 0;
	if (answer == 'p' || answer == 'a') {
		if (client_ask(follow->loop, answer == 'p' ? "pause" : "abort", false, &err) < 0)
			cli_fail(&err);
		else
			tell(follow,
			     answer == 'p' ? "pauses when the iteration has ended" : "aborts");
		return false;
	}
	if (answer != 'd')
		return false;
	tell(follow, "the loop %s goes on in the background (ringfence logs -f %s, pause, abort)",
	     id, id);
	return true;
}

static int conclude(struct follow *follow, struct error *err)
{
	struct client_loop *loop = follow->loop;
	AUTO_FREE char *reason = client_reason(loop);

	if (loop->damaged || strcmp(client_status(loop), "interrupted") == 0) {
		error_set(err, "%s: %s", client_status(loop), reason ? reason : "");
		cli_fail(err);
	}
	if (!loop->damaged && loop->state.phase == LOOP_PHASE_paused)
		tell(follow, "to go on: ringfence resume %s", loop->id);
	/* What a person does next, where something was done. */
	if (!loop->damaged && loop->state.phase == LOOP_PHASE_finished && loop->state.iteration)
		paint(follow, PAINT_DIM, "ringfence diff shows what changed, rollback undoes it%s",
		      loop->state.git_ref ? ", apply brings what was committed into your branch"
					  : "");
	return loops_exit_code(loop);
}

/* The last line: how it stands, and the exit status. */
static void tell_result(struct follow *follow, int code)
{
	json_t *line = json_pack("{s:s, s:i}", "event", "result", "exit_status", code);
	json_t *loop = client_json(follow->loop);

	json_object_update(line, loop);
	json_decref(loop);
	tell_object(follow, line);
}

int follow_loop(struct client_loop *loop, int64_t after, bool json)
{
	struct follow follow = { .loop = loop,
				 .json = json,
				 .seen = after,
				 .told_at = time(NULL),
				 .stops = loop->state.wish != LOOP_WISH_NONE };
	struct sigaction action = { .sa_handler = count_interrupt };
	struct error err;
	bool left = false;
	int code;

	follow.live.tell = tell_line;
	follow.live.context = &follow;
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
	live_end(&follow.live);
	fd_close(&follow.news);
	free(follow.last);
	return code;
}
