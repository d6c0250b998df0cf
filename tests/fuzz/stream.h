/* Properties of every reader of an agent's stream, for any input in any pieces. */
#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H

#include "agent/agent.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

static inline void stream_check_text(const char *text)
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

static inline void stream_take(void *context, const struct agent_event *event)
{
	stream_check_text(event->text);
	stream_check_text(event->name);
	stream_check_text(event->target);
	stream_check_text(event->session);
	if (event->kind >= AGENT_EVENT_COUNT || event->error >= FAILURES || event->cost_nusd < -1 ||
	    event->reset_at < 0 || event->delay_ms < 0 || event->tokens.input < -1 ||
	    event->tokens.output < -1 || event->tokens.cache_read < -1 ||
	    event->tokens.reasoning < -1)
		abort();
	agent_summary_add(context, event);
}

static inline void stream_read(const char *format, const uint8_t *data, size_t size, size_t piece,
			       struct agent_summary *ret)
{
	struct agent_reader *reader = agent_reader_new(agent_format_find(format), stream_take, ret);

	agent_summary_init(ret);
	for (size_t at = 0; at < size; at += piece)
		agent_reader_feed(reader, (const char *)data + at,
				  size - at < piece ? size - at : piece);
	agent_reader_end(reader);
	agent_reader_free(reader);
}

static inline bool stream_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Splitting the input makes no difference. */
static inline void stream_fuzz(const char *format, const uint8_t *data, size_t size)
{
	struct agent_summary whole, pieces;

	stream_read(format, data, size, size + 1, &whole);
	stream_read(format, data, size, size ? 1 + data[0] % 7 : 1, &pieces);
	if (whole.cost_nusd != pieces.cost_nusd || whole.unknown != pieces.unknown ||
	    whole.error != pieces.error || whole.ok != pieces.ok ||
	    whole.tokens.input != pieces.tokens.input || !stream_same(whole.final, pieces.final) ||
	    !stream_same(whole.message, pieces.message) ||
	    !stream_same(whole.session, pieces.session))
		abort();
	agent_summary_release(&whole);
	agent_summary_release(&pieces);
}

#endif
