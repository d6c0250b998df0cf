/*
 * Claude Code: its command line, and its stream (--output-format stream-json).
 *
 * A line is `system` (init, api_retry, tasks...), `assistant` (one block of a message; its usage is
 * not final), `user` (tool results), `rate_limit_event` or `result`. One run can have several
 * `result` lines, one for each background task that ends; their costs are totals since the session
 * began. If the API refuses a request, the `result` claims success but has is_error set; an
 * `assistant` message of the model `<synthetic>` with an `error` precedes it.
 */
#include "agent/adapter.h"
#include "agent/stream.h"
#include "provider/provider.h"

#include <string.h>

struct claude {
	struct stream stream;
	enum failure refused; /* error of the last `<synthetic>` message */
};

static const struct {
	const char *name;
	enum failure error;
} errors[] = {
	{ "rate_limit", FAILURE_RATE_LIMIT },
	{ "overloaded", FAILURE_OVERLOADED },
	/* Any failure without a status, including a broken connection. */
	{ "server_error", FAILURE_OVERLOADED },
	{ "authentication_failed", FAILURE_AUTHENTICATION },
	{ "oauth_org_not_allowed", FAILURE_PERMISSION },
	{ "billing_error", FAILURE_BILLING },
	{ "model_not_found", FAILURE_MODEL_NOT_FOUND },
	{ "unknown", FAILURE_NETWORK },
};

static enum failure error_of(struct jsonline name)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (jsonline_is(name, errors[i].name))
			return errors[i].error;
	return FAILURE_OTHER;
}

static void handle_system(struct stream *stream, struct jsonline line)
{
	enum { SUBTYPE, SESSION, MODEL, DELAY, STATUS, ERROR, COUNT };
	struct jsonline_field fields[COUNT] = {
		{ "subtype", { 0 } },        { "session_id", { 0 } },   { "model", { 0 } },
		{ "retry_delay_ms", { 0 } }, { "error_status", { 0 } }, { "error", { 0 } }
	};
	AUTO_BUFFER struct buffer session = { 0 }, model = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_started);
	int64_t status;

	jsonline_object(line, fields, COUNT);
	if (jsonline_is(fields[SUBTYPE].value, "init")) {
		event.session = stream_text(fields[SESSION].value, &session);
		event.name = stream_text(fields[MODEL].value, &model);
	} else if (jsonline_is(fields[SUBTYPE].value, "api_retry")) {
		event.kind = AGENT_EVENT_retry;
		event.delay_ms = jsonline_count(fields[DELAY].value);
		if (event.delay_ms < 0)
			event.delay_ms = 0;
		status = jsonline_count(fields[STATUS].value);
		event.error = status > 0 ? failure_from_http((unsigned int)status, NULL, NULL)
					 : error_of(fields[ERROR].value);
	} else {
		return; /* tasks, hooks, compaction: known, not needed */
	}
	stream_emit(stream, &event);
}

static void handle_tool(struct stream *stream, struct jsonline name, struct jsonline input)
{
	AUTO_BUFFER struct buffer tool = { 0 }, target = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_call);

	event.name = stream_text(name, &tool);
	event.target = stream_text(stream_target(input), &target);
	stream_emit(stream, &event);
	if (jsonline_is(name, "Edit") || jsonline_is(name, "Write") ||
	    jsonline_is(name, "NotebookEdit")) {
		event.kind = AGENT_EVENT_file_changed;
		stream_emit(stream, &event);
	}
}

static void handle_block(struct stream *stream, struct jsonline block, bool child)
{
	enum { TYPE, TEXT, NAME, INPUT, THINKING, COUNT };
	struct jsonline_field fields[COUNT] = { { "type", { 0 } },
						{ "text", { 0 } },
						{ "name", { 0 } },
						{ "input", { 0 } },
						{ "thinking", { 0 } } };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_text);

	jsonline_object(block, fields, COUNT);
	if (jsonline_is(fields[TYPE].value, "tool_use")) {
		if (!child)
			stream_clear_text(stream);
		handle_tool(stream, fields[NAME].value, fields[INPUT].value);
	} else if (jsonline_is(fields[TYPE].value, "text") && !child) {
		/* A child's text is meant for its parent; it is not reported. */
		stream_add_text(stream, fields[TEXT].value);
		event.text = buffer_text(&stream->text);
		stream_emit(stream, &event);
	} else if (jsonline_is(fields[TYPE].value, "thinking") && !child) {
		stream_thinking(stream, fields[THINKING].value);
	}
}

static void handle_assistant(struct stream *stream, struct jsonline line)
{
	enum { MESSAGE, PARENT, ERROR, COUNT };
	struct jsonline_field fields[COUNT] = { { "message", { 0 } },
						{ "parent_tool_use_id", { 0 } },
						{ "error", { 0 } } };
	struct jsonline block;
	size_t cursor = 0;

	jsonline_object(line, fields, COUNT);

	struct jsonline content = jsonline_get(fields[MESSAGE].value, "content");
	bool child = jsonline_is_string(fields[PARENT].value);

	if (!child)
		((struct claude *)stream)->refused = jsonline_is_string(fields[ERROR].value)
							     ? error_of(fields[ERROR].value)
							     : FAILURE_NONE;
	/* A `<synthetic>` message is an error; the `result` repeats it. */
	while (((struct claude *)stream)->refused == FAILURE_NONE &&
	       jsonline_next(content, &cursor, NULL, &block))
		handle_block(stream, block, child);
}

static void handle_user(struct stream *stream, struct jsonline line)
{
	struct jsonline content = jsonline_get(jsonline_get(line, "message"), "content");
	struct jsonline block;
	size_t cursor = 0;

	while (jsonline_next(content, &cursor, NULL, &block)) {
		enum { TYPE, ERROR, CONTENT, COUNT };
		struct jsonline_field fields[COUNT] = { { "type", { 0 } },
							{ "is_error", { 0 } },
							{ "content", { 0 } } };
		struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_result);

		jsonline_object(block, fields, COUNT);
		event.ok = !jsonline_is_true(fields[ERROR].value);
		event.output = fields[CONTENT].value.at;
		event.output_size = fields[CONTENT].value.size;
		if (jsonline_is(fields[TYPE].value, "tool_result"))
			stream_emit(stream, &event);
	}
}

static void handle_limit(struct stream *stream, struct jsonline line)
{
	enum { STATUS, RESETS, KIND, OVERAGE, COUNT };
	struct jsonline_field fields[COUNT] = { { "status", { 0 } },
						{ "resetsAt", { 0 } },
						{ "rateLimitType", { 0 } },
						{ "isUsingOverage", { 0 } } };
	AUTO_BUFFER struct buffer kind = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_rate_limit);
	int64_t resets;

	jsonline_object(jsonline_get(line, "rate_limit_info"), fields, COUNT);
	resets = jsonline_count(fields[RESETS].value);
	event.reset_at = resets > 0 ? resets : 0;
	event.name = stream_text(fields[KIND].value, &kind);
	if (jsonline_is(fields[STATUS].value, "rejected") &&
	    !jsonline_is_true(fields[OVERAGE].value))
		event.error = FAILURE_RATE_LIMIT;
	stream_emit(stream, &event);
}

/* Adds a number to a total; -1 stays unknown. */
static void add(int64_t *sum, struct jsonline number)
{
	int64_t value = jsonline_count(number);

	if (value >= 0 && *sum < INT64_MAX / 2)
		*sum = (*sum < 0 ? 0 : *sum) + value;
}

static void handle_usage(struct stream *stream, struct jsonline models, struct jsonline cost)
{
	enum { IN, OUT, READ, WRITE, WRITE_5M, WRITE_1H, THINKING, COUNT };
	AUTO_BUFFER struct buffer model = { 0 };
	struct agent_tokens sum = AGENT_TOKENS_UNKNOWN;
	struct jsonline first = { 0 };
	struct jsonline name;
	struct jsonline use;
	size_t cursor = 0;

	while (jsonline_next(models, &cursor, &name, &use)) {
		struct jsonline_field fields[COUNT] = {
			{ "inputTokens", { 0 } },
			{ "outputTokens", { 0 } },
			{ "cacheReadInputTokens", { 0 } },
			{ "cacheCreationInputTokens", { 0 } },
			{ "cacheCreationEphemeral5mInputTokens", { 0 } },
			{ "cacheCreationEphemeral1hInputTokens", { 0 } },
			{ "thinkingTokens", { 0 } }
		};
		bool split;

		jsonline_object(use, fields, COUNT);
		split = fields[WRITE_5M].value.at && fields[WRITE_1H].value.at;
		add(&sum.input, fields[IN].value);
		add(&sum.output, fields[OUT].value);
		add(&sum.cache_read, fields[READ].value);
		add(&sum.cache_write_5m, fields[split ? WRITE_5M : WRITE].value);
		add(&sum.cache_write_1h, fields[WRITE_1H].value);
		add(&sum.reasoning, fields[THINKING].value);
		if (!first.at)
			first = name;
	}
	if (first.at)
		stream_report_total(stream, stream_text(first, &model), &sum, jsonline_nano(cost));
}

static enum failure error_of_result(const struct claude *claude, struct jsonline status,
				    struct jsonline subtype, const char *message)
{
	int64_t code = jsonline_count(status);
	enum failure by_status = code > 0 ? failure_from_http((unsigned int)code, NULL, message)
					  : FAILURE_NONE;

	if (!failure_row(by_status)->vague)
		return by_status;
	if (claude->refused != FAILURE_NONE)
		return claude->refused;
	return jsonline_is(subtype, "error_max_budget_usd") ? FAILURE_BUDGET : FAILURE_OTHER;
}

static void handle_result(struct stream *stream, struct jsonline line)
{
	enum { SUBTYPE, ERROR, STATUS, RESULT, SESSION, COST, MODELS, COUNT };
	struct jsonline_field fields[COUNT] = {
		{ "subtype", { 0 } },   { "is_error", { 0 } },   { "api_error_status", { 0 } },
		{ "result", { 0 } },    { "session_id", { 0 } }, { "total_cost_usd", { 0 } },
		{ "modelUsage", { 0 } }
	};
	const struct claude *claude = (const struct claude *)stream;
	AUTO_BUFFER struct buffer text = { 0 }, session = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_finished);

	jsonline_object(line, fields, COUNT);
	handle_usage(stream, fields[MODELS].value, fields[COST].value);
	event.ok = jsonline_is(fields[SUBTYPE].value, "success") &&
		   !jsonline_is_true(fields[ERROR].value) && claude->refused == FAILURE_NONE;
	event.text = stream_text(fields[RESULT].value, &text);
	if (!event.ok)
		event.error = error_of_result(claude, fields[STATUS].value, fields[SUBTYPE].value,
					      event.text);
	event.session = stream_text(fields[SESSION].value, &session);
	stream_finish(stream, &event);
}

static void handle(struct stream *stream, struct jsonline line)
{
	struct jsonline_field type = { .key = "type" };

	if (jsonline_object(line, &type, 1) < 0 || !type.value.at)
		stream_unknown(stream);
	else if (jsonline_is(type.value, "assistant"))
		handle_assistant(stream, line);
	else if (jsonline_is(type.value, "user"))
		handle_user(stream, line);
	else if (jsonline_is(type.value, "system"))
		handle_system(stream, line);
	else if (jsonline_is(type.value, "rate_limit_event"))
		handle_limit(stream, line);
	else if (jsonline_is(type.value, "result"))
		handle_result(stream, line);
	else
		stream_unknown(stream);
}

static struct agent_reader *open_claude(agent_event_fn *fn, void *context)
{
	return stream_open(sizeof(struct claude), fn, context, handle, NULL);
}

const struct agent_format agent_format_claude = STREAM_FORMAT("claude", open_claude);

static const char *const words[] = { "-p", "--output-format", "stream-json", "--verbose",
				     /* Ignores the project's .claude and .mcp.json. */
				     "--setting-sources", "user", "--strict-mcp-config", NULL };
static const char *const bypass[] = { "--dangerously-skip-permissions", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "--resume", NULL };
static const char *const last[] = { NULL };
static const char *const environment[] = {
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	/* The loop waits instead: it knows until when, and what waiting costs. */
	"CLAUDE_CODE_MAX_RETRIES=3", NULL
};
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_ANTHROPIC_TOKEN,
				    PROVIDER_ANTHROPIC_OAUTH, NULL };
static const char *const passes[] = { PROVIDER_ANTHROPIC_BASE, NULL };
static const char *const login_hosts[] = { "api.anthropic.com", "platform.claude.com", NULL };
static const char *const hides[] = { NULL };
static const char *const sessions[] = { ".claude/projects", NULL };

/* With the project's settings ignored, its notes would be too; link them as the user's own. */
static const char setup[] = "mkdir -p \"$HOME/.claude\"\n"
			    "for notes in CLAUDE.md AGENTS.md; do\n"
			    "\tif [ -e \"$PWD/$notes\" ]; then\n"
			    "\t\tln -s \"$PWD/$notes\" \"$HOME/.claude/CLAUDE.md\"\n"
			    "\t\tbreak\n"
			    "\tfi\n"
			    "done";

ADAPTER_COMPLETE
const struct adapter agent_adapter_claude = {
	/* name */ "claude",
	/* title */ "Claude Code",
	/* program */ "claude",
	/* install */ "npm install -g @anthropic-ai/claude-code",
	/* tested_from */ "2.1.326",
	/* tested_below */ "2.2",
	/* format */ &agent_format_claude,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ resume,
	/* last */ last,
	/* environment */ environment,
	/* bypass_env */ bypass_env,
	/* keys */ keys,
	/* passes */ passes,
	/* credentials */ ".claude/.credentials.json",
	/* login_hosts */ login_hosts,
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ setup,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ false,
};
