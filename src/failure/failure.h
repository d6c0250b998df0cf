/*
 * Failures: one enum, one table, and one mapping from each source of facts.
 *
 * Facts are the provider's HTTP responses (as seen by the gateway or by an agent), the typed events
 * in an agent's stream, the exit status, the fence's denials and the check results. Text printed by
 * an agent or a tool is not a fact, because source code may mention rate limits. The only text that
 * counts is the provider's own, in the body of an error response.
 *
 * Pure functions; the table and its strings are constant.
 */
#ifndef FAILURE_FAILURE_H
#define FAILURE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

enum failure {
	FAILURE_NONE,
	/* The provider, or the connection to it. */
	FAILURE_RATE_LIMIT,
	FAILURE_OVERLOADED,
	FAILURE_SERVER_ERROR,
	FAILURE_UNREACHABLE, /* the gateway could not connect, or got no response */
	FAILURE_AUTHENTICATION,
	FAILURE_PERMISSION,
	FAILURE_BILLING, /* the provider's account has no credit; our own limit is BUDGET */
	FAILURE_MODEL_NOT_FOUND,
	FAILURE_TOO_LONG, /* the conversation does not fit into the model's window, or a 413 */
	FAILURE_REFUSED, /* by the gateway: no known price, or a tool that the provider would run */
	/* Ringfence's own limits. */
	FAILURE_RUNAWAY, /* by the gateway: the agent repeats a request although it fails */
	FAILURE_BUDGET,
	FAILURE_HANG, /* no output for too long */
	FAILURE_TIMEOUT,
	/* The agent. */
	FAILURE_NETWORK, /* lost a connection without naming it */
	FAILURE_OTHER,   /* failed without giving a reason */
	FAILURE_DENIAL,  /* failed right after the fence denied it something */
	FAILURE_CRASH,   /* died from a signal or exited non-zero, without a good result */
	FAILURE_NO_OP,   /* changed nothing and printed nothing */
	FAILURE_CHECK_FAILED,
	FAILURES
};

/* How the loop responds to a failure. */
enum failure_response {
	FAILURE_CONTINUE,    /* start the next iteration */
	FAILURE_COUNT_ERROR, /* start the next iteration and count the error for the breakers */
	FAILURE_WAIT,        /* wait and retry; does not use up an iteration */
	FAILURE_PAUSE,       /* wait for a person; does not use up an iteration */
};

struct failure_row {
	const char *name;        /* in decisions (journal, state.json, history) and messages */
	const char *stream_name; /* in agent events, and for the agent's end in the journal */
	const char *ledger_name; /* in ledger.jsonl */
	enum failure_response response;
	bool vague;       /* reports that something failed, but not what */
	const char *what; /* the event, as a clause; NULL for NONE */
	/* advice for a person, as a clause, or NULL if the loop needs no help */
	const char *remedy;
};

/* Returns the failure's row, or the row of OTHER for an invalid number. */
const struct failure_row *failure_row(enum failure failure);

/* Finds a failure by any name that any version has ever written. Returns false if there is none. */
bool failure_find(const char *name, enum failure *ret_failure);

/* Classifies a provider's response. `type` and `message` come from the error in its body; either
 * may be empty or NULL. A status below 400 is a failure only with an error in the body, as in a
 * stream. */
enum failure failure_from_http(unsigned int status, const char *type, const char *message);

/* Maps a name in a stream or a journal to a failure: NULL to NONE, an unknown name to OTHER. */
enum failure failure_from_stream(const char *name);

/* The two reports about how a turn ended. */
struct failure_reports {
	bool ok;          /* the agent reports success */
	bool over_budget; /* Ringfence stopped it, or refused a request, to enforce a budget */
	enum failure agent;
	enum failure gateway; /* how the last request ended */
};

/*
 * Decides between the two reports. The first rule that applies wins:
 *
 * 1. Over budget: BUDGET. Refused for repeating a failing request: RUNAWAY.
 * 2. The agent reports success: the agent's failure, which is NONE unless something failed after
 *    that. The outcome of a single request does not matter.
 * 3. The gateway saw no failure, or a vague one: the agent's failure.
 * 4. The agent's failure is vague, or both call for the same response: the gateway's, since the
 *    wire names the exact cause.
 * 5. Otherwise the agent's: it knows which of its requests ended the turn.
 */
enum failure failure_combine(const struct failure_reports *reports);

enum { FAILURE_DENIAL_MS = 10000 };

/*
 * Returns true if a denial may explain why the agent failed: the last attempt was in its last ten
 * seconds, and no later request to a model was answered. An agent that goes on has got past the
 * denial. The times are of one clock; asked_ms is when the last answered request began, or 0.
 */
bool failure_denial_explains(uint64_t denied_ms, uint64_t asked_ms, uint64_t ended_ms);

/* Everything known about an iteration. */
struct failure_facts {
	int exit_code;
	int signal; /* the signal that killed the agent, or 0 */
	bool timed_out;
	bool idle;             /* stopped because it printed nothing */
	bool interrupted;      /* Ringfence or the machine went down: there is no verdict */
	bool has_result;       /* the stream reached its result event */
	bool result_error;     /* and the result is an error */
	enum failure reported; /* by agent and gateway: failure_combine() */
	int64_t reset_at;      /* when the provider's limit resets, 0 if unknown */
	uint64_t output_bytes;
	uint32_t files_changed;
	uint32_t denials;        /* that may explain a failure: failure_denial_explains() */
	bool request_failed;     /* the last request to a model: explains more than a denial */
	uint32_t checks;         /* configured and run */
	uint32_t checks_passed;  /* exited 0, including vacuous ones */
	uint32_t checks_vacuous; /* passed without running anything */
};

/* Classifies by the first source that shows a failure, in this order: reports, limits, fence, exit,
 * work, checks. The cause that ended the turn explains what followed. */
enum failure failure_of(const struct failure_facts *facts);

/* Returns the number of checks that count as passed: those that exited 0 and ran something. */
uint32_t failure_checks_held(const struct failure_facts *facts);

#endif
