/* Readers of JSON lines: see stream.h. */
#include "agent/stream.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_TEXT_MAX = 4 * AGENT_TEXT_MAX }; /* decoded, with room for replacement characters */

struct agent_reader *stream_open(size_t size, agent_event_fn *fn, void *context,
				 void (*handle)(struct stream *, struct jsonline),
				 void (*finish)(struct stream *))
{
	struct stream *stream = mem_zero(size);

	stream->base = (struct agent_reader){ .fn = fn, .context = context };
	stream->lines = AGENT_READER_LINES_INIT;
	stream->text = BUFFER_INIT(STREAM_TEXT_MAX);
	stream->handle = handle;
	stream->finish = finish;
	return &stream->base;
}

static void handle_line(struct agent_reader *reader, const char *line, size_t size)
{
	struct stream *stream = (struct stream *)reader;

	if (!line)
		stream_unknown(stream);
	else if (size)
		stream->handle(stream, (struct jsonline){ line, size });
}

void stream_feed(struct agent_reader *reader, const char *data, size_t size)
{
	agent_reader_lines_feed(&((struct stream *)reader)->lines, data, size, handle_line, reader);
}

void stream_end(struct agent_reader *reader)
{
	struct stream *stream = (struct stream *)reader;

	agent_reader_lines_end(&stream->lines, handle_line, reader);
	if (stream->finish)
		stream->finish(stream);
}

void stream_free(struct agent_reader *reader)
{
	struct stream *stream = (struct stream *)reader;

	buffer_release(&stream->lines.line);
	buffer_release(&stream->text);
	free(stream);
}

void stream_emit(struct stream *stream, const struct agent_event *event)
{
	stream->base.fn(stream->base.context, event);
}

void stream_finish(struct stream *stream, const struct agent_event *finished)
{
	struct agent_event end = *finished;
	struct agent_event error = *finished;

	if (!end.ok) {
		error.kind = AGENT_EVENT_error;
		stream_emit(stream, &error);
		end.text = NULL;
	}
	stream_emit(stream, &end);
	stream_clear_text(stream);
}

void stream_unknown(struct stream *stream)
{
	const struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_unknown);

	stream_emit(stream, &event);
}

/* Drops the beginning of a text that is too long, at a character boundary. */
static void keep_end(struct buffer *text)
{
	size_t skip = text_last(text->data, text->used, AGENT_TEXT_MAX);

	if (!skip)
		return;
	memmove(text->data, text->data + skip, text->used - skip);
	text->used -= skip;
}

void stream_add_text(struct stream *stream, struct jsonline text)
{
	jsonline_text(text, AGENT_TEXT_MAX, &stream->text);
	keep_end(&stream->text);
}

void stream_clear_text(struct stream *stream)
{
	stream->text.used = 0;
}

const char *stream_text(struct jsonline value, struct buffer *keeps)
{
	*keeps = BUFFER_INIT(3 * AGENT_TEXT_MAX + 1);
	if (!jsonline_text(value, AGENT_TEXT_MAX, keeps))
		return NULL;
	keep_end(keeps);
	return buffer_text(keeps);
}

void stream_thinking(struct stream *stream, struct jsonline text)
{
	AUTO_BUFFER struct buffer keeps = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_thinking);

	event.text = stream_text(text, &keeps);
	if (event.text && *event.text)
		stream_emit(stream, &event);
}

struct jsonline stream_target(struct jsonline input)
{
	/* In order of preference. */
	struct jsonline_field fields[] = {
		{ "command", { 0 } }, { "file_path", { 0 } }, { "filePath", { 0 } },
		{ "path", { 0 } },    { "dir_path", { 0 } },  { "pattern", { 0 } },
		{ "url", { 0 } },     { "query", { 0 } },     { "description", { 0 } },
	};

	jsonline_object(input, fields, sizeof fields / sizeof *fields);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (jsonline_is_string(fields[i].value))
			return fields[i].value;
	return (struct jsonline){ 0 };
}

/* Returns the increase since the last total, and remembers the new total. */
static int64_t increase(int64_t *before, int64_t sum)
{
	int64_t new = sum;

	if (sum < 0)
		return -1;
	if (*before > 0 && sum >= *before)
		new = sum - *before;
	*before = sum;
	return new;
}

void stream_report_total(struct stream *stream, const char *model, const struct agent_tokens *sum,
			 int64_t cost_nusd)
{
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tokens);
	struct agent_totals *before = &stream->base.before;

	event.name = model;
	event.tokens = (struct agent_tokens){
		.input = increase(&before->tokens.input, sum->input),
		.output = increase(&before->tokens.output, sum->output),
		.cache_read = increase(&before->tokens.cache_read, sum->cache_read),
		.cache_write_5m = increase(&before->tokens.cache_write_5m, sum->cache_write_5m),
		.cache_write_1h = increase(&before->tokens.cache_write_1h, sum->cache_write_1h),
		.reasoning = increase(&before->tokens.reasoning, sum->reasoning),
	};
	event.cost_nusd = increase(&before->cost_nusd, cost_nusd);
	stream_emit(stream, &event);
}

int64_t stream_find_status(const char *text, const char *const *marks)
{
	for (; text && *marks; marks++) {
		const char *at = strstr(text, *marks);

		if (at) {
			at += strlen(*marks);
			while (*at == ' ')
				at++;

			long status = strtol(at, NULL, 10);

			if (status >= 400 && status < 600)
				return status;
		}
	}
	return 0;
}
