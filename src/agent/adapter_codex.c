/*
 * Codex: its command line, and its stream (exec --json).
 *
 * A turn consists of items (messages, commands, file changes), each reported at its start and at
 * its end. Usage is a total since the thread began; cost, model and the usage of child agents are
 * not reported. A retry is an `error` line that starts with "Reconnecting... 2/5"; the final
 * failure has the same text without that, once as `error` and once as `turn.failed`.
 */
#include "agent/adapter.h"
#include "agent/stream.h"
#include "provider/provider.h"

#include <string.h>

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Errors have no type, only text. The text is Codex's own, about its own request. */
static enum failure error_of(const char *message)
{
	static const char *const marks[] = { "last status: ", "unexpected status ", NULL };
	int64_t status = stream_find_status(message, marks);

	if (status)
		return failure_from_http((unsigned int)status, NULL, message);
	if (strstr(message, "hit your usage limit") || strstr(message, "usage limit reached"))
		return FAILURE_RATE_LIMIT;
	if (strstr(message, "Quota exceeded"))
		return FAILURE_BILLING;
	if (strstr(message, "Not logged in") || strstr(message, "refresh token"))
		return FAILURE_AUTHENTICATION;
	if (strstr(message, "server is overloaded") || strstr(message, "at capacity") ||
	    strstr(message, "high demand"))
		return FAILURE_OVERLOADED;
	if (strstr(message, "stream disconnected") || strstr(message, "error sending request") ||
	    strstr(message, "onnection"))
		return FAILURE_NETWORK;
	return FAILURE_OTHER;
}

static void handle_error(struct stream *stream, struct jsonline message)
{
	AUTO_BUFFER struct buffer text = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_error);

	event.text = stream_text(message, &text);
	event.error = error_of(event.text ? event.text : "");
	if (event.text && begins_with(event.text, "Reconnecting..."))
		event.kind = AGENT_EVENT_retry;
	stream_emit(stream, &event);
}

static void handle_end(struct stream *stream, bool ok, struct jsonline message)
{
	AUTO_BUFFER struct buffer text = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_finished);

	event.ok = ok;
	event.text = ok ? buffer_text(&stream->text) : stream_text(message, &text);
	if (!ok)
		event.error = error_of(event.text ? event.text : "");
	stream_finish(stream, &event);
}

/* Here input_tokens includes the cached tokens. */
static void handle_usage(struct stream *stream, struct jsonline usage)
{
	enum { IN, CACHED, WRITTEN, OUT, REASONING, COUNT };
	struct jsonline_field fields[COUNT] = { { "input_tokens", { 0 } },
						{ "cached_input_tokens", { 0 } },
						{ "cache_write_input_tokens", { 0 } },
						{ "output_tokens", { 0 } },
						{ "reasoning_output_tokens", { 0 } } };
	struct agent_tokens sum = AGENT_TOKENS_UNKNOWN;

	if (jsonline_object(usage, fields, COUNT) < 0)
		return;
	sum.input = jsonline_count(fields[IN].value);
	sum.output = jsonline_count(fields[OUT].value);
	sum.cache_read = jsonline_count(fields[CACHED].value);
	sum.cache_write_5m = jsonline_count(fields[WRITTEN].value);
	sum.reasoning = jsonline_count(fields[REASONING].value);
	if (sum.input >= 0 && sum.cache_read > 0)
		sum.input -= sum.cache_read < sum.input ? sum.cache_read : sum.input;
	if (sum.input >= 0 && sum.cache_write_5m > 0)
		sum.input -= sum.cache_write_5m < sum.input ? sum.cache_write_5m : sum.input;
	stream_report_total(stream, "", &sum, -1);
}

static struct jsonline first_path(struct jsonline changes)
{
	struct jsonline change = { 0 };
	size_t cursor = 0;

	return jsonline_next(changes, &cursor, NULL, &change) ? jsonline_get(change, "path")
							      : change;
}

static void handle_changes(struct stream *stream, struct jsonline changes)
{
	struct jsonline change;
	size_t cursor = 0;

	while (jsonline_next(changes, &cursor, NULL, &change)) {
		AUTO_BUFFER struct buffer path = { 0 };
		struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_file_changed);

		event.target = stream_text(jsonline_get(change, "path"), &path);
		stream_emit(stream, &event);
	}
}

/* A tool of codex, at its beginning or its end. */
struct tool {
	const char *name;
	struct jsonline about, output;
	bool begins, ok;
};

static void handle_tool(struct stream *stream, const struct tool *tool)
{
	AUTO_BUFFER struct buffer target = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(tool->begins ? AGENT_EVENT_tool_call
								 : AGENT_EVENT_tool_result);

	stream_clear_text(stream);
	event.name = tool->name;
	event.target = stream_text(tool->about, &target);
	event.ok = tool->ok;
	event.output = tool->begins ? NULL : tool->output.at;
	event.output_size = tool->begins ? 0 : tool->output.size;
	stream_emit(stream, &event);
}

static void handle_item(struct stream *stream, struct jsonline item, bool begins)
{
	enum { TYPE, TEXT, COMMAND, CHANGES, STATUS, TOOL, QUERY, OUTPUT, RESULT, COUNT };
	struct jsonline_field fields[COUNT] = {
		{ "type", { 0 } },    { "text", { 0 } },
		{ "command", { 0 } }, { "changes", { 0 } },
		{ "status", { 0 } },  { "tool", { 0 } },
		{ "query", { 0 } },   { "aggregated_output", { 0 } },
		{ "result", { 0 } }
	};
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_text);
	AUTO_BUFFER struct buffer name = { 0 };
	struct tool tool = { .begins = begins };

	jsonline_object(item, fields, COUNT);

	struct jsonline type = fields[TYPE].value;

	tool.ok = !jsonline_is(fields[STATUS].value, "failed");
	if (jsonline_is(type, "agent_message")) {
		if (begins)
			return;
		stream_clear_text(stream);
		stream_add_text(stream, fields[TEXT].value);
		event.text = buffer_text(&stream->text);
		stream_emit(stream, &event);
	} else if (jsonline_is(type, "command_execution")) {
		tool.name = "shell";
		tool.about = fields[COMMAND].value;
		tool.output = fields[OUTPUT].value;
		handle_tool(stream, &tool);
	} else if (jsonline_is(type, "file_change")) {
		tool.name = "patch";
		tool.about = first_path(fields[CHANGES].value);
		handle_tool(stream, &tool);
		if (!begins && tool.ok)
			handle_changes(stream, fields[CHANGES].value);
	} else if (jsonline_is(type, "mcp_tool_call") || jsonline_is(type, "collab_tool_call")) {
		tool.name = stream_text(fields[TOOL].value, &name);
		tool.about = fields[TOOL].value;
		tool.output = jsonline_get(fields[RESULT].value, "content");
		handle_tool(stream, &tool);
	} else if (jsonline_is(type, "web_search")) {
		tool.name = "web search";
		tool.about = fields[QUERY].value;
		handle_tool(stream, &tool);
	} else if (jsonline_is(type, "reasoning")) {
		if (!begins)
			stream_thinking(stream, fields[TEXT].value);
	} else if (!jsonline_is(type, "todo_list") &&
		   !jsonline_is(type, "error")) { /* a warning: the turn continues */
		stream_unknown(stream);
	}
}

static void handle_start(struct stream *stream, struct jsonline thread)
{
	AUTO_BUFFER struct buffer session = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_started);

	event.session = stream_text(thread, &session);
	stream_emit(stream, &event);
}

static void handle(struct stream *stream, struct jsonline line)
{
	enum { TYPE, ITEM, THREAD, USAGE, ERROR, MESSAGE, COUNT };
	struct jsonline_field fields[COUNT] = { { "type", { 0 } },      { "item", { 0 } },
						{ "thread_id", { 0 } }, { "usage", { 0 } },
						{ "error", { 0 } },     { "message", { 0 } } };

	if (jsonline_object(line, fields, COUNT) < 0) {
		stream_unknown(stream);
		return;
	}

	struct jsonline type = fields[TYPE].value;

	if (jsonline_is(type, "item.started")) {
		handle_item(stream, fields[ITEM].value, true);
	} else if (jsonline_is(type, "item.completed")) {
		handle_item(stream, fields[ITEM].value, false);
	} else if (jsonline_is(type, "thread.started")) {
		handle_start(stream, fields[THREAD].value);
	} else if (jsonline_is(type, "turn.completed")) {
		handle_usage(stream, fields[USAGE].value);
		handle_end(stream, true, (struct jsonline){ 0 });
	} else if (jsonline_is(type, "turn.failed")) {
		handle_usage(stream, fields[USAGE].value);
		handle_end(stream, false, jsonline_get(fields[ERROR].value, "message"));
	} else if (jsonline_is(type, "error")) {
		handle_error(stream, fields[MESSAGE].value);
	} else if (!jsonline_is(type, "turn.started") && !jsonline_is(type, "item.updated")) {
		stream_unknown(stream);
	}
}

static struct agent_reader *open_codex(agent_event_fn *fn, void *context)
{
	return stream_open(sizeof(struct stream), fn, context, handle, NULL);
}

const struct agent_format agent_format_codex = STREAM_FORMAT("codex", open_codex);

/* Without a network, each of these side requests to the vendor would take five seconds to fail. */
static const char *const words[] = { "exec",
				     "--json",
				     "--skip-git-repo-check",
				     "-c",
				     "analytics.enabled=false",
				     "-c",
				     "features.plugins=false",
				     "-c",
				     "check_for_update_on_startup=false",
				     NULL };
static const char *const bypass[] = { "--dangerously-bypass-approvals-and-sandbox", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "resume", NULL };
static const char *const last[] = { "-", NULL };
static const char *const environment[] = { NULL };
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_OPENAI_CODEX, PROVIDER_OPENAI_KEY, NULL };
static const char *const passes[] = { NULL };
static const char *const login_hosts[] = { "chatgpt.com", "auth.openai.com", NULL };
/*
 * Codex does not start if its folder in the project is unreadable; the project is marked as
 * untrusted instead.
 */
static const char *const hides[] = { NULL };
static const char *const sessions[] = { ".codex/sessions", NULL };

/*
 * Codex ignores the settings and also the notes of an untrusted project, so the notes are linked as
 * the user's own. Without a login file it reads CODEX_API_KEY only, not the usual OPENAI_API_KEY.
 * The gateway refuses searches that open any page; Codex would ask for them in each request.
 */
static const char setup[] =
	"mkdir -p \"$HOME/.codex\"\n"
	"if [ -n \"${RINGFENCE_MODELS:-}\" ] && [ \"${OPENAI_BASE_URL:-}\" = \"$RINGFENCE_MODELS/v1\" ]; then\n"
	"\tprintf 'model_provider = \"ringfence\"\\nweb_search = \"disabled\"\\n[model_providers.ringfence]\\nname = \"ringfence\"\\nbase_url = \"%s/v1\"\\n"
	"env_key = \"OPENAI_API_KEY\"\\nwire_api = \"responses\"\\n' \"$RINGFENCE_MODELS\" >\"$HOME/.codex/config.toml\"\n"
	"fi\n"
	"printf '[projects.\"%s\"]\\ntrust_level = \"untrusted\"\\n' "
	"\"$(printf %s \"$PWD\" | sed 's/[\\\\\"]/\\\\&/g')\" >>\"$HOME/.codex/config.toml\"\n"
	"if [ -e \"$PWD/AGENTS.md\" ]; then ln -s \"$PWD/AGENTS.md\" \"$HOME/.codex/AGENTS.md\"; fi\n"
	"if [ -z \"${CODEX_API_KEY:-}\" ] && [ -n \"${OPENAI_API_KEY:-}\" ]; then\n"
	"\texport CODEX_API_KEY=\"$OPENAI_API_KEY\"\n"
	"fi";

ADAPTER_COMPLETE
const struct adapter agent_adapter_codex = {
	/* name */ "codex",
	/* title */ "Codex",
	/* program */ "codex",
	/* install */ "npm install -g @openai/codex",
	/* tested_from */ "0.169.0",
	/* tested_below */ "0.170",
	/* format */ &agent_format_codex,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ resume,
	/* last */ last,
	/* environment */ environment,
	/* bypass_env */ bypass_env,
	/* keys */ keys,
	/* passes */ passes,
	/* credentials */ ".codex/auth.json",
	/* login_hosts */ login_hosts,
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ setup,
	/* launch */ NULL,
	/* caveat */
	"it reports neither cost nor model: its cost is known only with --model, and excludes child agents",
	/* own */ false,
};
