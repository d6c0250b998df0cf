/* The format `plain`: text for people, in which nothing can be relied on. See agent.h. */
#include "agent/agent_reader.h"
#include "util/mem.h"

#include <stdlib.h>

static struct agent_reader *open_plain(agent_event_fn *fn, void *context)
{
	struct agent_reader *reader = mem_zero(sizeof *reader);

	reader->fn = fn;
	reader->context = context;
	return reader;
}

static void feed_plain(struct agent_reader *reader, const char *data, size_t size)
{
	(void)reader;
	(void)data;
	(void)size;
}

static void end_plain(struct agent_reader *reader)
{
	(void)reader;
}

static void free_plain(struct agent_reader *reader)
{
	free(reader);
}

const struct agent_format agent_format_plain = { .name = "plain",
						 .open = open_plain,
						 .feed = feed_plain,
						 .end = end_plain,
						 .free = free_plain };
