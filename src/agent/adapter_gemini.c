/*
 * Gemini CLI: its command line, and its stream (-o stream-json).
 *
 * Messages arrive in pieces, and the prompt is echoed as a user message. The `result` has the usage
 * of each model, for this process only, without a cost. An API error is text that contains the
 * provider's JSON.
 */
#include "agent/adapter.h"
#include "agent/stream.h"
#include "provider/provider.h"

#include <string.h>

struct gemini {
	struct stream stream;
	bool pending; /* text that has not been emitted yet */
};

/* A message is complete when any other line arrives. */
static void flush_text(struct stream *stream)
{
	struct gemini *gemini = (struct gemini *)stream;
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_text);

	if (!gemini->pending)
		return;
	gemini->pending = false;
	event.text = buffer_text(&stream->text);
	stream_emit(stream, &event);
}

static void handle_message(struct stream *stream, struct jsonline role, struct jsonline content)
{
	if (!jsonline_is(role, "assistant"))
		return;
	stream_add_text(stream, content);
	((struct gemini *)stream)->pending = true;
}

static bool changes_files(struct jsonline tool)
{
	return jsonline_is(tool, "replace") || jsonline_is(tool, "write_file") ||
	       jsonline_is(tool, "edit");
}

static void handle_tool(struct stream *stream, struct jsonline tool, struct jsonline input)
{
	AUTO_BUFFER struct buffer name = { 0 }, target = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_call);

	flush_text(stream);
	stream_clear_text(stream);
	event.name = stream_text(tool, &name);
	event.target = stream_text(stream_target(input), &target);
	stream_emit(stream, &event);
	if (changes_files(tool)) {
		event.kind = AGENT_EVENT_file_changed;
		stream_emit(stream, &event);
	}
}

static void handle_tool_result(struct stream *stream, struct jsonline status,
			       struct jsonline output)
{
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_result);

	event.ok = jsonline_is(status, "success");
	event.output = output.at;
	event.output_size = output.size;
	stream_emit(stream, &event);
}

/* Billed output is text plus reasoning; only the total includes the latter. */
static void handle_model(struct stream *stream, struct jsonline model, struct jsonline use)
{
	enum { TOTAL, ALL_IN, OUT, CACHED, IN, COUNT };
	struct jsonline_field fields[COUNT] = { { "total_tokens", { 0 } },
						{ "input_tokens", { 0 } },
						{ "output_tokens", { 0 } },
						{ "cached", { 0 } },
						{ "input", { 0 } } };
	AUTO_BUFFER struct buffer name = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tokens);
	int64_t total;
	int64_t all_in;

	if (jsonline_object(use, fields, COUNT) < 0)
		return;
	event.name = stream_text(model, &name);
	event.tokens.input = jsonline_count(fields[IN].value);
	event.tokens.cache_read = jsonline_count(fields[CACHED].value);
	event.tokens.output = jsonline_count(fields[OUT].value);
	total = jsonline_count(fields[TOTAL].value);
	all_in = jsonline_count(fields[ALL_IN].value);
	if (event.tokens.output >= 0 && all_in >= 0 && total > all_in + event.tokens.output) {
		event.tokens.reasoning = total - all_in - event.tokens.output;
		event.tokens.output = total - all_in;
	}
	stream_emit(stream, &event);
}

static enum failure error_of(struct jsonline type, const char *message)
{
	static const char *const marks[] = { "\"code\":", "status: ", "status ", NULL };
	int64_t status = stream_find_status(message, marks);

	if (status)
		return failure_from_http((unsigned int)status, NULL, message);
	if (jsonline_is(type, "FatalAuthenticationError"))
		return FAILURE_AUTHENTICATION;
	if (strstr(message, "exhausted your") || strstr(message, "request a quota increase") ||
	    strstr(message, "RESOURCE_EXHAUSTED"))
		return FAILURE_RATE_LIMIT;
	if (strstr(message, "UNAVAILABLE"))
		return FAILURE_OVERLOADED;
	if (strstr(message, "fetch failed") || strstr(message, "terminated") ||
	    strstr(message, "ECONN") || strstr(message, "without a finish reason"))
		return FAILURE_NETWORK;
	return FAILURE_OTHER;
}

static void handle_end(struct stream *stream, struct jsonline status, struct jsonline error,
		       struct jsonline stats)
{
	AUTO_BUFFER struct buffer text = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_finished);
	struct jsonline models = jsonline_get(stats, "models");
	struct jsonline model;
	struct jsonline use;
	size_t cursor = 0;

	while (jsonline_next(models, &cursor, &model, &use))
		handle_model(stream, model, use);
	flush_text(stream);
	event.ok = jsonline_is(status, "success");
	event.text = buffer_text(&stream->text);
	if (!event.ok) {
		const char *message = stream_text(jsonline_get(error, "message"), &text);

		event.text = message;
		event.error = error_of(jsonline_get(error, "type"), message ? message : "");
	}
	stream_finish(stream, &event);
}

static void handle_error(struct stream *stream, struct jsonline severity, struct jsonline message)
{
	AUTO_BUFFER struct buffer text = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_error);

	if (jsonline_is(severity, "warning"))
		return;
	event.text = stream_text(message, &text);
	event.error = error_of((struct jsonline){ 0 }, event.text ? event.text : "");
	stream_emit(stream, &event);
}

static void handle_start(struct stream *stream, struct jsonline id, struct jsonline model)
{
	AUTO_BUFFER struct buffer session = { 0 }, name = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_started);

	event.session = stream_text(id, &session);
	event.name = stream_text(model, &name);
	stream_emit(stream, &event);
}

static void handle(struct stream *stream, struct jsonline line)
{
	enum {
		TYPE,
		ROLE,
		CONTENT,
		TOOL,
		INPUT,
		STATUS,
		ERROR,
		STATS,
		SEVERITY,
		MESSAGE,
		SESSION,
		MODEL,
		OUTPUT,
		COUNT
	};
	struct jsonline_field fields[COUNT] = {
		{ "type", { 0 } },      { "role", { 0 } },       { "content", { 0 } },
		{ "tool_name", { 0 } }, { "parameters", { 0 } }, { "status", { 0 } },
		{ "error", { 0 } },     { "stats", { 0 } },      { "severity", { 0 } },
		{ "message", { 0 } },   { "session_id", { 0 } }, { "model", { 0 } },
		{ "output", { 0 } },
	};

	if (jsonline_object(line, fields, COUNT) < 0) {
		stream_unknown(stream);
		return;
	}

	struct jsonline type = fields[TYPE].value;

	if (jsonline_is(type, "message"))
		handle_message(stream, fields[ROLE].value, fields[CONTENT].value);
	else if (jsonline_is(type, "tool_use"))
		handle_tool(stream, fields[TOOL].value, fields[INPUT].value);
	else if (jsonline_is(type, "tool_result"))
		handle_tool_result(stream, fields[STATUS].value, fields[OUTPUT].value);
	else if (jsonline_is(type, "init"))
		handle_start(stream, fields[SESSION].value, fields[MODEL].value);
	else if (jsonline_is(type, "error"))
		handle_error(stream, fields[SEVERITY].value, fields[MESSAGE].value);
	else if (jsonline_is(type, "result"))
		handle_end(stream, fields[STATUS].value, fields[ERROR].value, fields[STATS].value);
	else
		stream_unknown(stream);
}

static struct agent_reader *open_gemini(agent_event_fn *fn, void *context)
{
	return stream_open(sizeof(struct gemini), fn, context, handle, flush_text);
}

/*
 * API errors often lack their HTTP status in the stream; the exit status is that status modulo 256.
 */
const struct agent_format agent_format_gemini = { .name = "gemini",
						  .open = open_gemini,
						  .feed = stream_feed,
						  .end = stream_end,
						  .free = stream_free,
						  .ends = true,
						  .pieces = true,
						  .exit_http = 256 };

static const char *const words[] = { "--output-format", "stream-json", NULL };
static const char *const bypass[] = { "--approval-mode", "yolo", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "--resume", NULL };
static const char *const last[] = { NULL };
/* Without this, it restarts itself with more memory and outlives the process that was started. */
static const char *const environment[] = { "GEMINI_CLI_NO_RELAUNCH=true", NULL };
static const char *const bypass_env[] = { "GEMINI_CLI_TRUST_WORKSPACE=true", NULL };
static const char *const keys[] = { PROVIDER_GEMINI_KEY, NULL };
static const char *const passes[] = { PROVIDER_GEMINI_BASE, NULL };
static const char *const login_hosts[] = { "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
					   NULL };
static const char *const hides[] = { ".gemini", NULL };
static const char *const sessions[] = { ".gemini/tmp", NULL };

/*
 * It refuses to start without a login type. Its default of ten attempts would take minutes,
 * silently.
 */
static const char setup[] =
	"login=gemini-api-key\n"
	"if [ -e \"$HOME/.gemini/oauth_creds.json\" ]; then login=oauth-personal; fi\n"
	"mkdir -p \"$HOME/.gemini\"\n"
	"printf '{\"security\": {\"auth\": {\"selectedType\": \"%s\"}}, \"general\": {\"maxAttempts\": 3, "
	"\"enableAutoUpdate\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}}' \"$login\" "
	">\"$HOME/.gemini/settings.json\"";

ADAPTER_COMPLETE
const struct adapter agent_adapter_gemini = {
	/* name */ "gemini",
	/* title */ "Gemini CLI",
	/* program */ "gemini",
	/* install */ "npm install -g @google/gemini-cli",
	/* tested_from */ "0.61.0",
	/* tested_below */ "0.62",
	/* format */ &agent_format_gemini,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ resume,
	/* last */ last,
	/* environment */ environment,
	/* bypass_env */ bypass_env,
	/* keys */ keys,
	/* passes */ passes,
	/* credentials */ ".gemini/oauth_creds.json",
	/* login_hosts */ login_hosts,
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ setup,
	/* launch */ NULL,
	/* caveat */ NULL,
	/* own */ false,
};
