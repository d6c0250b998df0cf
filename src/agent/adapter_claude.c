/*
 * Claude Code: how it is started, and its stream (--output-format stream-json).
 *
 * A line is `system` (init, api_retry, tasks...), `assistant` (one block of a message each; its usage is not
 * final), `user` (results of tools), `rate_limit_event` or `result`. Of those last there can be several in
 * one run, when something in the background has ended; their costs are sums since the session began. What
 * the API refused is a `result` that calls itself a success and has is_error; a message of the model
 * `<synthetic>` with an `error` stands before it.
 */
#include "agent/adapter.h"
#include "agent/stream.h"
#include "provider/provider.h"

#include <string.h>

struct claude {
	struct stream stream;
	enum failure refused; /* what the last message of the agent itself said */
};

static const struct {
	const char *name;
	enum failure error;
} errors[] = {
	{ "rate_limit", FAILURE_RATE_LIMIT },
	{ "overloaded", FAILURE_OVERLOADED },
	/* Any trouble that has no status, a broken connection among it. */
	{ "server_error", FAILURE_OVERLOADED },
	{ "authentication_failed", FAILURE_AUTHENTICATION },
	{ "oauth_org_not_allowed", FAILURE_PERMISSION },
	{ "billing_error", FAILURE_BILLING },
	{ "unknown", FAILURE_NETWORK },
};

static enum failure error_of(struct jsonline name)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (jsonline_is(name, errors[i].name))
			return errors[i].error;
	return FAILURE_OTHER;
}

static void take_system(struct stream *stream, struct jsonline line)
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
		return; /* of tasks, hooks, compaction: known to be there, and of no use here */
	}
	stream_emit(stream, &event);
}

static void take_tool(struct stream *stream, struct jsonline name, struct jsonline input)
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

static void take_block(struct stream *stream, struct jsonline block, bool child)
{
	enum { TYPE, TEXT, NAME, INPUT, COUNT };
	struct jsonline_field fields[COUNT] = {
		{ "type", { 0 } }, { "text", { 0 } }, { "name", { 0 } }, { "input", { 0 } }
	};
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_text);

	jsonline_object(block, fields, COUNT);
	if (jsonline_is(fields[TYPE].value, "tool_use")) {
		if (!child)
			stream_hush(stream);
		take_tool(stream, fields[NAME].value, fields[INPUT].value);
	} else if (jsonline_is(fields[TYPE].value, "text") && !child) {
		/* What a child says is said to its parent. */
		stream_say(stream, fields[TEXT].value);
		event.text = buffer_text(&stream->said);
		stream_emit(stream, &event);
	}
}

static void take_assistant(struct stream *stream, struct jsonline line)
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
	/* What it says in the model's place is an error, and comes again as the result. */
	while (((struct claude *)stream)->refused == FAILURE_NONE &&
	       jsonline_next(content, &cursor, NULL, &block))
		take_block(stream, block, child);
}

static void take_user(struct stream *stream, struct jsonline line)
{
	struct jsonline content = jsonline_get(jsonline_get(line, "message"), "content");
	struct jsonline block;
	size_t cursor = 0;

	while (jsonline_next(content, &cursor, NULL, &block)) {
		enum { TYPE, ERROR, COUNT };
		struct jsonline_field fields[COUNT] = { { "type", { 0 } }, { "is_error", { 0 } } };
		struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_result);

		jsonline_object(block, fields, COUNT);
		event.ok = !jsonline_is_true(fields[ERROR].value);
		if (jsonline_is(fields[TYPE].value, "tool_result"))
			stream_emit(stream, &event);
	}
}

static void take_limit(struct stream *stream, struct jsonline line)
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

/* The sums over all models; -1 stays unknown. */
static void add(int64_t *sum, struct jsonline number)
{
	int64_t value = jsonline_count(number);

	if (value >= 0 && *sum < INT64_MAX / 2)
		*sum = (*sum < 0 ? 0 : *sum) + value;
}

static void take_usage(struct stream *stream, struct jsonline models, struct jsonline cost)
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
		stream_spent(stream, stream_text(first, &model), &sum, jsonline_nano(cost));
}

static enum failure error_of_result(const struct claude *claude, struct jsonline status,
				    struct jsonline subtype, const char *message)
{
	int64_t code = jsonline_count(status);

	if (code > 0)
		return failure_from_http((unsigned int)code, NULL, message);
	if (claude->refused != FAILURE_NONE)
		return claude->refused;
	return jsonline_is(subtype, "error_max_budget_usd") ? FAILURE_BUDGET : FAILURE_OTHER;
}

static void take_result(struct stream *stream, struct jsonline line)
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
	take_usage(stream, fields[MODELS].value, fields[COST].value);
	event.ok = jsonline_is(fields[SUBTYPE].value, "success") &&
		   !jsonline_is_true(fields[ERROR].value) && claude->refused == FAILURE_NONE;
	event.text = stream_text(fields[RESULT].value, &text);
	if (!event.ok)
		event.error = error_of_result(claude, fields[STATUS].value, fields[SUBTYPE].value,
					      event.text);
	event.session = stream_text(fields[SESSION].value, &session);
	stream_finish(stream, &event);
}

static void take(struct stream *stream, struct jsonline line)
{
	struct jsonline_field type = { .key = "type" };

	if (jsonline_object(line, &type, 1) < 0 || !type.value.at)
		stream_unknown(stream);
	else if (jsonline_is(type.value, "assistant"))
		take_assistant(stream, line);
	else if (jsonline_is(type.value, "user"))
		take_user(stream, line);
	else if (jsonline_is(type.value, "system"))
		take_system(stream, line);
	else if (jsonline_is(type.value, "rate_limit_event"))
		take_limit(stream, line);
	else if (jsonline_is(type.value, "result"))
		take_result(stream, line);
	else
		stream_unknown(stream);
}

static struct agent_reader *open_claude(agent_event_fn *fn, void *context)
{
	return stream_open(sizeof(struct claude), fn, context, take, NULL);
}

const struct agent_format agent_format_claude = STREAM_FORMAT("claude", open_claude);

static const char *const words[] = { "-p", "--output-format", "stream-json", "--verbose",
				     /* Nothing of the project's .claude and .mcp.json. */
				     "--setting-sources", "user", "--strict-mcp-config", NULL };
static const char *const bypass[] = { "--dangerously-skip-permissions", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "--resume", NULL };
static const char *const last[] = { NULL };
static const char *const environment[] = {
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	/* Waiting is the loop's affair: it knows until when, and what it costs. */
	"CLAUDE_CODE_MAX_RETRIES=3", NULL
};
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_ANTHROPIC_TOKEN,
				    PROVIDER_ANTHROPIC_OAUTH, NULL };
static const char *const passes[] = { PROVIDER_ANTHROPIC_BASE, NULL };
static const char *const hides[] = { NULL };
static const char *const sessions[] = { ".claude/projects", NULL };

/* The project's notes come with the project's settings, or not at all; so they are shown as the user's. */
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
	/* tested_from */ "2.1.325",
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
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ setup,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ false,
};
