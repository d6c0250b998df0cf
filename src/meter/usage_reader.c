/* Reads the usage from a model's response: see usage.h. */
#include "meter/usage.h"

#include "meter/form.h"

#include <string.h>

static const struct form *const forms[USAGE_FORMATS] = {
	[USAGE_ANTHROPIC] = &form_anthropic,
	[USAGE_CHAT] = &form_chat,
	[USAGE_RESPONSES] = &form_responses,
	[USAGE_GEMINI] = &form_gemini,
};

static void on_data(void *context, const char *bytes, size_t size)
{
	struct usage_reader *reader = context;

	jsonscan_feed(&reader->scan, bytes, size);
}

static void on_event_end(void *context, size_t at)
{
	struct usage_reader *reader = context;
	bool extra = reader->has_usage && reader->has_choices && reader->empty_choices;

	reader->has_usage = reader->has_choices = reader->empty_choices = false;
	jsonscan_reset(&reader->scan);
	if (reader->event)
		reader->event(reader->context, at, extra);
}

void usage_init(struct usage_reader *reader, enum usage_format format, bool stream)
{
	*reader = (struct usage_reader){ .format = format, .stream = stream };
	reader->scan = (struct jsonscan){ .nodes = forms[format]->nodes,
					  .count = forms[format]->count,
					  .report = forms[format]->on_value,
					  .context = reader,
					  .room = reader->text,
					  .room_size = sizeof reader->text };
	reader->sse = (struct sse){ .data = on_data, .end = on_event_end, .context = reader };
}

void usage_feed(struct usage_reader *reader, const char *bytes, size_t size)
{
	if (reader->stream)
		sse_feed(&reader->sse, bytes, size);
	else
		jsonscan_feed(&reader->scan, bytes, size);
}

static uint64_t text_bytes(const struct usage_reader *reader)
{
	return reader->usage.text_bytes +
	       jsonscan_pending(&reader->scan, forms[reader->format]->text);
}

bool usage_billable(const struct usage_reader *reader)
{
	const struct usage *usage = &reader->usage;

	return usage->has_input || usage->has_output || usage->deltas > 0 || text_bytes(reader) > 0;
}

bool usage_began(const struct usage_reader *reader)
{
	return reader->usage.framed || reader->usage.model[0] || usage_billable(reader);
}

bool usage_whole(const struct usage_reader *reader)
{
	return reader->usage.error[0] ||
	       (reader->usage.ended && (reader->stream || jsonscan_done(&reader->scan)));
}

uint64_t usage_estimate(const struct usage_reader *reader)
{
	const struct usage *usage = &reader->usage;
	uint64_t tokens = (text_bytes(reader) + 1) / 2;

	return tokens > usage->deltas ? tokens : usage->deltas;
}
