/* What an agent does: see agent_text.h. */
#include "cli/view/agent_text.h"

#include "cli/view/activity.h"
#include "cli/view/page.h"
#include "util/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where no terminal says how wide a line is; and where lines go on: words below words, the rest further in. */
enum { WIDE = 110, INDENT_WORDS = 3, INDENT = 6 };

/* The first line of a text that says anything, with dots if there are more; the caller frees. NULL: there is none. */
static char *first_line(const char *text)
{
	size_t size;

	text += text ? strspn(text, " \t\r\n") : 0;
	if (!text || !*text)
		return NULL;
	size = strcspn(text, "\r\n");
	return mem_format("%.*s%s", (int)size, text,
			  text[size + strspn(text + size, " \t\r\n")] ? " ..." : "");
}

/* Tells a line, and of a longer one the beginning. */
static void tell_cut(const struct agent_text *live, enum color colour, const char *line)
{
	enum { DOTS = 4 };
	int wide = page_width();

	if (!wide && !live->whole)
		wide = WIDE;
	if (!wide || page_columns(line) <= wide) {
		live->tell(live->context, colour, line, INDENT);
		return;
	}

	AUTO_FREE char *cut =
		mem_format("%.*s ...", (int)page_first(line, wide > 2 * DOTS ? wide - DOTS : DOTS),
			   line);

	live->tell(live->context, colour, cut, INDENT);
}

/* Every line of a text, in quotes. */
static void tell_lines(const struct agent_text *live, const char *text)
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

		live->tell(live->context, COLOR_PLAIN, line, INDENT_WORDS);
		part += end != NULL;
		text += part;
		size -= part;
		begin = "   ";
	}
}

static void forget_said(struct agent_text *live)
{
	free(live->said);
	live->said = NULL;
}

/* A final message is the end of what was said, as a rule. */
static bool was_said(const struct agent_text *live, const char *text)
{
	size_t known = live->said ? strlen(live->said) : 0;
	size_t size = text ? strlen(text) : 0;

	return size <= known && (!size || strcmp(live->said + known - size, text) == 0);
}

/* Where the whole is said again with each part, only what is new is told. */
static void tell_words(struct agent_text *live, const char *text)
{
	size_t known = live->said ? strlen(live->said) : 0;
	const char *new = text;

	if (!text)
		return;
	if (live->grows && known && strncmp(text, live->said, known) == 0)
		new += known;
	new += strspn(new, " \t\r\n");

	AUTO_FREE char *first = first_line(new);
	AUTO_FREE char *line = first ? mem_format("  \"%s\"", first) : NULL;

	if (line && live->whole)
		tell_lines(live, new);
	else if (line)
		tell_cut(live, COLOR_PLAIN, line);
	forget_said(live);
	live->said = mem_dup(text);
}

static void tell_tool(const struct agent_text *live, const struct agent_event *event)
{
	AUTO_FREE char *target = first_line(event->target);
	AUTO_FREE char *line = mem_format("  - %.60s %s", event->name ? event->name : "a tool",
					  target ? target : "");

	tell_cut(live, COLOR_DIM, line);
}

/* What went wrong, and why, if that is said. */
static void tell_reason(const struct agent_text *live, const char *what, const char *text)
{
	AUTO_FREE char *first = first_line(text);
	AUTO_FREE char *line = mem_format("%s%s%s", what, first ? ": " : "", first ? first : "");

	tell_cut(live, COLOR_DIM, line);
}

/* While a loop is looked at, errors are told with its end. */
static void tell_error(struct agent_text *live, const struct agent_event *event)
{
	AUTO_FREE char *what = mem_format("  error (%s)", failure_row(event->error)->stream_name);

	if (!live->whole || event->error == FAILURE_NONE || !event->text ||
	    (live->said && strcmp(live->said, event->text) == 0))
		return;
	tell_reason(live, what, event->text);
	forget_said(live);
	live->said = mem_dup(event->text);
}

static void take(void *context, const struct agent_event *event)
{
	struct agent_text *live = context;
	AUTO_FREE char *again = NULL;

	switch (event->kind) {
	case AGENT_EVENT_text:
		tell_words(live, event->text);
		break;
	case AGENT_EVENT_tool_call:
		forget_said(live);
		tell_tool(live, event);
		break;
	case AGENT_EVENT_tool_result:
		if (!event->ok)
			tell_reason(live, "    fails", event->text);
		break;
	case AGENT_EVENT_retry:
		again = mem_format("  tries again in %lld s", (long long)event->delay_ms / 1000);
		tell_reason(live, again, event->text);
		break;
	case AGENT_EVENT_rate_limit:
	case AGENT_EVENT_error:
		tell_error(live, event);
		break;
	case AGENT_EVENT_finished:
		if (event->ok && live->whole && !was_said(live, event->text))
			tell_words(live, event->text);
		else if (!event->ok)
			tell_error(live, event);
		break;
	case AGENT_EVENT_unknown:
		live->foreign = true;
		break;
	default:
		break;
	}
}

bool agent_text_tells(const struct agent_format *format)
{
	return strcmp(format->name, "plain") != 0;
}

void agent_text_open(struct agent_text *live, const struct agent_format *format)
{
	live->reader = agent_reader_new(format, take, live);
	live->line = BUFFER_INIT(AGENT_LINE_MAX + 1);
	live->grows = format->grows;
	live->foreign = live->over = false;
}

static void end_line(struct agent_text *live)
{
	if (live->foreign && !live->over && live->line.used)
		live->pass(live->context, live->line.data, live->line.used);
	live->line.used = 0;
	live->foreign = live->over = false;
}

/* Keeps the line that is read, because only its end says what it is; one that is too long is no event. */
static void keep(struct agent_text *live, const char *bytes, size_t size)
{
	if (!live->over && live->line.used + size > AGENT_LINE_MAX) {
		live->pass(live->context, live->line.data, live->line.used);
		live->over = true;
	}
	if (live->over)
		live->pass(live->context, bytes, size);
	else
		buffer_add(&live->line, bytes, size);
}

void agent_text_feed(struct agent_text *live, const char *bytes, size_t size)
{
	while (size && live->pass) {
		const char *end = memchr(bytes, '\n', size);
		size_t part = end ? (size_t)(end - bytes) + 1 : size;

		keep(live, bytes, part);
		agent_reader_feed(live->reader, bytes, part);
		if (end)
			end_line(live);
		bytes += part;
		size -= part;
	}
	if (size)
		agent_reader_feed(live->reader, bytes, size);
}

void agent_text_close(struct agent_text *live)
{
	if (!live->reader)
		return;
	agent_reader_end(live->reader);
	if (live->pass)
		end_line(live);
	agent_reader_free(live->reader);
	buffer_release(&live->line);
	forget_said(live);
	live->reader = NULL;
}

void agent_text_begin(struct agent_text *live, const struct client_loop *loop, int iteration,
		      int attempt)
{
	const struct agent_format *format = loop->state.options.agent_format;

	agent_text_end(live);
	if (!agent_text_tells(format))
		return;
	live->path = activity_log(loop, (unsigned int)iteration, (unsigned int)attempt);
	live->fd = -1;
	agent_text_open(live, format);
}

void agent_text_look(struct agent_text *live)
{
	char bytes[65536];
	ssize_t n;

	if (live->path && live->fd < 0)
		live->fd = open(live->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	while (live->path && live->fd >= 0 && (n = read(live->fd, bytes, sizeof bytes)) > 0)
		agent_text_feed(live, bytes, (size_t)n);
}

void agent_text_end(struct agent_text *live)
{
	if (!live->path)
		return;
	agent_text_look(live);
	agent_text_close(live);
	free(live->path);
	live->path = NULL;
	fd_close(&live->fd);
}
