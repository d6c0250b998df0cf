/* What an agent does: see live.h. */
#include "cli/live.h"

#include "cli/doing.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a text so much is told. */
enum { WORDS = 100 };

/* The first line of a text that says anything, cut between characters; the caller frees. NULL: there is none. */
static char *first_line(const char *text)
{
	size_t size;

	text += text ? strspn(text, " \t\r\n") : 0;
	if (!text || !*text)
		return NULL;
	size = strcspn(text, "\r\n");
	if (size <= WORDS)
		return strndup(text, size);
	return mem_format("%.*s ...", (int)text_first(text, size, WORDS), text);
}

static char *line_of(const struct agent_event *event)
{
	AUTO_FREE char *text = first_line(event->text);
	AUTO_FREE char *target = first_line(event->target);

	switch (event->kind) {
	case AGENT_EVENT_text:
		return text ? mem_format("  \"%s\"", text) : NULL;
	case AGENT_EVENT_tool_call:
		return mem_format("  - %.60s %s", event->name ? event->name : "a tool",
				  target ? target : "");
	case AGENT_EVENT_tool_result:
		return event->ok ? NULL : mem_format("    fails: %s", text ? text : "no reason");
	case AGENT_EVENT_retry:
		return mem_format("  tries again in %lld s: %s", (long long)event->delay_ms / 1000,
				  text ? text : "no reason");
	default:
		return NULL;
	}
}

static void take(void *context, const struct agent_event *event)
{
	const struct live *live = context;
	AUTO_FREE char *line = line_of(event);

	if (line)
		live->tell(live->context, line);
}

void live_begin(struct live *live, const struct client_loop *loop, int iteration, int attempt)
{
	const struct agent_format *format = loop->state.options.agent_format;

	live_end(live);
	if (strcmp(format->name, "plain") == 0)
		return;
	live->path = doing_log(loop, (unsigned int)iteration, (unsigned int)attempt);
	live->fd = -1;
	live->reader = agent_reader_new(format, take, live);
}

void live_look(struct live *live)
{
	char bytes[65536];
	ssize_t n;

	if (live->path && live->fd < 0)
		live->fd = open(live->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	while (live->path && live->fd >= 0 && (n = read(live->fd, bytes, sizeof bytes)) > 0)
		agent_reader_feed(live->reader, bytes, (size_t)n);
}

void live_end(struct live *live)
{
	if (!live->path)
		return;
	live_look(live);
	agent_reader_end(live->reader);
	agent_reader_free(live->reader);
	free(live->path);
	live->path = NULL;
	fd_close(&live->fd);
}
