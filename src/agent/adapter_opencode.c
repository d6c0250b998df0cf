/*
 * opencode: its command line, and its stream (run --format json).
 *
 * A step is one request: step_start, texts and tools, step_finish with the cost. No event marks the
 * end of the run; it is a step that finished without calling a tool, followed by the end of the
 * stream. Retries are silent and unlimited. After an answer without an end ("unknown"), such as a
 * page of HTML, it makes the next request, also without limit.
 */
#include "agent/adapter.h"
#include "agent/stream.h"
#include "provider/provider.h"

#include <string.h>

struct opencode {
	struct stream stream;
	bool done; /* the last step ended and called no tool */
};

static void handle_text(struct stream *stream, struct jsonline text)
{
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_text);

	stream_add_text(stream, text);
	event.text = buffer_text(&stream->text);
	stream_emit(stream, &event);
}

/* opencode reports a tool only when it has ended. */
static void handle_tool(struct stream *stream, struct jsonline part)
{
	enum { TOOL, STATE, COUNT };
	struct jsonline_field fields[COUNT] = { { "tool", { 0 } }, { "state", { 0 } } };
	enum { STATUS, INPUT, OUTPUT, STATES };
	struct jsonline_field state[STATES] = { { "status", { 0 } },
						{ "input", { 0 } },
						{ "output", { 0 } } };
	AUTO_BUFFER struct buffer name = { 0 }, target = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tool_call);

	jsonline_object(part, fields, COUNT);
	jsonline_object(fields[STATE].value, state, STATES);
	stream_clear_text(stream);
	event.name = stream_text(fields[TOOL].value, &name);
	event.target = stream_text(stream_target(state[INPUT].value), &target);
	event.ok = jsonline_is(state[STATUS].value, "completed");
	stream_emit(stream, &event);
	event.kind = AGENT_EVENT_tool_result;
	event.output = state[OUTPUT].value.at;
	event.output_size = state[OUTPUT].value.size;
	stream_emit(stream, &event);
	if (event.ok &&
	    (jsonline_is(fields[TOOL].value, "edit") || jsonline_is(fields[TOOL].value, "write") ||
	     jsonline_is(fields[TOOL].value, "patch"))) {
		event.kind = AGENT_EVENT_file_changed;
		stream_emit(stream, &event);
	}
}

static void handle_step(struct stream *stream, struct jsonline part)
{
	enum { REASON, COST, TOKENS, COUNT };
	struct jsonline_field fields[COUNT] = { { "reason", { 0 } },
						{ "cost", { 0 } },
						{ "tokens", { 0 } } };
	enum { IN, OUT, REASONING, CACHE, KINDS };
	struct jsonline_field kinds[KINDS] = {
		{ "input", { 0 } }, { "output", { 0 } }, { "reasoning", { 0 } }, { "cache", { 0 } }
	};
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_tokens);

	jsonline_object(part, fields, COUNT);
	jsonline_object(fields[TOKENS].value, kinds, KINDS);
	((struct opencode *)stream)->done = !jsonline_is(fields[REASON].value, "tool-calls") &&
					    !jsonline_is(fields[REASON].value, "unknown");
	event.name = "";
	event.tokens.input = jsonline_count(kinds[IN].value);
	event.tokens.output = jsonline_count(kinds[OUT].value);
	event.tokens.reasoning = jsonline_count(kinds[REASONING].value);
	if (event.tokens.output >= 0 && event.tokens.reasoning > 0)
		event.tokens.output += event.tokens.reasoning;
	event.tokens.cache_read = jsonline_count(jsonline_get(kinds[CACHE].value, "read"));
	event.tokens.cache_write_5m = jsonline_count(jsonline_get(kinds[CACHE].value, "write"));
	/* A model without a known price is reported as 0: treat that as unknown, not as free. */
	event.cost_nusd = jsonline_nano(fields[COST].value);
	if (event.cost_nusd == 0 && (event.tokens.input > 0 || event.tokens.output > 0))
		event.cost_nusd = -1;
	stream_emit(stream, &event);
}

static enum failure error_of(struct jsonline name, struct jsonline status, const char *message)
{
	int64_t code = jsonline_count(status);

	if (code > 0)
		return failure_from_http((unsigned int)code, NULL, message);
	if (jsonline_is(name, "ProviderAuthError"))
		return FAILURE_AUTHENTICATION;
	return jsonline_is(name, "APIError") ? FAILURE_NETWORK : FAILURE_OTHER;
}

static void handle_error(struct stream *stream, struct jsonline error)
{
	enum { NAME, DATA, COUNT };
	struct jsonline_field fields[COUNT] = { { "name", { 0 } }, { "data", { 0 } } };
	enum { MESSAGE, STATUS, KEYS };
	struct jsonline_field data[KEYS] = { { "message", { 0 } }, { "statusCode", { 0 } } };
	AUTO_BUFFER struct buffer text = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_error);

	jsonline_object(error, fields, COUNT);
	jsonline_object(fields[DATA].value, data, KEYS);
	event.text = stream_text(data[MESSAGE].value, &text);
	event.error = error_of(fields[NAME].value, data[STATUS].value, event.text);
	((struct opencode *)stream)->done = false;
	stream_emit(stream, &event);
}

static void handle_start(struct stream *stream, struct jsonline id)
{
	AUTO_BUFFER struct buffer session = { 0 };
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_started);

	((struct opencode *)stream)->done = false;
	stream_clear_text(stream);
	event.session = stream_text(id, &session);
	stream_emit(stream, &event);
}

static void handle(struct stream *stream, struct jsonline line)
{
	enum { TYPE, SESSION, PART, ERROR, COUNT };
	struct jsonline_field fields[COUNT] = {
		{ "type", { 0 } }, { "sessionID", { 0 } }, { "part", { 0 } }, { "error", { 0 } }
	};

	if (jsonline_object(line, fields, COUNT) < 0) {
		stream_unknown(stream);
		return;
	}

	struct jsonline type = fields[TYPE].value;

	if (jsonline_is(type, "text"))
		handle_text(stream, jsonline_get(fields[PART].value, "text"));
	else if (jsonline_is(type, "tool_use"))
		handle_tool(stream, fields[PART].value);
	else if (jsonline_is(type, "step_finish"))
		handle_step(stream, fields[PART].value);
	else if (jsonline_is(type, "step_start"))
		handle_start(stream, fields[SESSION].value);
	else if (jsonline_is(type, "error"))
		handle_error(stream, fields[ERROR].value);
	else if (jsonline_is(type, "reasoning"))
		stream_thinking(stream, jsonline_get(fields[PART].value, "text"));
	else
		stream_unknown(stream);
}

static void finish(struct stream *stream)
{
	struct agent_event event = AGENT_EVENT_INIT(AGENT_EVENT_finished);

	if (!((struct opencode *)stream)->done)
		return;
	event.ok = true;
	event.text = buffer_text(&stream->text);
	stream_finish(stream, &event);
}

static struct agent_reader *open_opencode(agent_event_fn *fn, void *context)
{
	return stream_open(sizeof(struct opencode), fn, context, handle, finish);
}

const struct agent_format agent_format_opencode = STREAM_FORMAT("opencode", open_opencode);

static const char *const words[] = { "run", "--format", "json", "--pure", NULL };
static const char *const bypass[] = { "--auto", NULL };
static const char *const model[] = { "--model", NULL };
static const char *const resume[] = { "--session", NULL };
static const char *const last[] = { NULL };
static const char *const environment[] = { "OPENCODE_DISABLE_MODELS_FETCH=1",
					   "OPENCODE_DISABLE_AUTOUPDATE=1",
					   "OPENCODE_DISABLE_PROJECT_CONFIG=1",
					   "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
					   "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
					   "OPENCODE_DISABLE_SHARE=1",
					   NULL };
static const char *const bypass_env[] = { NULL };
static const char *const keys[] = { PROVIDER_ANTHROPIC_KEY, PROVIDER_OPENAI_KEY,
				    PROVIDER_GEMINI_KEY,    "OPENROUTER_API_KEY",
				    "OPENCODE_API_KEY",     NULL };
static const char *const passes[] = { "OPENCODE_CONFIG_CONTENT", NULL };
static const char *const login_hosts[] = { NULL };
/* Plugins in this folder run regardless of options. */
static const char *const hides[] = { ".opencode", NULL };
static const char *const sessions[] = { NULL };

/*
 * Sessions are a database with its own variable, because its default folder also holds the login.
 * With the project's settings disabled, its notes would be ignored; link them as the user's own.
 */
static const char setup[] =
	"lead() { providers=\"$providers,\\\"$1\\\": {\\\"options\\\": {\\\"baseURL\\\": \\\"$RINGFENCE_MODELS/$2\\\"}}\"; }\n"
	"if [ -n \"${RINGFENCE_MODELS:-}\" ]; then\n"
	"\tproviders=\n"
	"\tif [ \"${ANTHROPIC_BASE_URL:-}\" = \"$RINGFENCE_MODELS\" ]; then lead anthropic v1; fi\n"
	"\tif [ \"${OPENAI_BASE_URL:-}\" = \"$RINGFENCE_MODELS/v1\" ]; then lead openai v1; fi\n"
	"\tif [ \"${GOOGLE_GEMINI_BASE_URL:-}\" = \"$RINGFENCE_MODELS\" ]; then\n"
	"\t\tlead google v1beta\n"
	"\t\texport GOOGLE_GENERATIVE_AI_API_KEY=\"$GEMINI_API_KEY\"\n"
	"\tfi\n"
	"\texport OPENCODE_CONFIG_CONTENT=\"{\\\"provider\\\": {${providers#,}}}\"\n"
	"fi\n"
	"if [ -n \"${RINGFENCE_KEEP:-}\" ]; then\n"
	"\texport OPENCODE_DB=\"$RINGFENCE_KEEP/opencode.db\"\n"
	"fi\n"
	"cd \"$HOME\" && mkdir -p .config/opencode .local/share/opencode "
	".local/state/opencode .cache/opencode/bin && cd \"$OLDPWD\"\n"
	"for notes in AGENTS.md CLAUDE.md; do\n"
	"\tif [ -e \"$PWD/$notes\" ]; then\n"
	"\t\tln -s \"$PWD/$notes\" \"$HOME/.config/opencode/AGENTS.md\"\n"
	"\t\tbreak\n"
	"\tfi\n"
	"done";

ADAPTER_COMPLETE
const struct adapter agent_adapter_opencode = {
	/* name */ "opencode",
	/* title */ "opencode",
	/* program */ "opencode",
	/* install */ "npm install -g opencode-ai",
	/* tested_from */ "1.18.33",
	/* tested_below */ "1.19",
	/* format */ &agent_format_opencode,
	/* words */ words,
	/* bypass */ bypass,
	/* model */ model,
	/* resume */ resume,
	/* last */ last,
	/* environment */ environment,
	/* bypass_env */ bypass_env,
	/* keys */ keys,
	/* passes */ passes,
	/* credentials */ ".local/share/opencode/auth.json",
	/* login_hosts */ login_hosts,
	/* hides */ hides,
	/* sessions */ sessions,
	/* setup */ setup,
	/* launch */ NULL,
	/* caveat */
	"it waits silently for rate limits to pass, so --idle-timeout may stop it; its cost excludes child agents",
	/* own */ false,
};
