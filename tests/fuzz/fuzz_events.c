// sources: src/agent/agent.c src/agent/claude.c src/agent/codex.c src/agent/events.c src/agent/gemini.c src/agent/lines.c src/agent/opencode.c src/agent/plain.c src/agent/scan.c src/agent/stream.c src/util/buffer.c src/util/mem.c src/util/text.c -ljansson
/* An agent's output: whatever comes, in whatever pieces, events are bounded text and numbers that can be. */
#include "fuzz.h"

#include "agent/agent.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const char *text)
{
	size_t size = text ? strlen(text) : 0;
	uint32_t point;

	if (size > AGENT_TEXT_MAX)
		abort();
	for (size_t at = 0; at < size;) {
		size_t length = text_utf8(text + at, size - at, &point);

		if (length == 0)
			abort();
		at += length;
	}
}

static void take(void *context, const struct agent_event *event)
{
	check_text(event->text);
	check_text(event->name);
	check_text(event->target);
	check_text(event->session);
	if (event->kind >= AGENT_EVENT_COUNT || event->error >= AGENT_ERROR_COUNT ||
	    event->cost_nusd < -1 || event->reset_at < 0 || event->delay_ms < 0 ||
	    event->tokens.input < -1 || event->tokens.reasoning < -1)
		abort();
	agent_summary_take(context, event);
}

static void read_in(const uint8_t *data, size_t size, size_t piece, struct agent_summary *ret)
{
	struct agent_reader *reader = agent_reader_new(agent_format_find("events"), take, ret);

	agent_summary_init(ret);
	for (size_t at = 0; at < size; at += piece)
		agent_reader_feed(reader, (const char *)data + at,
				  size - at < piece ? size - at : piece);
	agent_reader_end(reader);
	agent_reader_free(reader);
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void fuzz_events(const uint8_t *data, size_t size)
{
	struct agent_summary whole, pieces;

	read_in(data, size, size + 1, &whole);
	read_in(data, size, size ? 1 + data[0] % 7 : 1, &pieces);
	if (whole.cost_nusd != pieces.cost_nusd || whole.unknown != pieces.unknown ||
	    whole.error != pieces.error || whole.ok != pieces.ok ||
	    !same(whole.final, pieces.final) || !same(whole.session, pieces.session))
		abort();
	agent_summary_release(&whole);
	agent_summary_release(&pieces);
}

FUZZ_TARGET(fuzz_events)
