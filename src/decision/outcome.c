/* What kind of failure an iteration was: see outcome.h. */
#include "decision/outcome.h"

static bool provider_limit(const struct outcome_facts *f)
{
	return f->stream_error == OUTCOME_STREAM_RATE_LIMIT || f->http_status == 429;
}

static bool overloaded(const struct outcome_facts *f)
{
	return f->stream_error == OUTCOME_STREAM_OVERLOADED ||
	       (f->http_status >= 500 && f->http_status < 600);
}

static bool unreachable(const struct outcome_facts *f)
{
	return f->stream_error == OUTCOME_STREAM_UNREACHABLE;
}

static bool authentication(const struct outcome_facts *f)
{
	return f->stream_error == OUTCOME_STREAM_AUTHENTICATION ||
	       f->stream_error == OUTCOME_STREAM_BILLING || f->http_status == 401 ||
	       f->http_status == 402 || f->http_status == 403;
}

static bool budget(const struct outcome_facts *f)
{
	return f->stream_error == OUTCOME_STREAM_BUDGET;
}

/* After a good result the end says nothing: agents that do not end by themselves are ended. */
static bool finished(const struct outcome_facts *f)
{
	return f->has_result && !f->result_error;
}

static bool hang(const struct outcome_facts *f)
{
	return f->idle && !finished(f);
}

static bool timeout(const struct outcome_facts *f)
{
	return f->timed_out && !finished(f);
}

static bool crash(const struct outcome_facts *f)
{
	if (finished(f))
		return false;
	return f->result_error || f->signal != 0 || f->exit_code != 0 ||
	       f->stream_error != OUTCOME_STREAM_OK;
}

static bool denial(const struct outcome_facts *f)
{
	return f->denials > 0 && crash(f);
}

static bool no_op(const struct outcome_facts *f)
{
	return f->files_changed == 0 && f->output_bytes == 0;
}

static bool check_failed(const struct outcome_facts *f)
{
	return outcome_checks_held(f) < f->checks;
}

static const struct {
	const char *name;
	bool (*holds)(const struct outcome_facts *facts);
	bool is_error;
} failures[] = {
	[OUTCOME_FAILURE_NONE] = { "none", 0, false },
	[OUTCOME_FAILURE_PROVIDER_LIMIT] = { "provider limit", provider_limit, false },
	[OUTCOME_FAILURE_OVERLOADED] = { "overloaded", overloaded, false },
	[OUTCOME_FAILURE_UNREACHABLE] = { "unreachable", unreachable, false },
	[OUTCOME_FAILURE_AUTHENTICATION] = { "authentication", authentication, false },
	[OUTCOME_FAILURE_BUDGET] = { "budget", budget, false },
	[OUTCOME_FAILURE_HANG] = { "hang", hang, true },
	[OUTCOME_FAILURE_TIMEOUT] = { "timeout", timeout, true },
	[OUTCOME_FAILURE_DENIAL] = { "denial", denial, true },
	[OUTCOME_FAILURE_CRASH] = { "crash", crash, true },
	[OUTCOME_FAILURE_NO_OP] = { "no-op", no_op, true },
	[OUTCOME_FAILURE_CHECK_FAILED] = { "check failed", check_failed, false },
};
_Static_assert(sizeof failures / sizeof failures[0] == OUTCOME_FAILURES,
	       "every failure has a line");

enum outcome_failure outcome_classify(const struct outcome_facts *facts)
{
	for (int i = OUTCOME_FAILURE_NONE + 1; i < OUTCOME_FAILURES; i++)
		if (failures[i].holds(facts))
			return (enum outcome_failure)i;
	return OUTCOME_FAILURE_NONE;
}

const char *outcome_failure_name(enum outcome_failure failure)
{
	return failure < OUTCOME_FAILURES ? failures[failure].name : "unknown";
}

bool outcome_failure_is_error(enum outcome_failure failure)
{
	return failure < OUTCOME_FAILURES && failures[failure].is_error;
}

uint32_t outcome_checks_held(const struct outcome_facts *facts)
{
	uint32_t passed = facts->checks_passed < facts->checks ? facts->checks_passed
							       : facts->checks;

	return facts->checks_vacuous < passed ? passed - facts->checks_vacuous : 0;
}
