/* The table of formats, and the dispatch to their readers: see agent.h. */
#include "agent/agent_reader.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

static const struct agent_format *const formats[] = {
	&agent_format_plain,
	&agent_format_events,
	&agent_format_claude,
	&agent_format_codex,
	&agent_format_gemini,
	&agent_format_opencode,
	NULL,
};

const struct agent_format *agent_format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

char *agent_format_names(void)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(1024);

	for (size_t i = 0; formats[i]; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
	return mem_dup(buffer_text(&names));
}

struct agent_reader *agent_reader_new(const struct agent_format *format, agent_event_fn *fn,
				      void *context)
{
	struct agent_reader *reader = format->open(fn, context);

	reader->format = format;
	return reader;
}

void agent_reader_continue(struct agent_reader *reader, const struct agent_totals *before)
{
	reader->before = *before;
}

void agent_reader_feed(struct agent_reader *reader, const char *data, size_t size)
{
	reader->format->feed(reader, data, size);
}

void agent_reader_end(struct agent_reader *reader)
{
	reader->format->end(reader);
}

void agent_reader_free(struct agent_reader *reader)
{
	if (reader)
		reader->format->free(reader);
}
