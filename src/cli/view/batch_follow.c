/* A batch in the foreground: see batch_follow.h. */
#include "cli/view/batch_follow.h"

#include "batch/batch_report.h"
#include "cli/loops.h"
#include "cli/view/batch_text.h"
#include "cli/view/interrupt.h"
#include "cli/view/page.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Without events, the supervisor is checked every POLL_MS and given up after GONE_POLLS. */
enum { POLL_MS = 1000, GONE_POLLS = 12 };

struct view {
	struct batch_client *batch;
	bool json;
	int64_t seen; /* number of the last event printed */
	struct journal_mark read;
	int inotify; /* watches the batch's folder */
	int gone;    /* consecutive polls without a supervisor */
};

static void print_object(const struct journal_event *event)
{
	json_t *object = json_pack("{s:s, s:I, s:I}", "event", event->kind, "seq",
				   (json_int_t)event->seq, "at_ms", (json_int_t)event->at_ms);
	json_t *data = json_loads(event->data, 0, NULL);

	if (batch_event_find(event->kind) != BATCH_EVENT_created)
		json_object_update(object, data);
	json_decref(data);
	loops_print_line(object);
}

static void print_text(const struct batch_state *state, const struct journal_event *event)
{
	AUTO_FREE char *text = batch_text_event(state, event);
	AUTO_FREE char *clock = clock_text(event->at_ms, CLOCK_TIME);
	AUTO_FREE char *line = text ? mem_format("%s %s", clock, text) : NULL;

	if (line)
		page_print_line(COLOR_PLAIN, line, (int)strlen(clock) + 1);
}

static int print_event(void *context, const struct journal_event *event, struct error *err)
{
	struct view *view = context;

	(void)err;
	if (event->seq <= view->seen)
		return 0;
	if (view->json)
		print_object(event);
	else
		print_text(&view->batch->state, event);
	view->seen = event->seq;
	return 0;
}

/* Prints new events. Returns true when no more will follow. */
static bool catch_up(struct view *view)
{
	struct batch_client *batch = view->batch;
	struct error err;

	batch_client_refresh(batch);
	if (batch->damaged || batch_client_follow(batch, &view->read, print_event, view, &err) < 0)
		return true;
	if (batch->state.finished || batch->state.paused)
		return true;
	/* The keeper restarts a supervisor that was killed. */
	view->gone = batch->alive ? 0 : view->gone + 1;
	return view->gone > GONE_POLLS || (!batch->alive && batch->trouble);
}

static void wait_for_events(const struct view *view)
{
	struct pollfd changed = { .fd = view->inotify, .events = POLLIN };
	char events[4096];

	if (!interrupt_is_pending() && poll(&changed, 1, POLL_MS) > 0)
		while (read(view->inotify, events, sizeof events) > 0)
			;
	if (interrupt_is_stop_pending())
		interrupt_stop();
}

/* Asks the user and carries out the answer. Returns true to detach. */
static bool handle_interrupt(const struct view *view)
{
	char answer = interrupt_ask("the batch", view->json, false);
	struct error err;

	if (answer == 'p' || answer == 'a') {
		if (batch_client_ask(view->batch, answer == 'p' ? "pause" : "abort", NULL, &err) <
		    0)
			cli_fail(&err);
		return false;
	}
	return answer == 'd';
}

static int exit_status(const struct batch_client *batch)
{
	static const struct {
		const char *status;
		int code;
	} codes[] = { { "completed", LOOPS_COMPLETED },
		      { "failed", LOOPS_FAILED },
		      { "paused", LOOPS_PAUSED },
		      { "aborted", LOOPS_ABORTED } };

	for (size_t i = 0; !batch->damaged && i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].status, batch_client_status(batch)) == 0)
			return codes[i].code;
	return LOOPS_INTERRUPTED;
}

static void print_result(const struct batch_client *batch, int code)
{
	json_t *line = json_pack("{s:s, s:i}", "event", "result", "exit_status", code);
	json_t *all = batch_report_json(batch->id, batch_client_status(batch), &batch->state);

	json_object_update(line, all);
	json_decref(all);
	loops_print_line(line);
}

static void print_detached(const char *id)
{
	AUTO_FREE char *text = mem_format(
		"batch %s continues in the background (to watch it: ringfence work --resume; also: "
		"--show, --pause, --abort)",
		id);

	page_print(text, 0);
}

static int conclude(const struct view *view, bool detached)
{
	const struct batch_client *batch = view->batch;
	int code = detached ? LOOPS_INTERRUPTED : exit_status(batch);
	struct error err;

	if (batch->trouble && !batch->alive) {
		error_set(&err, "%s", batch->trouble);
		return cli_fail(&err);
	}
	if (view->json)
		print_result(batch, code);
	else if (!detached)
		batch_text_print(batch, false);
	else
		print_detached(batch->id);
	return code;
}

int batch_follow(struct batch_client *batch, int64_t after, bool json)
{
	struct view view = { .batch = batch,
			     .json = json,
			     .seen = after,
			     .inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
	bool detached = false;
	int code;

	if (view.inotify >= 0)
		inotify_add_watch(view.inotify, batch->folder, IN_MOVED_TO | IN_DELETE);
	interrupt_catch();
	while (!detached && !catch_up(&view)) {
		wait_for_events(&view);
		detached = interrupt_is_pending() && handle_interrupt(&view);
	}
	code = conclude(&view, detached);
	fd_close(&view.inotify);
	return code;
}
