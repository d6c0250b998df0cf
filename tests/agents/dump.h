/* Prints events and summaries as lines, for comparison with the expected ones. */
#ifndef AGENTS_DUMP_H
#define AGENTS_DUMP_H

#include "agent/agent.h"
#include "util/buffer.h"

#include <inttypes.h>

static inline void dump_text(struct buffer *out, const char *key, const char *text)
{
	if (!text)
		return;
	buffer_printf(out, " %s=\"", key);
	for (const char *at = text; *at; at++) {
		if (*at == '\n')
			buffer_add_text(out, "\\n");
		else if (*at == '"' || *at == '\\')
			buffer_printf(out, "\\%c", *at);
		else
			buffer_add(out, at, 1);
	}
	buffer_add_text(out, "\"");
}

static inline void dump_number(struct buffer *out, const char *key, int64_t number, int64_t none)
{
	if (number != none)
		buffer_printf(out, " %s=%" PRId64, key, number);
}

static inline void dump_tokens(struct buffer *out, const struct agent_tokens *tokens)
{
	dump_number(out, "input", tokens->input, -1);
	dump_number(out, "output", tokens->output, -1);
	dump_number(out, "cache_read", tokens->cache_read, -1);
	dump_number(out, "cache_write_5m", tokens->cache_write_5m, -1);
	dump_number(out, "cache_write_1h", tokens->cache_write_1h, -1);
	dump_number(out, "reasoning", tokens->reasoning, -1);
}

static inline void dump_event(struct buffer *out, const struct agent_event *event)
{
	buffer_add_text(out, agent_event_name(event->kind));
	if (event->kind == AGENT_EVENT_tool_result || event->kind == AGENT_EVENT_finished)
		buffer_add_text(out, event->ok ? " ok" : " failed");
	if (event->error != FAILURE_NONE)
		buffer_printf(out, " error=%s", failure_row(event->error)->stream_name);
	dump_text(out, "name", event->name);
	dump_text(out, "target", event->target);
	dump_text(out, "session", event->session);
	dump_text(out, "text", event->text);
	dump_number(out, "reset_at", event->reset_at, 0);
	dump_number(out, "delay_ms", event->delay_ms, 0);
	dump_tokens(out, &event->tokens);
	dump_number(out, "cost_nusd", event->cost_nusd, -1);
	buffer_add_text(out, "\n");
}

static inline void dump_summary(struct buffer *out, const struct agent_summary *summary)
{
	buffer_printf(out, "= %s%s error=%s", summary->finished ? "finished" : "unfinished",
		      summary->ok ? " ok" : "", failure_row(summary->error)->stream_name);
	dump_text(out, "final", summary->final);
	dump_text(out, "session", summary->session);
	dump_text(out, "message", summary->message);
	dump_number(out, "reset_at", summary->reset_at, 0);
	dump_tokens(out, &summary->tokens);
	dump_number(out, "cost_nusd", summary->cost_nusd, -1);
	buffer_printf(out,
		      "%s tool_calls=%" PRIu64 " tool_errors=%" PRIu64 " files_changed=%" PRIu64
		      " retries=%" PRIu64 " unknown=%" PRIu64 "\n",
		      summary->unpriced ? " unpriced" : "", summary->tool_calls,
		      summary->tool_errors, summary->files_changed, summary->retries,
		      summary->unknown);
}

#endif
