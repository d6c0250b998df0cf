/* Summaries of a stream of events: see agent.h. */
#include "agent/agent.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void agent_summary_exit(struct agent_summary *summary, const struct agent_format *format, int code)
{
	int64_t status = format->exit_http ? (int64_t)format->exit_http + code : 0;

	if (summary->ok || summary->error != FAILURE_OTHER || status < 400 || status > 599)
		return;
	summary->error = failure_from_http((unsigned int)status, NULL, summary->message);
}

void agent_summary_init(struct agent_summary *summary)
{
	*summary = (struct agent_summary){ .tokens = AGENT_TOKENS_UNKNOWN,
					   .cost_nusd = -1,
					   .agent_nusd = -1 };
}

void agent_summary_release(struct agent_summary *summary)
{
	free(summary->final);
	free(summary->session);
	free(summary->message);
	agent_summary_init(summary);
}

/*
 * Adds to a total, ignoring unknown parts. Saturates, so that an agent that lies cannot wrap the
 * total around to zero.
 */
static void add(int64_t *sum, int64_t part)
{
	if (part < 0)
		return;
	if (*sum < 0)
		*sum = 0;
	*sum = *sum > INT64_MAX - part ? INT64_MAX : *sum + part;
}

static void add_tokens(struct agent_tokens *sum, const struct agent_tokens *part)
{
	add(&sum->input, part->input);
	add(&sum->output, part->output);
	add(&sum->cache_read, part->cache_read);
	add(&sum->cache_write_5m, part->cache_write_5m);
	add(&sum->cache_write_1h, part->cache_write_1h);
	add(&sum->reasoning, part->reasoning);
}

static void record_error(struct agent_summary *summary, const struct agent_event *event)
{
	if (event->error == FAILURE_NONE)
		return;
	summary->errors += event->kind != AGENT_EVENT_retry;
	summary->retrying = event->kind == AGENT_EVENT_retry;
	/*
	 * A limit that was announced earlier keeps its reset time when the turn ends with that
	 * limit.
	 */
	if (event->reset_at || summary->error != event->error)
		summary->reset_at = event->reset_at;
	summary->error = event->error;
	if (event->text ||
	    event->kind != AGENT_EVENT_finished) /* may repeat the error without its text */
		mem_replace(&summary->message, event->text);
}

static void forget_error(struct agent_summary *summary)
{
	summary->error = FAILURE_NONE;
	summary->retrying = false;
	summary->reset_at = 0;
	mem_replace(&summary->message, NULL);
}

/* The agent is working again, so its retry has succeeded. */
static void end_retry(struct agent_summary *summary)
{
	if (summary->retrying)
		forget_error(summary);
}

static bool is_use(const struct agent_tokens *tokens)
{
	return tokens->input > 0 || tokens->output > 0 || tokens->cache_read > 0 ||
	       tokens->cache_write_5m > 0 || tokens->cache_write_1h > 0;
}

static void record_end(struct agent_summary *summary, const struct agent_event *event)
{
	summary->finished = true;
	summary->ok = event->ok;
	if (event->text)
		mem_replace(&summary->final, event->text);
	if (!event->ok) {
		record_error(summary, event);
		return;
	}
	forget_error(summary);
}

void agent_summary_add(struct agent_summary *summary, const struct agent_event *event)
{
	if (event->session)
		mem_replace(&summary->session, event->session);
	add_tokens(&summary->tokens, &event->tokens);
	add(&summary->cost_nusd, event->cost_nusd);
	switch (event->kind) {
	case AGENT_EVENT_text:
		mem_replace(&summary->final, event->text);
		end_retry(summary);
		break;
	case AGENT_EVENT_tool_call:
		summary->tool_calls++;
		end_retry(summary);
		break;
	case AGENT_EVENT_tool_result:
		summary->tool_errors += !event->ok;
		break;
	case AGENT_EVENT_file_changed:
		summary->files_changed++;
		break;
	case AGENT_EVENT_retry:
		summary->retries++;
		record_error(summary, event);
		break;
	case AGENT_EVENT_tokens:
		summary->unpriced |= event->name && event->cost_nusd < 0 && is_use(&event->tokens);
		break;
	case AGENT_EVENT_rate_limit:
	case AGENT_EVENT_error:
		record_error(summary, event);
		break;
	case AGENT_EVENT_finished:
		record_end(summary, event);
		break;
	case AGENT_EVENT_unknown:
		summary->unknown++;
		break;
	case AGENT_EVENT_started:
	case AGENT_EVENT_thinking:
	case AGENT_EVENT_cost:
	case AGENT_EVENT_COUNT:
		break;
	}
}

const char *agent_event_name(enum agent_event_kind kind)
{
	static const char *const names[] = {
#define AGENT_EVENT(name) #name,
		AGENT_EVENTS(AGENT_EVENT)
#undef AGENT_EVENT
	};

	return kind < AGENT_EVENT_COUNT ? names[kind] : "unknown";
}
