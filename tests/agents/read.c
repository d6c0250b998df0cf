/*
 * Reads an agent's stream from stdin and prints its events. It generates the expectations beside
 * the fixtures and, with `quiet`, measures the readers' speed.
 */
#include "dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 65536 };

struct listener {
	struct agent_summary summary;
	uint64_t events;
	bool quiet;
};

static void hear(void *context, const struct agent_event *event)
{
	struct listener *listener = context;
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 20);

	listener->events++;
	agent_summary_add(&listener->summary, event);
	if (listener->quiet)
		return;
	dump_event(&line, event);
	fputs(buffer_text(&line), stdout);
}

static void tell_use(const struct listener *listener)
{
	FILE *status = fopen("/proc/self/status", "r");
	long peak_kib = 0;
	char line[256];

	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "VmHWM:", 6) == 0)
			peak_kib = strtol(line + 6, NULL, 10);
	if (status)
		fclose(status);
	printf("peak_kib=%ld events=%" PRIu64 "\n", peak_kib, listener->events);
}

int main(int argc, char **argv)
{
	const struct agent_format *format = argc > 1 ? agent_format_find(argv[1]) : NULL;
	struct listener listener = { .quiet = argc > 2 };
	AUTO_BUFFER struct buffer end = BUFFER_INIT(1 << 20);
	static char chunk[CHUNK];
	struct agent_reader *reader;
	ssize_t n;

	if (!format) {
		fprintf(stderr, "usage: agent_read FORMAT [quiet] <STREAM\n");
		return 2;
	}
	agent_summary_init(&listener.summary);
	reader = agent_reader_new(format, hear, &listener);
	while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0)
		agent_reader_feed(reader, chunk, (size_t)n);
	agent_reader_end(reader);
	agent_reader_free(reader);
	dump_summary(&end, &listener.summary);
	fputs(buffer_text(&end), stdout);
	if (listener.quiet)
		tell_use(&listener);
	agent_summary_release(&listener.summary);
	return 0;
}
