/* The table of failures and the mappings to it: see failure.h. */
#include "failure/failure.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct failure_row rows[] = {
	[FAILURE_NONE] = { "none", "none", "fine", FAILURE_CONTINUE, true, NULL, NULL },
	[FAILURE_RATE_LIMIT] = { "provider limit", "limit", "rate limit", FAILURE_WAIT, false,
				 "the provider's limit is reached", NULL },
	[FAILURE_OVERLOADED] = { "overloaded", "overloaded", "overloaded", FAILURE_WAIT, false,
				 "the provider is overloaded", NULL },
	[FAILURE_SERVER_ERROR] = { "server error", "server_error", "server error", FAILURE_WAIT,
				   false, "the provider has an internal error", NULL },
	[FAILURE_UNREACHABLE] = { "unreachable", "unreachable", "unreachable", FAILURE_WAIT, false,
				  "the model server cannot be reached",
				  "is it running, and this machine online?" },
	[FAILURE_AUTHENTICATION] = { "authentication", "auth", "authentication", FAILURE_PAUSE,
				     false, "the provider rejected the key or login",
				     "set a valid key or log in again" },
	[FAILURE_PERMISSION] = { "permission", "permission", "permission", FAILURE_PAUSE, false,
				 "the key or account is not allowed to do this",
				 "give it access at the provider, or use another key or model" },
	[FAILURE_BILLING] = { "billing", "billing", "billing", FAILURE_PAUSE, false,
			      "the provider's account has no credit left",
			      "add credit at the provider, or use another key" },
	[FAILURE_MODEL_NOT_FOUND] = { "model not found", "model_not_found", "model not found",
				      FAILURE_PAUSE, false, "the provider does not know this model",
				      "check the model's name (--model) and the provider's "
				      "address (--upstream)" },
	[FAILURE_TOO_LONG] = { "prompt too long", "too_long", "prompt too long",
			       FAILURE_COUNT_ERROR, false,
			       "the conversation is too long for the model",
			       "name fewer or smaller files in the task, or use a model with a "
			       "larger window" },
	[FAILURE_REFUSED] = { "refused request", "refused", "refused", FAILURE_PAUSE, false,
			      "the gateway refused a request to a model",
			      "see the agent's log, and allow it if the agent needs it "
			      "(unknown-model, provider-tools)" },
	[FAILURE_RUNAWAY] = { "runaway requests", "runaway", "runaway", FAILURE_COUNT_ERROR, false,
			      "the agent repeated a request to a model although it failed",
			      "see the agent's log" },
	[FAILURE_BUDGET] = { "budget", "budget", "budget", FAILURE_CONTINUE, false,
			     "this iteration's budget is used up", NULL },
	[FAILURE_HANG] = { "hang", "hang", "hang", FAILURE_COUNT_ERROR, false,
			   "the agent printed nothing for too long",
			   "if it needs longer, raise --idle-timeout" },
	[FAILURE_TIMEOUT] = { "timeout", "timeout", "timeout", FAILURE_COUNT_ERROR, false,
			      "the agent took too long", "if it needs longer, raise --timeout" },
	[FAILURE_NETWORK] = { "network", "network", "network", FAILURE_COUNT_ERROR, true,
			      "the agent lost a connection", "see its log" },
	[FAILURE_OTHER] = { "other", "other", "other", FAILURE_COUNT_ERROR, true,
			    "the agent reports an error", "see its log" },
	[FAILURE_DENIAL] = { "denial", "denial", "denial", FAILURE_COUNT_ERROR, false,
			     "the agent failed right after the fence denied it something",
			     "allow it if the agent needs it (ringfence suggest)" },
	[FAILURE_CRASH] = { "crash", "crash", "crash", FAILURE_COUNT_ERROR, false,
			    "the agent failed", "see its log" },
	[FAILURE_NO_OP] = { "no-op", "no-op", "no-op", FAILURE_COUNT_ERROR, false,
			    "the agent changed nothing and printed nothing",
			    "check that the agent runs at all" },
	[FAILURE_CHECK_FAILED] = { "check failed", "check failed", "check failed", FAILURE_CONTINUE,
				   false, "a check does not pass", NULL },
};
_Static_assert(sizeof rows / sizeof *rows == FAILURES, "every failure has a row");

const struct failure_row *failure_row(enum failure failure)
{
	return &rows[failure < FAILURES ? failure : FAILURE_OTHER];
}

bool failure_find(const char *name, enum failure *ret_failure)
{
	for (int i = 0; i < FAILURES; i++) {
		if (strcmp(name, rows[i].name) != 0 && strcmp(name, rows[i].stream_name) != 0 &&
		    strcmp(name, rows[i].ledger_name) != 0)
			continue;
		*ret_failure = (enum failure)i;
		return true;
	}
	return false;
}

enum failure failure_from_stream(const char *name)
{
	enum failure failure = FAILURE_OTHER;

	if (!name)
		return FAILURE_NONE;
	failure_find(name, &failure);
	return failure;
}

/* --- provider responses */

/* Error types (or codes) that are more specific than the HTTP status: Anthropic, OpenAI, Google. */
static const struct {
	const char *type;
	enum failure failure;
} types[] = {
	{ "insufficient_quota", FAILURE_BILLING },
	{ "billing_error", FAILURE_BILLING },
	{ "billing_hard_limit_reached", FAILURE_BILLING },
	{ "billing_not_active", FAILURE_BILLING },
	{ "model_not_found", FAILURE_MODEL_NOT_FOUND },
	{ "rate_limit_error", FAILURE_RATE_LIMIT },
	{ "rate_limit_exceeded", FAILURE_RATE_LIMIT },
	{ "RESOURCE_EXHAUSTED", FAILURE_RATE_LIMIT },
	{ "overloaded_error", FAILURE_OVERLOADED },
	{ "server_is_overloaded", FAILURE_OVERLOADED },
	{ "UNAVAILABLE", FAILURE_OVERLOADED },
	{ "authentication_error", FAILURE_AUTHENTICATION },
	{ "invalid_api_key", FAILURE_AUTHENTICATION },
	{ "UNAUTHENTICATED", FAILURE_AUTHENTICATION },
	{ "API_KEY_INVALID", FAILURE_AUTHENTICATION }, /* Google's reasons for a 400 */
	{ "BILLING_DISABLED", FAILURE_BILLING },
	{ "SERVICE_DISABLED", FAILURE_PERMISSION },
	{ "context_length_exceeded", FAILURE_TOO_LONG },
	{ "exceed_context_size_error", FAILURE_TOO_LONG },
	{ "request_too_large", FAILURE_TOO_LONG },
	{ "permission_error", FAILURE_PERMISSION },
	{ "PERMISSION_DENIED", FAILURE_PERMISSION },
};

/* Messages that name the cause where the type and status only mark the request as invalid. */
static const struct {
	const char *text;
	enum failure failure;
} sentences[] = {
	{ "credit balance is too low", FAILURE_BILLING }, /* Anthropic, with 400 */
	{ "API key not valid", FAILURE_AUTHENTICATION },  /* Google, with 400 */
	{ "API_KEY_INVALID", FAILURE_AUTHENTICATION },    /* Google's reason, as agents repeat it */
	{ "API key expired", FAILURE_AUTHENTICATION },    /* Google, with 400 */
	{ "enable billing on your project", FAILURE_BILLING }, /* Google, with 400 */
};

/* Wordings of providers and local servers. They count only with a status that says no more. */
static const char *const too_long[] = {
	"prompt is too long",   "context_length_exceeded", "maximum context length",
	"context window",       "exceed_context_size",     "exceeds the available context",
	"input is too long",    "too many tokens",         "request_too_large",
	"exceed context limit", "input token count",
};

static const struct {
	unsigned int status;
	enum failure failure;
} statuses[] = {
	{ 401, FAILURE_AUTHENTICATION },  { 402, FAILURE_BILLING },    { 403, FAILURE_PERMISSION },
	{ 404, FAILURE_MODEL_NOT_FOUND }, { 413, FAILURE_TOO_LONG },   { 429, FAILURE_RATE_LIMIT },
	{ 503, FAILURE_OVERLOADED },      { 529, FAILURE_OVERLOADED },
};

/* Types no more specific than status 500. An error within a stream has no other status. */
static const char *const internal[] = { "api_error", "server_error", "internal_server_error",
					"INTERNAL" };

static enum failure from_type(const char *type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].failure;
	return FAILURE_NONE;
}

static enum failure from_sentence(const char *message)
{
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
		if (strcasestr(message, sentences[i].text))
			return sentences[i].failure;
	return FAILURE_NONE;
}

static enum failure from_length(unsigned int status, const char *message)
{
	if (status != 200 && status != 400 && status != 422 && status != 500)
		return FAILURE_NONE;
	for (size_t i = 0; i < sizeof too_long / sizeof *too_long; i++)
		if (strcasestr(message, too_long[i]))
			return FAILURE_TOO_LONG;
	return FAILURE_NONE;
}

static enum failure from_status(unsigned int status, const char *type)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (status == statuses[i].status)
			return statuses[i].failure;
	if (status >= 500)
		return FAILURE_SERVER_ERROR;
	for (size_t i = 0; i < sizeof internal / sizeof *internal; i++)
		if (strcmp(type, internal[i]) == 0)
			return FAILURE_SERVER_ERROR;
	return FAILURE_OTHER;
}

enum failure failure_from_http(unsigned int status, const char *type, const char *message)
{
	enum failure failure;

	type = type ? type : "";
	message = message ? message : "";
	if (status < 400 && !*type)
		return FAILURE_NONE;
	failure = from_type(type);
	if (failure == FAILURE_NONE)
		failure = from_sentence(message);
	if (failure == FAILURE_NONE)
		failure = from_length(status, message);
	return failure == FAILURE_NONE ? from_status(status, type) : failure;
}

/* --- which report wins */

enum failure failure_combine(const struct failure_reports *reports)
{
	const struct failure_row *agent = failure_row(reports->agent);
	const struct failure_row *gateway = failure_row(reports->gateway);

	if (reports->over_budget)
		return FAILURE_BUDGET;
	if (reports->gateway == FAILURE_RUNAWAY)
		return FAILURE_RUNAWAY;
	if (reports->ok || gateway->vague)
		return reports->agent;
	if (agent->vague || agent->response == gateway->response)
		return reports->gateway;
	return reports->agent;
}

/* --- classifying an iteration */

bool failure_denial_explains(uint64_t denied_ms, uint64_t asked_ms, uint64_t ended_ms)
{
	return denied_ms >= asked_ms && denied_ms + FAILURE_DENIAL_MS >= ended_ms;
}

/* The exit status means nothing after a good result: Ringfence stops agents that do not exit. */
static bool finished(const struct failure_facts *facts)
{
	return facts->has_result && !facts->result_error;
}

static bool failed(const struct failure_facts *facts)
{
	return !finished(facts) && (facts->result_error || facts->signal != 0 ||
				    facts->exit_code != 0 || facts->reported != FAILURE_NONE);
}

/* A vague report gives way to the exit status and the fence. */
static enum failure from_reports(const struct failure_facts *facts)
{
	return failure_row(facts->reported)->vague ? FAILURE_NONE : facts->reported;
}

static enum failure from_limits(const struct failure_facts *facts)
{
	if (finished(facts))
		return FAILURE_NONE;
	if (facts->idle)
		return FAILURE_HANG;
	return facts->timed_out ? FAILURE_TIMEOUT : FAILURE_NONE;
}

static enum failure from_fence(const struct failure_facts *facts)
{
	return facts->denials > 0 && !facts->request_failed && failed(facts) ? FAILURE_DENIAL
									     : FAILURE_NONE;
}

static enum failure from_exit(const struct failure_facts *facts)
{
	return failed(facts) ? FAILURE_CRASH : FAILURE_NONE;
}

static enum failure from_work(const struct failure_facts *facts)
{
	return facts->files_changed == 0 && facts->output_bytes == 0 ? FAILURE_NO_OP : FAILURE_NONE;
}

static enum failure from_checks(const struct failure_facts *facts)
{
	return failure_checks_held(facts) < facts->checks ? FAILURE_CHECK_FAILED : FAILURE_NONE;
}

enum failure failure_of(const struct failure_facts *facts)
{
	static enum failure (*const sources[])(const struct failure_facts *facts) = {
		from_reports, from_limits, from_fence, from_exit, from_work, from_checks,
	};
	enum failure failure = FAILURE_NONE;

	for (size_t i = 0; i < sizeof sources / sizeof *sources && failure == FAILURE_NONE; i++)
		failure = sources[i](facts);
	return failure;
}

uint32_t failure_checks_held(const struct failure_facts *facts)
{
	uint32_t passed = facts->checks_passed < facts->checks ? facts->checks_passed
							       : facts->checks;

	return facts->checks_vacuous < passed ? passed - facts->checks_vacuous : 0;
}
