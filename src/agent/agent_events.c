/*
 * The format `events`, our own: one JSON object per line, for commands without a format of their
 * own and for tests. docs/loop.md describes it. A missing key means unknown.
 */
#include "agent/agent_reader.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/*
 * Most values in one line. Events have a few; a line full of commas would become a tree thirty
 * times its size.
 */
enum { VALUES_MAX = 20000 };

struct events_reader {
	struct agent_reader base;
	struct agent_reader_lines lines;
};

/* Line types and the events they become. */
static const struct {
	const char *type;
	enum agent_event_kind kind;
	enum failure error;
} types[] = {
	{ "started", AGENT_EVENT_started, FAILURE_NONE },
	{ "text", AGENT_EVENT_text, FAILURE_NONE },
	{ "thinking", AGENT_EVENT_thinking, FAILURE_NONE },
	{ "tool", AGENT_EVENT_tool_call, FAILURE_NONE },
	{ "tool_result", AGENT_EVENT_tool_result, FAILURE_NONE },
	{ "file", AGENT_EVENT_file_changed, FAILURE_NONE },
	{ "tokens", AGENT_EVENT_tokens, FAILURE_NONE },
	{ "cost", AGENT_EVENT_cost, FAILURE_NONE },
	{ "limit", AGENT_EVENT_rate_limit, FAILURE_RATE_LIMIT },
	{ "retry", AGENT_EVENT_retry, FAILURE_NONE },
	{ "error", AGENT_EVENT_error, FAILURE_OTHER },
	{ "final", AGENT_EVENT_finished, FAILURE_NONE },
};

/* Errors with a line type of their own, named as in the failure table. */
static const enum failure errors[] = {
	FAILURE_OVERLOADED, FAILURE_SERVER_ERROR, FAILURE_AUTHENTICATION,
	FAILURE_PERMISSION, FAILURE_BILLING,      FAILURE_MODEL_NOT_FOUND,
	FAILURE_TOO_LONG,   FAILURE_BUDGET,       FAILURE_NETWORK,
};

static void read_type(struct agent_event *event, const char *type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(types[i].type, type) != 0)
			continue;
		event->kind = types[i].kind;
		event->error = types[i].error;
	}
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		if (strcmp(failure_row(errors[i])->stream_name, type) != 0)
			continue;
		event->kind = AGENT_EVENT_error;
		event->error = errors[i];
	}
}

/*
 * Copies a string into `copy`; a long one keeps its end. JSON strings are valid UTF-8, so the cut
 * falls between characters.
 */
static const char *read_text(const json_t *line, const char *key, struct buffer *copy)
{
	const char *text = jsonget_string(line, key);

	if (!text)
		return NULL;
	*copy = BUFFER_INIT(AGENT_TEXT_MAX + 1);
	buffer_add_text(copy, text + text_last(text, strlen(text), AGENT_TEXT_MAX));
	return buffer_text(copy);
}

/* Returns a number >= 0; -1 if it is missing or invalid. */
static int64_t read_number(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (int64_t)json_integer_value(value)
		       : -1;
}

/* Reads {"nusd": 1500000} or {"usd": 0.0015}. */
static int64_t read_cost(const json_t *line)
{
	const json_t *dollars = json_object_get(line, "usd");
	double value = json_number_value(dollars);

	if (!json_is_number(dollars))
		return read_number(line, "nusd");
	return value >= 0 && value < 9e9 ? (int64_t)(value * 1e9 + 0.5) : -1;
}

static void emit_object(struct agent_reader *reader, const json_t *line, struct agent_event *event)
{
	AUTO_BUFFER struct buffer text = { 0 }, name = { 0 }, target = { 0 }, session = { 0 };
	const json_t *ok = json_object_get(line, "ok");
	int64_t number;

	event->text = read_text(line, "text", &text);
	event->name = read_text(line, "name", &name);
	event->target = read_text(line, "target", &target);
	event->session = read_text(line, "session", &session);
	event->ok = !ok || json_is_true(ok);
	if (event->kind == AGENT_EVENT_finished && !event->ok)
		event->error = FAILURE_OTHER;
	number = read_number(line, "reset_at");
	event->reset_at = number > 0 ? number : 0;
	number = read_number(line, "delay_ms");
	event->delay_ms = number > 0 ? number : 0;
	event->cost_nusd = read_cost(line);
	event->tokens = (struct agent_tokens){
		.input = read_number(line, "input"),
		.output = read_number(line, "output"),
		.cache_read = read_number(line, "cache_read"),
		.cache_write_5m = read_number(line, "cache_write_5m"),
		.cache_write_1h = read_number(line, "cache_write_1h"),
		.reasoning = read_number(line, "reasoning"),
	};
	reader->fn(reader->context, event);
}

/* Counts values; text inside strings does not count. */
static bool has_too_many(const char *text, size_t size)
{
	bool quoted = false;
	size_t count = 0;

	for (size_t i = 0; i < size; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
			count++;
	}
	return count > VALUES_MAX;
}

static void handle_line(struct agent_reader *reader, const char *text, size_t size)
{
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_unknown);
	json_t *line = text && !has_too_many(text, size) ? json_loadb(text, size, 0, NULL) : NULL;
	const char *type = jsonget_string(line, "type");

	if (type)
		read_type(&event, type);
	if (event.kind != AGENT_EVENT_unknown)
		emit_object(reader, line, &event);
	else
		reader->fn(reader->context, &event);
	json_decref(line);
}

static struct agent_reader *open_events(agent_event_fn *fn, void *context)
{
	struct events_reader *events = mem_zero(sizeof *events);

	events->base = (struct agent_reader){ .fn = fn, .context = context };
	events->lines = AGENT_READER_LINES_INIT;
	return &events->base;
}

static void feed_events(struct agent_reader *reader, const char *data, size_t size)
{
	agent_reader_lines_feed(&((struct events_reader *)reader)->lines, data, size, handle_line,
				reader);
}

static void end_events(struct agent_reader *reader)
{
	agent_reader_lines_end(&((struct events_reader *)reader)->lines, handle_line, reader);
}

static void free_events(struct agent_reader *reader)
{
	buffer_release(&((struct events_reader *)reader)->lines.line);
	free(reader);
}

const struct agent_format agent_format_events = { .name = "events",
						  .open = open_events,
						  .feed = feed_events,
						  .end = end_events,
						  .free = free_events };
