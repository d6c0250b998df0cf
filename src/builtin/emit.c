/* Prints the event stream: see emit.h. */
#include "builtin/emit.h"

#include "util/file/fd.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Readers keep the last 16 KiB of a text and accept lines of up to 1 MiB. */
enum { TEXT = 16 << 10, LINE = 1 << 20 };

static void begin(struct buffer *line, const char *type)
{
	*line = BUFFER_INIT(LINE);
	buffer_printf(line, "{\"type\":\"%s\"", type);
}

static void add_text(struct buffer *line, const char *key, const char *text, size_t size)
{
	size_t skip = size > TEXT ? size - TEXT : 0;

	while (skip && skip < size && ((unsigned char)text[skip] & 0xc0) == 0x80)
		skip++;
	buffer_printf(line, ",\"%s\":", key);
	text_json_bytes(line, text + skip, size - skip);
}

static void add_number(struct buffer *line, const char *key, int64_t number)
{
	buffer_printf(line, ",\"%s\":%" PRId64, key, number);
}

/* A failed write is ignored: without a reader, the agent continues until it is stopped. */
static void end(struct buffer *line)
{
	buffer_add_text(line, "}\n");
	if (!buffer_overflowed(line))
		(void)fd_write_all(STDOUT_FILENO, line->data, line->used);
	buffer_release(line);
}

void emit_started(const char *session, const char *model)
{
	struct buffer line;

	begin(&line, "started");
	add_text(&line, "session", session, strlen(session));
	add_text(&line, "name", model, strlen(model));
	end(&line);
}

void emit_text(const char *text, size_t size)
{
	struct buffer line;

	begin(&line, "text");
	add_text(&line, "text", text, size);
	end(&line);
}

void emit_tool(const char *name, const char *target)
{
	struct buffer line;

	begin(&line, "tool");
	add_text(&line, "name", name, strlen(name));
	add_text(&line, "target", target, strlen(target));
	end(&line);
}

void emit_result(bool ok, const char *text, size_t size)
{
	struct buffer line;
	size_t from;

	while (size && strchr("\r\n ", text[size - 1]))
		size--;
	for (from = size; from && text[from - 1] != '\n';)
		from--;
	begin(&line, "tool_result");
	buffer_printf(&line, ",\"ok\":%s", ok ? "true" : "false");
	if (!ok)
		add_text(&line, "text", text + from, size - from);
	end(&line);
}

void emit_file(const char *path)
{
	struct buffer line;

	begin(&line, "file");
	add_text(&line, "target", path, strlen(path));
	end(&line);
}

void emit_tokens(const char *model, const struct usage *usage)
{
	const uint64_t *tokens = usage->use.tokens;
	struct buffer line;

	begin(&line, "tokens");
	add_text(&line, "name", model, strlen(model));
	if (usage->has_input) {
		add_number(&line, "input", (int64_t)tokens[PRICE_INPUT]);
		add_number(&line, "cache_read", (int64_t)tokens[PRICE_READ]);
		add_number(&line, "cache_write_5m", (int64_t)tokens[PRICE_WRITE_5M]);
		add_number(&line, "cache_write_1h", (int64_t)tokens[PRICE_WRITE_1H]);
	}
	if (usage->has_output)
		add_number(&line, "output", (int64_t)tokens[PRICE_OUTPUT]);
	end(&line);
}

void emit_heartbeat(void)
{
	struct buffer line;

	begin(&line, "tokens");
	end(&line);
}

void emit_retry(int64_t delay_ms, const char *why)
{
	struct buffer line;

	begin(&line, "retry");
	add_number(&line, "delay_ms", delay_ms);
	add_text(&line, "text", why, strlen(why));
	end(&line);
}

void emit_error(const char *kind, const char *text, int64_t reset_at)
{
	struct buffer line;

	begin(&line, kind);
	add_text(&line, "text", text, strlen(text));
	if (reset_at > 0)
		add_number(&line, "reset_at", reset_at);
	end(&line);
}

void emit_final(bool ok, const char *text, size_t size, const char *session)
{
	struct buffer line;

	begin(&line, "final");
	add_text(&line, "text", text, size);
	buffer_printf(&line, ",\"ok\":%s", ok ? "true" : "false");
	add_text(&line, "session", session, strlen(session));
	end(&line);
}
