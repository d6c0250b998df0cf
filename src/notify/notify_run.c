/* The notifier: see notify_run.h. */
#include "notify/notify_run.h"

#include "loop/state/loop_report.h"
#include "notify/notify_delivery.h"
#include "notify/notify_message.h"
#include "notify/notify_record.h"
#include "notify/notify_source.h"
#include "notify/notify_start.h"
#include "notify/notify_target.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A heartbeat by the steady clock, which stands still while the machine sleeps. */
struct pulse {
	int64_t beat_ms; /* the last one that was seen */
	int64_t seen_ms;
};

/* A message that is on its way. */
struct sending {
	struct notify_delivery delivery;
	struct notify_message message;
};

struct notifier {
	const char *folder;
	int lock, changes;
	struct notify_source source;
	struct taint taint;
	struct notify_record record;
	struct notify_target targets[NOTIFY_RECORD_TARGETS];
	struct sending sendings[NOTIFY_RECORD_TARGETS];
	unsigned int events;
	struct notify_pace pace;
	struct pulse pulse;
	bool stale; /* the record is older than the plans */
};

/* ---- the log ---- */

enum { LOG_BYTES = 1 << 20 };

/* Empties a log that is too long: what is wrong now matters most. */
static void keep_short(void)
{
	struct stat status;

	if (fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size > LOG_BYTES && ftruncate(STDERR_FILENO, 0) < 0)
		errno = 0;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	char when[32];
	time_t now = time(NULL);
	struct tm parts;
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);
	AUTO_FREE char *safe = text_escaped(text);

	va_end(arguments);
	keep_short();
	gmtime_r(&now, &parts);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
	fprintf(stderr, "%s %s\n", when, safe);
}

static void become_daemon(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "notify.log");
	int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (chdir("/") < 0)
		note("the folder '/' cannot be entered");
	fd_place((const int[]){ FD_NULL, log < 0 ? FD_NULL : log, log < 0 ? FD_NULL : log }, 3);
	if (log > STDERR_FILENO)
		fd_close(&log);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "ringfence-notif", 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* it reads secrets */
}

/* ---- settings ---- */

/* A shorter back-off, for tests. */
static struct notify_pace pace_of(const char *text)
{
	struct notify_pace pace = NOTIFY_PACE_DEFAULT;
	uint64_t first_ms;

	if (text && text_count(text, &first_ms) == 0) {
		pace.first_ms = (int64_t)first_ms;
		pace.most_ms = 16 * pace.first_ms;
	}
	return pace;
}

static unsigned int events_of(const json_t *list)
{
	unsigned int events = 0;
	size_t index;
	const json_t *name;

	json_array_foreach(list, index, name)
	{
		int event = notify_event_find(json_is_string(name) ? json_string_value(name) : "");

		if (event >= 0)
			events |= 1U << event;
	}
	return events ? events : (1U << NOTIFY_EVENT_COUNT) - 1;
}

/* Reads the targets. A malformed one, of a later version, gets nothing. */
static void read_targets(struct notifier *notifier)
{
	const json_t *list = notify_source_config(&notifier->source, "notify");
	size_t count = 0;
	size_t index;
	const json_t *text;
	struct error err;

	json_array_foreach(list, index, text)
	{
		if (count == NOTIFY_RECORD_TARGETS || !json_is_string(text))
			break;
		if (notify_target_read(json_string_value(text), env_home(),
				       &notifier->targets[count], &err) == 0)
			count++;
		else
			note("a target is ignored: %s", err.text);
	}
	notify_record_read(notifier->folder, count, &notifier->record);
	notifier->events = events_of(notify_source_config(&notifier->source, "notify_on"));
}

/* ---- delivering ---- */

static void save(struct notifier *notifier)
{
	struct error err;

	notifier->stale = false;
	if (notify_record_write(notifier->folder, &notifier->record, &err) < 0)
		note("%s", err.text);
}

static struct notify_subject subject_of(const struct notifier *notifier)
{
	return (struct notify_subject){ .id = path_name(notifier->folder),
					.project = notify_source_project(&notifier->source),
					.batch = notifier->source.batch };
}

static int64_t last_seq(const struct notify_list *news)
{
	return news->count ? news->items[news->count - 1].seq : 0;
}

/* Is there news for this target? What it is not to be told of is skipped. */
static bool has_news(struct notifier *notifier, struct notify_plan *plan)
{
	const struct notify_list *news = &notifier->source.news;
	bool skipped = false;

	for (size_t i = 0; i < news->count; i++) {
		if (news->items[i].seq <= plan->mark)
			continue;
		if (notifier->events & 1U << news->items[i].event)
			return true;
		skipped = true;
	}
	if (skipped && !plan->through) {
		notify_plan_skip(plan, last_seq(news));
		notifier->stale = true;
	}
	return false;
}

static void report(struct notifier *notifier, size_t target, enum notify_send_result result,
		   const struct notify_message *message, int64_t wait_ms, const struct error *err)
{
	struct notify_plan *plan = &notifier->record.plans[target];
	AUTO_FREE char *shown = notify_target_shown(&notifier->targets[target]);
	int64_t now_ms = clock_wall_ms();

	if (result == NOTIFY_SEND_ARRIVED) {
		notify_plan_sent(plan, &notifier->pace, now_ms);
		note("%s: sent %s", shown, message->id);
	} else if (notify_plan_failed(plan, &notifier->pace, now_ms, wait_ms,
				      result == NOTIFY_SEND_NEVER)) {
		note("warning: %s: gave up %s: %s", shown, message->id, err->text);
	} else {
		note("%s: %s is tried again: %s", shown, message->id, err->text);
	}
}

static bool is_busy(const struct notifier *notifier, size_t target)
{
	return notifier->sendings[target].delivery.pid != 0;
}

static bool any_busy(const struct notifier *notifier)
{
	for (size_t i = 0; i < notifier->record.count; i++)
		if (is_busy(notifier, i))
			return true;
	return false;
}

/* Takes what came of a message. */
static void finish(struct notifier *notifier, size_t target)
{
	struct sending *sending = &notifier->sendings[target];
	enum notify_send_result result;
	struct error err;
	int64_t wait_ms;

	result = notify_delivery_end(&sending->delivery, &wait_ms, &err);
	report(notifier, target, result, &sending->message, wait_ms, &err);
	notify_message_release(&sending->message);
	save(notifier);
}

/* Begins to send the message that is due. The range is on disk before, so that another try has the
 * same news and the same id. */
static void deliver(struct notifier *notifier, size_t target)
{
	struct notify_plan *plan = &notifier->record.plans[target];
	const struct notify_subject subject = subject_of(notifier);
	struct sending *sending = &notifier->sendings[target];

	if (!plan->through) {
		notify_plan_begin(plan, last_seq(&notifier->source.news));
		save(notifier);
	}
	if (notify_message_make(&notifier->source.news, plan->mark, plan->through, notifier->events,
				&subject, &sending->message)) {
		notify_delivery_start(&sending->message, &notifier->targets[target],
				      &notifier->taint, notifier->lock, &sending->delivery);
	} else {
		notify_plan_skip(plan, plan->through);
		save(notifier);
	}
}

/* Delivers what is due. Returns when the next message is, or INT64_MAX. A target that is busy says
 * so when it is done. */
static int64_t deliver_all(struct notifier *notifier)
{
	int64_t next_ms = INT64_MAX;

	for (size_t i = 0; i < notifier->record.count; i++) {
		struct notify_plan *plan = &notifier->record.plans[i];
		int64_t due_ms;

		if (is_busy(notifier, i))
			continue;
		notify_plan_correct(plan, &notifier->pace, clock_wall_ms());
		if (notify_plan_due_ms(plan, &notifier->pace, has_news(notifier, plan)) <=
		    clock_wall_ms())
			deliver(notifier, i);
		if (is_busy(notifier, i))
			continue;
		due_ms = notify_plan_due_ms(plan, &notifier->pace, has_news(notifier, plan));
		next_ms = due_ms < next_ms ? due_ms : next_ms;
	}
	return next_ms;
}

/* ---- the heartbeat ---- */

/* Tells every target once, now: nothing else may ever happen in this loop. */
static void tell_stale(struct notifier *notifier, int64_t stale_ms)
{
	const struct notify_subject subject = subject_of(notifier);
	AUTO_FREE char *trouble = loop_report_read_trouble(notifier->folder);
	AUTO_FREE char *text = alert_text(&notifier->source.loop.options.alerts, ALERT_heartbeat,
					  stale_ms);
	struct notify_list list = { 0 };
	struct notify_message message;
	struct error err;
	int64_t wait_ms;

	notify_list_add(&list, notifier->pulse.beat_ms, clock_wall_ms(), NOTIFY_EVENT_alert,
			mem_format("%s%s%s", text, trouble ? ": " : "", trouble ? trouble : ""));
	if (notify_message_make(&list, 0, INT64_MAX, notifier->events, &subject, &message)) {
		struct notify_delivery deliveries[NOTIFY_RECORD_TARGETS];

		for (size_t i = 0; i < notifier->record.count; i++)
			notify_delivery_start(&message, &notifier->targets[i], &notifier->taint,
					      notifier->lock, &deliveries[i]);
		for (size_t i = 0; i < notifier->record.count; i++) {
			AUTO_FREE char *shown = notify_target_shown(&notifier->targets[i]);

			if (notify_delivery_end(&deliveries[i], &wait_ms, &err) ==
			    NOTIFY_SEND_ARRIVED)
				note("%s: sent %s", shown, message.id);
			else
				note("warning: %s: gave up %s: %s", shown, message.id, err.text);
		}
		notify_message_release(&message);
	}
	notify_list_release(&list);
	notifier->record.heartbeat_ms = notifier->pulse.beat_ms;
	save(notifier);
}

/* Returns how long until the heartbeat must be looked at again, or INT64_MAX. */
static int64_t watch_heart(struct notifier *notifier)
{
	struct pulse *pulse = &notifier->pulse;
	int64_t level_ms = notify_source_heartbeat_ms(&notifier->source);
	int64_t now_ms = (int64_t)clock_steady_ms();
	int64_t beat_ms;

	if (!level_ms || notify_source_rests(&notifier->source))
		return INT64_MAX;
	beat_ms = loop_report_heartbeat_ms(notifier->folder);
	if (beat_ms != pulse->beat_ms)
		*pulse = (struct pulse){ beat_ms, now_ms };
	if (now_ms - pulse->seen_ms > level_ms && notifier->record.heartbeat_ms != beat_ms)
		tell_stale(notifier, now_ms - pulse->seen_ms);
	return pulse->seen_ms + level_ms + 1 > now_ms ? pulse->seen_ms + level_ms + 1 - now_ms
						      : level_ms;
}

/* ---- the process ---- */

static void forget_delivered(struct notifier *notifier)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < notifier->record.count; i++)
		if (notifier->record.plans[i].mark < least)
			least = notifier->record.plans[i].mark;
	notify_list_drop(&notifier->source.news, least);
}

/* Waits for an event, which the supervisor follows by a new state.json, for what came of a message,
 * or for the time. */
static void wait_for(struct notifier *notifier, int64_t most_ms)
{
	struct pollfd watched[1 + NOTIFY_RECORD_TARGETS] = { { .fd = notifier->changes,
							       .events = POLLIN } };
	char events[4096];

	for (size_t i = 0; i < NOTIFY_RECORD_TARGETS; i++) {
		bool busy = is_busy(notifier, i);

		watched[1 + i].fd = busy ? notifier->sendings[i].delivery.answer : -1;
		watched[1 + i].events = POLLIN;
		/* It could not be started. */
		most_ms = busy && watched[1 + i].fd < 0 ? 0 : most_ms;
	}
	poll(watched, 1 + NOTIFY_RECORD_TARGETS,
	     most_ms > 3600 * 1000 ? 3600 * 1000
	     : most_ms < 0         ? 0
				   : (int)most_ms);
	for (size_t i = 0; i < NOTIFY_RECORD_TARGETS; i++)
		if (is_busy(notifier, i) && (watched[1 + i].fd < 0 || watched[1 + i].revents))
			finish(notifier, i);
	while (read(notifier->changes, events, sizeof events) > 0)
		;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Returns 0 when everything is done, or -1 with err set. */
static int follow(struct notifier *notifier, struct error *err)
{
	for (;;) {
		int64_t next_ms;
		int64_t heart_ms;

		if (notify_source_read(&notifier->source, err) < 0)
			return -1;
		next_ms = deliver_all(notifier);
		heart_ms = watch_heart(notifier);
		forget_delivered(notifier);
		if (next_ms == INT64_MAX && !any_busy(notifier) &&
		    notify_source_rests(&notifier->source))
			return 0;
		if (notifier->stale)
			save(notifier);
		wait_for(notifier,
			 smaller(next_ms == INT64_MAX ? INT64_MAX : next_ms - clock_wall_ms(),
				 heart_ms));
	}
}

static int open_all(struct notifier *notifier, struct error *err)
{
	notifier->changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (notifier->changes < 0 ||
	    inotify_add_watch(notifier->changes, notifier->folder, IN_MOVED_TO) < 0)
		return error_sys(err, "watch '%s'", notifier->folder);
	if (notify_source_open(notifier->folder, &notifier->source, err) < 0)
		return -1;
	if (notify_source_read(&notifier->source, err) < 0)
		return -1;
	taint_init(&notifier->taint, env_home());
	notify_source_taint(&notifier->source, &notifier->taint);
	read_targets(notifier);
	forget_delivered(notifier);
	save(notifier);
	return 0;
}

static void close_all(struct notifier *notifier)
{
	for (size_t i = 0; i < notifier->record.count; i++)
		notify_target_release(&notifier->targets[i]);
	taint_release(&notifier->taint);
	if (notifier->source.store)
		notify_source_close(&notifier->source);
	fd_close(&notifier->changes);
	fd_close(&notifier->lock);
}

int notify_run(const char *folder)
{
	struct notifier notifier = { .folder = folder,
				     .lock = notify_start_lock(folder),
				     .changes = -1,
				     .pace = pace_of(env_get("RINGFENCE_NOTIFY_BACKOFF_MS")) };
	struct error err;
	int result;

	if (notifier.lock < 0)
		return 0; /* there is one already */
	become_daemon(folder);
	result = open_all(&notifier, &err) < 0 || follow(&notifier, &err) < 0 ? -1 : 0;
	if (result < 0) {
		note("warning: %s", err.text);
	} else {
		notifier.record.pending = false;
		save(&notifier);
	}
	close_all(&notifier);
	return result < 0;
}
