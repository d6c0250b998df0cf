/* Agent output as lines for people: see agent_text.h. */
#include "cli/view/agent_text.h"

#include "cli/view/page.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/activity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The width without a terminal, and the indents of wrapped lines: of messages, and of the rest. */
enum { WIDE = 110, INDENT_WORDS = 3, INDENT = 6 };

/* Prints a line, cut to the width. */
static void print_cut(const struct agent_text *view, enum color colour, const char *line)
{
	enum { DOTS = 4 };
	int wide = page_width();

	if (!wide && !view->whole)
		wide = WIDE;
	if (!wide || page_columns(line) <= wide) {
		view->print(view->context, colour, line, INDENT);
		return;
	}

	AUTO_FREE char *cut =
		mem_format("%.*s ...", (int)page_first(line, wide > 2 * DOTS ? wide - DOTS : DOTS),
			   line);

	view->print(view->context, colour, cut, INDENT);
}

/* Prints every line of a text, in quotes. */
static void print_lines(const struct agent_text *view, const char *text)
{
	size_t size = strlen(text);
	const char *begin = "  \"";

	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t part = end ? (size_t)(end - text) : size;
		AUTO_FREE char *line = mem_format("%s%.*s%s", part ? begin : "", (int)part, text,
						  end ? "" : "\"");

		view->print(view->context, COLOR_PLAIN, line, INDENT_WORDS);
		part += end != NULL;
		text += part;
		size -= part;
		begin = "   ";
	}
}

static void forget_said(struct agent_text *view)
{
	free(view->printed);
	view->printed = NULL;
}

/* A final message usually repeats the end of the last one. */
static bool was_said(const struct agent_text *view, const char *text)
{
	size_t known = view->printed ? strlen(view->printed) : 0;
	size_t size = text ? strlen(text) : 0;

	return size <= known && (!size || strcmp(view->printed + known - size, text) == 0);
}

/* Prints a message. If the format repeats earlier text, only the new part is printed. */
static void print_message(struct agent_text *view, const char *text)
{
	size_t known = view->printed ? strlen(view->printed) : 0;
	const char *new = text;

	if (!text)
		return;
	if (view->grows && known && strncmp(text, view->printed, known) == 0)
		new += known;
	new += strspn(new, " \t\r\n");

	AUTO_FREE char *first = text_first_line(new, SIZE_MAX);
	AUTO_FREE char *line = first ? mem_format("  \"%s\"", first) : NULL;

	if (line && view->whole)
		print_lines(view, new);
	else if (line)
		print_cut(view, COLOR_PLAIN, line);
	forget_said(view);
	view->printed = mem_dup(text);
}

static void print_tool(const struct agent_text *view, const struct agent_event *event)
{
	AUTO_FREE char *target = text_first_line(event->target, SIZE_MAX);
	AUTO_FREE char *line = mem_format("  - %.60s %s", event->name ? event->name : "a tool",
					  target ? target : "");

	print_cut(view, COLOR_DIM, line);
}

/* Prints a failure and its reason, if there is one. */
static void print_reason(const struct agent_text *view, const char *what, const char *text)
{
	AUTO_FREE char *first = text_first_line(text, SIZE_MAX);
	AUTO_FREE char *line = mem_format("%s%s%s", what, first ? ": " : "", first ? first : "");

	print_cut(view, COLOR_DIM, line);
}

/* While a loop is followed, the end of the iteration reports its errors. */
static void print_error(struct agent_text *view, const struct agent_event *event)
{
	AUTO_FREE char *what = mem_format("  error (%s)", failure_row(event->error)->stream_name);

	if (!view->whole || event->error == FAILURE_NONE || !event->text ||
	    (view->printed && strcmp(view->printed, event->text) == 0))
		return;
	print_reason(view, what, event->text);
	forget_said(view);
	view->printed = mem_dup(event->text);
}

static void print_event(void *context, const struct agent_event *event)
{
	struct agent_text *view = context;
	AUTO_FREE char *retry = NULL;

	switch (event->kind) {
	case AGENT_EVENT_text:
		print_message(view, event->text);
		break;
	case AGENT_EVENT_tool_call:
		forget_said(view);
		print_tool(view, event);
		break;
	case AGENT_EVENT_tool_result:
		if (!event->ok)
			print_reason(view, "    failed", event->text);
		break;
	case AGENT_EVENT_retry:
		retry = mem_format("  retrying in %lld s", (long long)event->delay_ms / 1000);
		print_reason(view, retry, event->text);
		break;
	case AGENT_EVENT_rate_limit:
	case AGENT_EVENT_error:
		print_error(view, event);
		break;
	case AGENT_EVENT_finished:
		if (event->ok && view->whole && !was_said(view, event->text))
			print_message(view, event->text);
		else if (!event->ok)
			print_error(view, event);
		break;
	case AGENT_EVENT_unknown:
		view->foreign = true;
		break;
	default:
		break;
	}
}

bool agent_text_supports(const struct agent_format *format)
{
	return strcmp(format->name, "plain") != 0;
}

void agent_text_open(struct agent_text *view, const struct agent_format *format)
{
	view->reader = agent_reader_new(format, print_event, view);
	view->line = BUFFER_INIT(AGENT_LINE_MAX + 1);
	view->grows = format->grows;
	view->foreign = view->over = false;
}

static void end_line(struct agent_text *view)
{
	if (view->foreign && !view->over && view->line.used)
		view->pass(view->context, view->line.data, view->line.used);
	view->line.used = 0;
	view->foreign = view->over = false;
}

/* Buffers the current line: only a complete line can be told apart from an event. A line that is
 * too long for an event is passed on. */
static void buffer_line(struct agent_text *view, const char *bytes, size_t size)
{
	if (!view->over && view->line.used + size > AGENT_LINE_MAX) {
		view->pass(view->context, view->line.data, view->line.used);
		view->over = true;
	}
	if (view->over)
		view->pass(view->context, bytes, size);
	else
		buffer_add(&view->line, bytes, size);
}

void agent_text_feed(struct agent_text *view, const char *bytes, size_t size)
{
	while (size && view->pass) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) + 1 : size;

		buffer_line(view, bytes, part);
		agent_reader_feed(view->reader, bytes, part);
		if (end)
			end_line(view);
		bytes += part;
		size -= part;
	}
	if (size)
		agent_reader_feed(view->reader, bytes, size);
}

void agent_text_close(struct agent_text *view)
{
	if (!view->reader)
		return;
	agent_reader_end(view->reader);
	if (view->pass)
		end_line(view);
	agent_reader_free(view->reader);
	buffer_release(&view->line);
	forget_said(view);
	view->reader = NULL;
}

void agent_text_begin(struct agent_text *view, const struct client_loop *loop, int iteration,
		      int attempt)
{
	const struct agent_format *format = loop_state_part(&loop->state)->format;

	agent_text_end(view);
	if (!agent_text_supports(format))
		return;
	view->path = activity_log(loop, (unsigned int)iteration, (unsigned int)attempt);
	view->fd = -1;
	agent_text_open(view, format);
}

static void open_log(struct agent_text *view)
{
	if (view->path && view->fd < 0)
		view->fd = open(view->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

void agent_text_skip(struct agent_text *view)
{
	open_log(view);
	if (view->path && view->fd >= 0)
		lseek(view->fd, 0, SEEK_END);
}

void agent_text_poll(struct agent_text *view)
{
	char bytes[65536];
	ssize_t n;

	open_log(view);
	while (view->path && view->fd >= 0 && (n = read(view->fd, bytes, sizeof bytes)) > 0)
		agent_text_feed(view, bytes, (size_t)n);
}

void agent_text_end(struct agent_text *view)
{
	if (!view->path)
		return;
	agent_text_poll(view);
	agent_text_close(view);
	free(view->path);
	view->path = NULL;
	fd_close(&view->fd);
}
