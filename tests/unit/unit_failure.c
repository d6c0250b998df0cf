/* Failures: every row of the table, every source, and which report wins. */
#include "unit.h"

#include "failure/failure.h"

#include "util/mem.h"

#include <string.h>

enum source {
	FROM_HTTP,   /* status and body, as the gateway sees them */
	FROM_STREAM, /* a typed event, or a name in a journal */
	FROM_FACTS,  /* reports, limits, fence, exit status, work, checks */
	SOURCES
};

/* The name of each failure in each source, and the response to it. A missing cell fails the
 * test. */
static const struct {
	const char *name;
	enum failure_response response;
	unsigned int status; /* 0: no provider response means this */
	const char *type;
	struct failure_facts facts;
	enum failure by_facts; /* NONE: the failure itself */
} cells[] = {
	[FAILURE_NONE] = { "none", FAILURE_CONTINUE, 200, "", { .output_bytes = 1 } },
	[FAILURE_RATE_LIMIT] = { "limit",
				 FAILURE_WAIT,
				 429,
				 "rate_limit_error",
				 { .reported = FAILURE_RATE_LIMIT } },
	[FAILURE_OVERLOADED] = { "overloaded",
				 FAILURE_WAIT,
				 529,
				 "overloaded_error",
				 { .reported = FAILURE_OVERLOADED } },
	[FAILURE_SERVER_ERROR] = { "server_error",
				   FAILURE_WAIT,
				   500,
				   "api_error",
				   { .reported = FAILURE_SERVER_ERROR } },
	[FAILURE_UNREACHABLE] = { "unreachable",
				  FAILURE_WAIT,
				  0,
				  "",
				  { .reported = FAILURE_UNREACHABLE } },
	[FAILURE_AUTHENTICATION] = { "auth",
				     FAILURE_PAUSE,
				     401,
				     "authentication_error",
				     { .reported = FAILURE_AUTHENTICATION } },
	[FAILURE_PERMISSION] = { "permission",
				 FAILURE_PAUSE,
				 403,
				 "permission_error",
				 { .reported = FAILURE_PERMISSION } },
	[FAILURE_BILLING] = { "billing",
			      FAILURE_PAUSE,
			      402,
			      "billing_error",
			      { .reported = FAILURE_BILLING } },
	[FAILURE_MODEL_NOT_FOUND] = { "model_not_found",
				      FAILURE_PAUSE,
				      404,
				      "not_found_error",
				      { .reported = FAILURE_MODEL_NOT_FOUND } },
	[FAILURE_TOO_LONG] = { "too_long",
			       FAILURE_COUNT_ERROR,
			       413,
			       "request_too_large",
			       { .reported = FAILURE_TOO_LONG } },
	[FAILURE_REFUSED] = { "refused", FAILURE_PAUSE, 0, "", { .reported = FAILURE_REFUSED } },
	[FAILURE_RUNAWAY] = { "runaway",
			      FAILURE_COUNT_ERROR,
			      0,
			      "",
			      { .reported = FAILURE_RUNAWAY } },
	[FAILURE_BUDGET] = { "budget", FAILURE_CONTINUE, 0, "", { .reported = FAILURE_BUDGET } },
	[FAILURE_HANG] = { "hang", FAILURE_COUNT_ERROR, 0, "", { .idle = true, .signal = 15 } },
	[FAILURE_TIMEOUT] = { "timeout",
			      FAILURE_COUNT_ERROR,
			      0,
			      "",
			      { .timed_out = true, .signal = 15 } },
	/* Vague reports: the exit status decides. */
	[FAILURE_NETWORK] = { "network",
			      FAILURE_COUNT_ERROR,
			      0,
			      "",
			      { .reported = FAILURE_NETWORK },
			      FAILURE_CRASH },
	[FAILURE_OTHER] = { "other",
			    FAILURE_COUNT_ERROR,
			    400,
			    "invalid_request_error",
			    { .reported = FAILURE_OTHER },
			    FAILURE_CRASH },
	[FAILURE_DENIAL] = { "denial",
			     FAILURE_COUNT_ERROR,
			     0,
			     "",
			     { .exit_code = 1, .denials = 1 } },
	[FAILURE_CRASH] = { "crash", FAILURE_COUNT_ERROR, 0, "", { .exit_code = 1 } },
	[FAILURE_NO_OP] = { "no-op", FAILURE_COUNT_ERROR, 0, "", { .has_result = true } },
	[FAILURE_CHECK_FAILED] = { "check failed",
				   FAILURE_CONTINUE,
				   0,
				   "",
				   { .output_bytes = 1, .checks = 1 } },
};
_Static_assert(sizeof cells / sizeof *cells == FAILURES, "every failure has its cells");

static bool is_told(enum source source, enum failure failure)
{
	enum failure wanted = cells[failure].by_facts ? cells[failure].by_facts : failure;

	switch (source) {
	case FROM_HTTP:
		return !cells[failure].status ||
		       failure_from_http(cells[failure].status, cells[failure].type, "") == failure;
	case FROM_STREAM:
		return failure_from_stream(cells[failure].name) == failure;
	case FROM_FACTS:
		return failure_of(&cells[failure].facts) == wanted;
	case SOURCES:
		break;
	}
	return false;
}

static void test_every_source(void)
{
	static const char *const names[SOURCES] = { "an answer", "a stream", "the facts" };

	for (int i = 0; i < FAILURES; i++) {
		AUTO_FREE char *filled = mem_format("failure %d has its cells", i);

		CHECK(filled, cells[i].name && cells[i].type);
		for (int source = 0; cells[i].name && source < SOURCES; source++) {
			AUTO_FREE char *sentence = mem_format("'%s' by %s", cells[i].name,
							      names[source]);

			CHECK(sentence, is_told((enum source)source, (enum failure)i));
		}
	}
}

static bool is_found(const char *name, enum failure failure)
{
	enum failure found = FAILURES;

	return name && *name && failure_find(name, &found) && found == failure;
}

static void test_every_row(void)
{
	for (int i = 0; i < FAILURES; i++) {
		const struct failure_row *row = failure_row((enum failure)i);
		bool helps = row->response == FAILURE_PAUSE ||
			     row->response == FAILURE_COUNT_ERROR || i == FAILURE_UNREACHABLE;
		AUTO_FREE char *names = mem_format("'%s' is found by each of its names", row->name);
		AUTO_FREE char *words = mem_format("'%s' has words for the user", row->name);
		AUTO_FREE char *acts = mem_format("'%s' has the response that is documented",
						  row->name);

		CHECK(names, is_found(row->name, (enum failure)i) &&
				     is_found(row->stream_name, (enum failure)i) &&
				     is_found(row->ledger_name, (enum failure)i));
		CHECK(words, i == FAILURE_NONE || (row->what && *row->what &&
						   (!helps || (row->remedy && *row->remedy))));
		CHECK(acts, row->response == cells[i].response);
		CHECK("only no report, the network and other errors are vague",
		      row->vague ==
			      (i == FAILURE_NONE || i == FAILURE_NETWORK || i == FAILURE_OTHER));
	}
}

/* Names that versions before this table wrote into journals, ledgers and streams. */
static void test_old_names(void)
{
	static const struct {
		const char *name;
		enum failure failure;
	} old[] = {
		{ "none", FAILURE_NONE },
		{ "limit", FAILURE_RATE_LIMIT },
		{ "rate limit", FAILURE_RATE_LIMIT },
		{ "provider limit", FAILURE_RATE_LIMIT },
		{ "overloaded", FAILURE_OVERLOADED },
		{ "auth", FAILURE_AUTHENTICATION },
		{ "authentication", FAILURE_AUTHENTICATION },
		{ "billing", FAILURE_BILLING },
		{ "budget", FAILURE_BUDGET },
		{ "network", FAILURE_NETWORK },
		{ "other", FAILURE_OTHER },
		{ "unreachable", FAILURE_UNREACHABLE },
		{ "hang", FAILURE_HANG },
		{ "timeout", FAILURE_TIMEOUT },
		{ "denial", FAILURE_DENIAL },
		{ "crash", FAILURE_CRASH },
		{ "no-op", FAILURE_NO_OP },
		{ "check failed", FAILURE_CHECK_FAILED },
	};
	enum failure found = FAILURE_BUDGET;

	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		AUTO_FREE char *sentence = mem_format("the old name '%s' is still read",
						      old[i].name);

		CHECK(sentence, is_found(old[i].name, old[i].failure));
	}
	CHECK("an unknown name is not found, and leaves the output alone",
	      !failure_find("nothing", &found) && found == FAILURE_BUDGET);
	CHECK("in a stream it is some failure", failure_from_stream("nothing") == FAILURE_OTHER);
	CHECK("a missing name means none", failure_from_stream(NULL) == FAILURE_NONE);
	CHECK("a number out of range is some failure",
	      failure_row(FAILURES) == failure_row(FAILURE_OTHER));
}

/* Responses that providers send. */
static void test_answers(void)
{
	static const struct {
		unsigned int status;
		const char *type;
		const char *message;
		enum failure failure;
	} answers[] = {
		{ 200, "", "", FAILURE_NONE },
		{ 200, "overloaded_error", "", FAILURE_OVERLOADED },
		{ 200, "api_error", "", FAILURE_SERVER_ERROR },
		{ 200, "server_error", "", FAILURE_SERVER_ERROR },
		{ 200, "invalid_request_error", "", FAILURE_OTHER },
		{ 400, "", "", FAILURE_OTHER },
		{ 400, "invalid_request_error",
		  "Your credit balance is too low to access the Anthropic API.", FAILURE_BILLING },
		{ 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
		  FAILURE_AUTHENTICATION },
		{ 400, "model_not_found", "", FAILURE_MODEL_NOT_FOUND },
		{ 401, "", "", FAILURE_AUTHENTICATION },
		{ 401, "invalid_api_key", "", FAILURE_AUTHENTICATION },
		{ 402, "", "", FAILURE_BILLING },
		{ 403, "", "", FAILURE_PERMISSION },
		{ 403, "PERMISSION_DENIED", "", FAILURE_PERMISSION },
		{ 403, "billing_not_active", "", FAILURE_BILLING },
		{ 404, "", "", FAILURE_MODEL_NOT_FOUND },
		{ 404, "NOT_FOUND", "models/x is not found", FAILURE_MODEL_NOT_FOUND },
		{ 404, "api_error", "model 'x' not found", FAILURE_MODEL_NOT_FOUND },
		{ 400, "FAILED_PRECONDITION",
		  "Gemini API free tier is not available in your country. Please enable billing "
		  "on your project in Google AI Studio.",
		  FAILURE_BILLING },
		{ 200, "context_length_exceeded", "", FAILURE_TOO_LONG },
		{ 400, "invalid_request_error",
		  "prompt is too long: 210000 tokens > 200000 maximum", FAILURE_TOO_LONG },
		{ 400, "", "{\"code\":\"context_length_exceeded\"}", FAILURE_TOO_LONG },
		{ 400, "", "the request exceeds the available context size", FAILURE_TOO_LONG },
		{ 400, "INVALID_ARGUMENT",
		  "The input token count (1200000) exceeds the maximum number of tokens allowed",
		  FAILURE_TOO_LONG },
		{ 400, "invalid_request_error", "max_tokens: too large", FAILURE_OTHER },
		{ 413, "request_too_large", "", FAILURE_TOO_LONG },
		{ 413, "", "x", FAILURE_TOO_LONG },
		{ 429, "", "the context window", FAILURE_RATE_LIMIT },
		{ 429, "", "", FAILURE_RATE_LIMIT },
		{ 429, "insufficient_quota", "", FAILURE_BILLING },
		{ 429, "RESOURCE_EXHAUSTED", "", FAILURE_RATE_LIMIT },
		{ 500, "", "", FAILURE_SERVER_ERROR },
		{ 500, "INTERNAL", "", FAILURE_SERVER_ERROR },
		{ 502, "", "", FAILURE_SERVER_ERROR },
		{ 503, "server_error", "", FAILURE_OVERLOADED },
		{ 503, "UNAVAILABLE", "", FAILURE_OVERLOADED },
		{ 529, "", "", FAILURE_OVERLOADED },
	};

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		AUTO_FREE char *sentence = mem_format("%u '%s' is '%s'", answers[i].status,
						      answers[i].type,
						      failure_row(answers[i].failure)->name);

		CHECK(sentence, failure_from_http(answers[i].status, answers[i].type,
						  answers[i].message) == answers[i].failure);
	}
	CHECK("an answer needs no body",
	      failure_from_http(401, NULL, NULL) == FAILURE_AUTHENTICATION);
}

/* Each type and sentence alone, with a status that says nothing more. */
static void test_types(void)
{
	static const struct {
		const char *type;
		enum failure failure;
	} types[] = {
		{ "insufficient_quota", FAILURE_BILLING },
		{ "billing_error", FAILURE_BILLING },
		{ "billing_hard_limit_reached", FAILURE_BILLING },
		{ "billing_not_active", FAILURE_BILLING },
		{ "BILLING_DISABLED", FAILURE_BILLING },
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
		{ "API_KEY_INVALID", FAILURE_AUTHENTICATION },
		{ "permission_error", FAILURE_PERMISSION },
		{ "PERMISSION_DENIED", FAILURE_PERMISSION },
		{ "SERVICE_DISABLED", FAILURE_PERMISSION },
		{ "api_error", FAILURE_SERVER_ERROR },
		{ "server_error", FAILURE_SERVER_ERROR },
		{ "internal_server_error", FAILURE_SERVER_ERROR },
		{ "INTERNAL", FAILURE_SERVER_ERROR },
		{ "invalid_request_error", FAILURE_OTHER },
	};
	static const struct {
		const char *message;
		enum failure failure;
	} sentences[] = {
		{ "Your Credit Balance is too low.", FAILURE_BILLING },
		{ "the API key not valid", FAILURE_AUTHENTICATION },
		{ "reason: API_KEY_INVALID", FAILURE_AUTHENTICATION },
		{ "API key expired. Please renew it.", FAILURE_AUTHENTICATION },
		{ "bad request", FAILURE_OTHER },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		AUTO_FREE char *sentence = mem_format("the type '%s' is '%s'", types[i].type,
						      failure_row(types[i].failure)->name);

		CHECK(sentence, failure_from_http(400, types[i].type, "") == types[i].failure);
	}
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
		AUTO_FREE char *sentence = mem_format("'%s' is '%s'", sentences[i].message,
						      failure_row(sentences[i].failure)->name);

		CHECK(sentence,
		      failure_from_http(400, "", sentences[i].message) == sentences[i].failure);
	}
}

/* Every failure an agent can report with every failure a gateway can see. */
static bool is_combined(enum failure agent, enum failure gateway)
{
	const struct failure_row *said = failure_row(agent);
	const struct failure_row *seen = failure_row(gateway);
	const struct failure_reports reports = { .agent = agent, .gateway = gateway };
	enum failure wanted = agent;

	if (gateway == FAILURE_RUNAWAY ||
	    (!seen->vague && (said->vague || said->response == seen->response)))
		wanted = gateway;
	return failure_combine(&reports) == wanted;
}

static void test_whose_word_counts(void)
{
	static const struct {
		const char *sentence;
		struct failure_reports reports;
		enum failure failure;
	} rules[] = {
		{ "the wire beats silence",
		  { .gateway = FAILURE_AUTHENTICATION },
		  FAILURE_AUTHENTICATION },
		{ "the wire beats a vague report",
		  { .agent = FAILURE_OTHER, .gateway = FAILURE_BILLING },
		  FAILURE_BILLING },
		{ "the wire names what a person must do",
		  { .agent = FAILURE_AUTHENTICATION, .gateway = FAILURE_BILLING },
		  FAILURE_BILLING },
		{ "the gateway's own 502 means that the provider was not reached",
		  { .agent = FAILURE_SERVER_ERROR, .gateway = FAILURE_UNREACHABLE },
		  FAILURE_UNREACHABLE },
		{ "a side request does not hide what ended the turn",
		  { .agent = FAILURE_RATE_LIMIT, .gateway = FAILURE_MODEL_NOT_FOUND },
		  FAILURE_RATE_LIMIT },
		{ "an agent's own budget is never on the wire",
		  { .agent = FAILURE_BUDGET, .gateway = FAILURE_RATE_LIMIT },
		  FAILURE_BUDGET },
		{ "a request that went well refutes nothing",
		  { .agent = FAILURE_AUTHENTICATION },
		  FAILURE_AUTHENTICATION },
		{ "a vague observation refutes nothing",
		  { .agent = FAILURE_RATE_LIMIT, .gateway = FAILURE_OTHER },
		  FAILURE_RATE_LIMIT },
		{ "an agent that finished well after a failed request is fine",
		  { .ok = true, .gateway = FAILURE_AUTHENTICATION },
		  FAILURE_NONE },
		{ "repeated requests explain the agent's report of their refusal, and a good end",
		  { .ok = true, .agent = FAILURE_BILLING, .gateway = FAILURE_RUNAWAY },
		  FAILURE_RUNAWAY },
		{ "our own limit explains everything",
		  { .over_budget = true, .agent = FAILURE_BILLING, .gateway = FAILURE_BILLING },
		  FAILURE_BUDGET },
	};
	bool held = true;

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		CHECK(rules[i].sentence, failure_combine(&rules[i].reports) == rules[i].failure);
	for (int agent = 0; agent < FAILURES; agent++)
		for (int gateway = 0; gateway < FAILURES; gateway++)
			held = held && is_combined((enum failure)agent, (enum failure)gateway);
	CHECK("the rule holds for every pair", held);
}

int main(void)
{
	test_every_source();
	test_every_row();
	test_old_names();
	test_answers();
	test_types();
	test_whose_word_counts();
	return unit_failures > 0;
}
