/* Reads an agent's stream from stdin: for tests of fixtures, and for measuring. */
#include "agent/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 65536 };

struct listener {
	struct agent_summary summary;
	uint64_t events;
	int quiet;
};

static void tell_text(const char *key, const char *text)
{
	if (!text)
		return;
	printf(" %s=\"", key);
	for (const char *at = text; *at; at++) {
		if (*at == '\n')
			printf("\\n");
		else if (*at == '"' || *at == '\\')
			printf("\\%c", *at);
		else
			putchar(*at);
	}
	putchar('"');
}

static void tell_number(const char *key, int64_t number, int64_t none)
{
	if (number != none)
		printf(" %s=%" PRId64, key, number);
}

static void tell_tokens(const struct agent_tokens *tokens)
{
	tell_number("input", tokens->input, -1);
	tell_number("output", tokens->output, -1);
	tell_number("cache_read", tokens->cache_read, -1);
	tell_number("cache_write_5m", tokens->cache_write_5m, -1);
	tell_number("cache_write_1h", tokens->cache_write_1h, -1);
	tell_number("reasoning", tokens->reasoning, -1);
}

static void hear(void *context, const struct agent_event *event)
{
	struct listener *listener = context;

	listener->events++;
	agent_summary_take(&listener->summary, event);
	if (listener->quiet)
		return;
	printf("%s", agent_event_name(event->kind));
	if (event->kind == AGENT_EVENT_tool_result || event->kind == AGENT_EVENT_finished)
		printf(" %s", event->ok ? "ok" : "failed");
	if (event->error != AGENT_ERROR_NONE)
		printf(" error=%s", agent_error_name(event->error));
	tell_text("name", event->name);
	tell_text("target", event->target);
	tell_text("session", event->session);
	tell_text("text", event->text);
	tell_number("reset_at", event->reset_at, 0);
	tell_number("delay_ms", event->delay_ms, 0);
	tell_tokens(&event->tokens);
	tell_number("cost_nusd", event->cost_nusd, -1);
	printf("\n");
}

static void tell_summary(const struct agent_summary *summary)
{
	printf("= %s%s error=%s", summary->finished ? "finished" : "unfinished",
	       summary->ok ? " ok" : "", agent_error_name(summary->error));
	tell_text("final", summary->final);
	tell_text("session", summary->session);
	tell_text("message", summary->message);
	tell_number("reset_at", summary->reset_at, 0);
	tell_tokens(&summary->tokens);
	tell_number("cost_nusd", summary->cost_nusd, -1);
	printf("%s tool_calls=%" PRIu64 " tool_errors=%" PRIu64 " files_changed=%" PRIu64
	       " retries=%" PRIu64 " unknown=%" PRIu64 "\n",
	       summary->unpriced ? " unpriced" : "", summary->tool_calls, summary->tool_errors,
	       summary->files_changed, summary->retries, summary->unknown);
}

int main(int argc, char **argv)
{
	const struct agent_format *format = argc > 1 ? agent_format_find(argv[1]) : NULL;
	struct listener listener = { .quiet = argc > 2 };
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
	tell_summary(&listener.summary);
	if (listener.quiet)
		printf("events=%" PRIu64 "\n", listener.events);
	agent_summary_release(&listener.summary);
	return 0;
}
