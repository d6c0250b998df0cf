/*
 * What kind of failure an iteration was, from typed facts.
 *
 * Facts come from exit statuses, HTTP statuses, typed events of the agent's stream, the fence and
 * the checks. Words in messages or in tool output are no facts: source code may speak of rate
 * limits.
 */
#ifndef DECISION_OUTCOME_H
#define DECISION_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum outcome_failure {
	OUTCOME_FAILURE_NONE,
	OUTCOME_FAILURE_PROVIDER_LIMIT, /* the provider wants us to wait */
	OUTCOME_FAILURE_OVERLOADED,     /* the provider cannot serve anybody now */
	OUTCOME_FAILURE_UNREACHABLE, /* there is no way to the model server, or it has gone away */
	OUTCOME_FAILURE_AUTHENTICATION, /* key, login or account: only a person can repair it */
	OUTCOME_FAILURE_BUDGET,         /* our own money limit cut the iteration off */
	OUTCOME_FAILURE_HANG,           /* no output for too long */
	OUTCOME_FAILURE_TIMEOUT,
	OUTCOME_FAILURE_DENIAL, /* the fence refused something, and the command failed */
	OUTCOME_FAILURE_CRASH,  /* a signal, or a status that is not 0, without a good result */
	OUTCOME_FAILURE_NO_OP,  /* nothing changed, nothing said */
	OUTCOME_FAILURE_CHECK_FAILED,
	OUTCOME_FAILURES
};

/* What the stream's own error was, if it ended the turn. */
enum outcome_stream_error {
	OUTCOME_STREAM_OK,
	OUTCOME_STREAM_RATE_LIMIT,
	OUTCOME_STREAM_OVERLOADED,  /* and other errors of the provider's servers */
	OUTCOME_STREAM_UNREACHABLE, /* the gateway has no connection to the model server */
	OUTCOME_STREAM_AUTHENTICATION,
	OUTCOME_STREAM_BILLING, /* the provider's account has no money */
	OUTCOME_STREAM_BUDGET,  /* the gateway or the agent refused to spend more */
	OUTCOME_STREAM_OTHER,
};

struct outcome_facts {
	int exit_code;
	int signal; /* that ended the agent, 0 if none */
	bool timed_out;
	bool idle;         /* ended for want of output */
	bool interrupted;  /* Ringfence or the machine went down in it: there is no verdict */
	bool has_result;   /* the stream came to its result event */
	bool result_error; /* which says that it is an error */
	int http_status;   /* of the request that ended the turn; 0 if none did */
	enum outcome_stream_error stream_error;
	int64_t reset_at; /* when the provider's limit is over, 0 if it did not say */
	uint64_t output_bytes;
	uint32_t files_changed;
	uint32_t denials;
	uint32_t checks;         /* that are configured and ran */
	uint32_t checks_passed;  /* ended with 0, also vacuously */
	uint32_t checks_vacuous; /* of those */
};

/* The first that holds, in the order of the enum: what ended the turn explains all that follows. */
enum outcome_failure outcome_classify(const struct outcome_facts *facts);

/* "provider limit", "check failed"... */
const char *outcome_failure_name(enum outcome_failure failure);

/* Is it an error of the agent or its surroundings? A failing check is what the loop is for. */
bool outcome_failure_is_error(enum outcome_failure failure);

/* How many checks count as passed: those that ran something. */
uint32_t outcome_checks_held(const struct outcome_facts *facts);

#endif
