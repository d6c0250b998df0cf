/*
 * Failures: one enum, one table, and one mapping from each source of facts.
 *
 * Facts come from the provider's HTTP answers (as the gateway or an agent saw them), the typed
 * events of an agent's stream, the exit status, the fence and the checks. Text that an agent or a
 * tool prints is not a fact: source code may mention rate limits. The only words that count are
 * the provider's own, in the body of an answer that refuses a request.
 *
 * Pure functions. The table and its texts are constant.
 */
#ifndef FAILURE_FAILURE_H
#define FAILURE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

enum failure {
	FAILURE_NONE,
	/* The provider, or the way to it. */
	FAILURE_RATE_LIMIT,
	FAILURE_OVERLOADED,
	FAILURE_SERVER_ERROR,
	FAILURE_UNREACHABLE, /* the gateway had no connection, or no answer */
	FAILURE_AUTHENTICATION,
	FAILURE_PERMISSION,
	FAILURE_BILLING, /* the provider's account has no credit; our own limit is BUDGET */
	FAILURE_MODEL_NOT_FOUND,
	/* Ringfence's own limits. */
	FAILURE_BUDGET,
	FAILURE_HANG, /* no output for too long */
	FAILURE_TIMEOUT,
	/* The agent. */
	FAILURE_NETWORK, /* it lost a connection, and does not say which */
	FAILURE_OTHER,   /* it failed, and does not say how */
	FAILURE_DENIAL,  /* it failed after the fence had refused something */
	FAILURE_CRASH,   /* a signal or an exit status, without a good result */
	FAILURE_NO_OP,   /* it changed nothing and said nothing */
	FAILURE_CHECK_FAILED,
	FAILURES
};

/* The loop's answer to a failure. */
enum failure_response {
	FAILURE_CONTINUE,    /* the next iteration */
	FAILURE_COUNT_ERROR, /* the same, and the breakers count it */
	FAILURE_WAIT,        /* and try again; uses up no iteration */
	FAILURE_PAUSE,       /* only a person can help; uses up no iteration */
};

struct failure_row {
	const char *name;        /* in decisions: journal, state.json, history; for people */
	const char *stream_name; /* in events of an agent, and of its end in the journal */
	const char *ledger_name; /* in a line of ledger.jsonl */
	enum failure_response response;
	bool vague;         /* says that something failed, but not what */
	const char *what;   /* happened, as a clause; NULL for NONE */
	const char *remedy; /* for a person, as a clause; NULL where the loop needs no help */
};

/* The row of a failure; for an invalid number, the row of OTHER. */
const struct failure_row *failure_row(enum failure failure);

/* Finds a failure by any name that any version has written. Returns false where there is none. */
bool failure_find(const char *name, enum failure *ret_failure);

/*
 * An answer of a provider. type, message: of the error in its body, empty or NULL where there is
 * none. A status below 400 is a failure only with an error in the body, as in a stream.
 */
enum failure failure_from_http(unsigned int status, const char *type, const char *message);

/* A name in a stream or a journal. NULL means NONE, an unknown name OTHER. */
enum failure failure_from_stream(const char *name);

/* Two reports about the end of a turn. */
struct failure_reports {
	bool ok;          /* the agent says that it has finished well */
	bool over_budget; /* Ringfence cut it off, or refused a request, to keep a money limit */
	enum failure agent;
	enum failure gateway; /* how the last request ended */
};

/*
 * Decides between them. The first rule that holds:
 *
 *   1. Over budget: BUDGET.
 *   2. The agent finished well: its own word, which is NONE unless something failed after that.
 *      What one of its requests met does not matter.
 *   3. The gateway saw no failure, or a vague one: the agent's word.
 *   4. The agent's word is vague, or both call for the same response: what the gateway saw, since
 *      the wire names the cause exactly.
 *   5. Else the agent's word: it knows which of its requests ended the turn.
 */
enum failure failure_combine(const struct failure_reports *reports);

/* Everything known about an iteration. */
struct failure_facts {
	int exit_code;
	int signal; /* that ended the agent, 0 if none */
	bool timed_out;
	bool idle;             /* ended because it printed nothing */
	bool interrupted;      /* Ringfence or the machine went down: there is no verdict */
	bool has_result;       /* the stream came to its result event */
	bool result_error;     /* which says that it is an error */
	enum failure reported; /* by agent and gateway: failure_combine() */
	int64_t reset_at;      /* when the provider's limit is over, 0 if it did not say */
	uint64_t output_bytes;
	uint32_t files_changed;
	uint32_t denials;
	uint32_t checks;         /* that are configured and ran */
	uint32_t checks_passed;  /* exited with 0, also vacuously */
	uint32_t checks_vacuous; /* of those */
};

/* Each source by itself; NONE where it has nothing to say. */
enum failure failure_from_reports(const struct failure_facts *facts);
enum failure failure_from_limits(const struct failure_facts *facts);
enum failure failure_from_fence(const struct failure_facts *facts);
enum failure failure_from_exit(const struct failure_facts *facts);
enum failure failure_from_work(const struct failure_facts *facts);
enum failure failure_from_checks(const struct failure_facts *facts);

/* The first source, in this order, that has something to say: what ended the turn explains what
 * follows. */
enum failure failure_of(const struct failure_facts *facts);

/* How many checks count as passed: those that ran something. */
uint32_t failure_checks_held(const struct failure_facts *facts);

#endif
