/* What kind of failure an iteration was: see failure.h. */
#include "guard/failure.h"

static bool provider_limit(const struct guard_facts *f)
{
	return f->stream_error == GUARD_STREAM_RATE_LIMIT || f->http_status == 429;
}

static bool overloaded(const struct guard_facts *f)
{
	return f->stream_error == GUARD_STREAM_OVERLOADED ||
	       (f->http_status >= 500 && f->http_status < 600);
}

static bool unreachable(const struct guard_facts *f)
{
	return f->stream_error == GUARD_STREAM_UNREACHABLE;
}

static bool authentication(const struct guard_facts *f)
{
	return f->stream_error == GUARD_STREAM_AUTHENTICATION ||
	       f->stream_error == GUARD_STREAM_BILLING || f->http_status == 401 ||
	       f->http_status == 402 || f->http_status == 403;
}

static bool budget(const struct guard_facts *f)
{
	return f->stream_error == GUARD_STREAM_BUDGET;
}

/* After a good result the end says nothing: agents that do not end by themselves are ended. */
static bool finished(const struct guard_facts *f)
{
	return f->has_result && !f->result_error;
}

static bool hang(const struct guard_facts *f)
{
	return f->idle && !finished(f);
}

static bool timeout(const struct guard_facts *f)
{
	return f->timed_out && !finished(f);
}

static bool crash(const struct guard_facts *f)
{
	if (finished(f))
		return false;
	return f->result_error || f->signal != 0 || f->exit_code != 0 ||
	       f->stream_error != GUARD_STREAM_OK;
}

static bool denial(const struct guard_facts *f)
{
	return f->denials > 0 && crash(f);
}

static bool no_op(const struct guard_facts *f)
{
	return f->files_changed == 0 && f->output_bytes == 0;
}

static bool check_failed(const struct guard_facts *f)
{
	return guard_checks_held(f) < f->checks;
}

static const struct {
	const char *name;
	bool (*holds)(const struct guard_facts *facts);
	bool is_error;
} failures[] = {
	[GUARD_FAILURE_NONE] = { "none", 0, false },
	[GUARD_FAILURE_PROVIDER_LIMIT] = { "provider limit", provider_limit, false },
	[GUARD_FAILURE_OVERLOADED] = { "overloaded", overloaded, false },
	[GUARD_FAILURE_UNREACHABLE] = { "unreachable", unreachable, false },
	[GUARD_FAILURE_AUTHENTICATION] = { "authentication", authentication, false },
	[GUARD_FAILURE_BUDGET] = { "budget", budget, false },
	[GUARD_FAILURE_HANG] = { "hang", hang, true },
	[GUARD_FAILURE_TIMEOUT] = { "timeout", timeout, true },
	[GUARD_FAILURE_DENIAL] = { "denial", denial, true },
	[GUARD_FAILURE_CRASH] = { "crash", crash, true },
	[GUARD_FAILURE_NO_OP] = { "no-op", no_op, true },
	[GUARD_FAILURE_CHECK_FAILED] = { "check failed", check_failed, false },
};
_Static_assert(sizeof failures / sizeof failures[0] == GUARD_FAILURES, "every failure has a line");

enum guard_failure guard_classify(const struct guard_facts *facts)
{
	for (int i = GUARD_FAILURE_NONE + 1; i < GUARD_FAILURES; i++)
		if (failures[i].holds(facts))
			return (enum guard_failure)i;
	return GUARD_FAILURE_NONE;
}

const char *guard_failure_name(enum guard_failure failure)
{
	return failure < GUARD_FAILURES ? failures[failure].name : "unknown";
}

bool guard_failure_is_error(enum guard_failure failure)
{
	return failure < GUARD_FAILURES && failures[failure].is_error;
}

uint32_t guard_checks_held(const struct guard_facts *facts)
{
	uint32_t passed = facts->checks_passed < facts->checks ? facts->checks_passed
							       : facts->checks;

	return facts->checks_vacuous < passed ? passed - facts->checks_vacuous : 0;
}
