/* Messages: see notify_message.h. */
#include "notify/notify_message.h"

#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 500, NAME_BYTES = 80 };

/* Makes untrusted text fit for one line. The caller frees it. */
static char *clean(const char *text, size_t most)
{
	AUTO_FREE char *line = mem_dup(text);

	for (char *at = line; *at; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';

	AUTO_FREE char *safe = text_escaped(line);
	size_t size = text_first(safe, strlen(safe), most);

	return mem_format("%.*s%s", (int)size, safe, safe[size] ? "..." : "");
}

static bool is_wanted(const struct notify_news *news, int64_t after, int64_t through,
		      unsigned int events)
{
	return news->seq > after && news->seq <= through && events & 1U << news->event;
}

static const char *headline(enum notify_event event)
{
	static const char *const lines[] = {
		[NOTIFY_EVENT_done] = "done",      [NOTIFY_EVENT_warning] = "warning",
		[NOTIFY_EVENT_alert] = "alert",    [NOTIFY_EVENT_paused] = "paused",
		[NOTIFY_EVENT_failed] = "stopped", [NOTIFY_EVENT_blocked] = "waits for you",
	};

	return lines[event];
}

static void add_line(struct buffer *out, const struct notify_news *news, bool named)
{
	AUTO_FREE char *line = clean(news->text, LINE_BYTES);

	buffer_printf(out, "%s%s%s%s", out->used ? "\n" : "",
		      named ? notify_event_name(news->event) : "", named ? ": " : "", line);
}

/* The newest lines matter most. */
static void add_lines(const struct notify_list *list, int64_t after, int64_t through,
		      unsigned int events, size_t count, struct buffer *out)
{
	size_t skipped = count > NOTIFY_MESSAGE_LINES ? count - NOTIFY_MESSAGE_LINES : 0;
	size_t seen = 0;

	for (size_t i = 0; i < list->count; i++)
		if (is_wanted(&list->items[i], after, through, events) && seen++ >= skipped)
			add_line(out, &list->items[i], count > 1);
	if (skipped)
		buffer_printf(out, "\n%zu more event%s", skipped, skipped == 1 ? "" : "s");
}

bool notify_message_make(const struct notify_list *list, int64_t after, int64_t through,
			 unsigned int events, const struct notify_subject *subject,
			 struct notify_message *ret_message)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(16384);
	AUTO_FREE char *name = clean(path_name(subject->project), NAME_BYTES);
	struct notify_message message = { .batch = subject->batch };
	int64_t last = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct notify_news *news = &list->items[i];

		if (!is_wanted(news, after, through, events))
			continue;
		message.count++;
		message.at_ms = news->at_ms;
		last = news->seq;
		if (message.count == 1 || news->event > message.event)
			message.event = news->event;
	}
	if (!message.count)
		return false;
	add_lines(list, after, through, events, message.count, &text);
	message.id = mem_format("%s-%lld", subject->id, (long long)last);
	message.title = mem_format("%s: %s", name, headline(message.event));
	message.text = mem_dup(buffer_text(&text));
	message.loop = mem_dup(subject->id);
	message.project = clean(subject->project, LINE_BYTES);
	*ret_message = message;
	return true;
}

void notify_message_test(int64_t now_ms, struct notify_message *ret_message)
{
	*ret_message = (struct notify_message){
		.id = mem_format("test-%lld", (long long)now_ms),
		.event = NOTIFY_EVENT_done,
		.title = mem_dup("Ringfence: a test"),
		.text = mem_dup("This is a test message of ringfence notify --test."),
		.loop = mem_dup("test"),
		.project = mem_dup(""),
		.count = 1,
		.at_ms = now_ms,
	};
}

void notify_message_release(struct notify_message *message)
{
	free(message->id);
	free(message->title);
	free(message->text);
	free(message->loop);
	free(message->project);
	*message = (struct notify_message){ 0 };
}
