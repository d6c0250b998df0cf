/*
 * Circuit breakers: stop a loop that fails repeatedly before it reaches its limits.
 *
 * A breaker is closed (continue), half-open (continue, with a warning) or open (stop). It counts
 * bad outcomes in a row; a good one closes it. An open breaker stays open for its cool-down, then
 * is half-open for one iteration: a good outcome closes it, a bad one opens it again at once. A
 * breaker is a plain struct of integers that is stored with the loop, so a restart changes nothing.
 */
#ifndef DECISION_BREAKER_H
#define DECISION_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum breaker_kind {
	BREAKER_ERRORS, /* of any kind, in a row: 5 */
	/* with the same signature, in a row: 5; with progress in between: 10 */
	BREAKER_SAME_ERROR,
	BREAKER_NO_PROGRESS, /* in a row: half-open after 2, open after 5 */
	BREAKER_INTERRUPTED, /* in a row: 5 */
	BREAKER_COUNT
};

enum breaker_state { BREAKER_CLOSED, BREAKER_HALF_OPEN, BREAKER_OPEN };

enum { BREAKER_COOL_DOWN_S = 1800 };

struct breaker {
	uint32_t kind;         /* enum breaker_kind */
	uint32_t half_open_at; /* bad outcomes in a row; 0: never half-open by count */
	uint32_t open_at;      /* bad outcomes in a row; 0: the breaker is off */
	uint32_t state;        /* enum breaker_state, as of the last outcome */
	uint32_t count;        /* bad outcomes in a row so far */
	uint32_t tripped;      /* how often it opened; shown to people */
	uint64_t signature;    /* of the error being counted */
	int64_t opened_at;     /* seconds since the epoch */
	int64_t cool_down_s;   /* 0: open until reset */
};

/*
 * The outcome of an iteration, as breakers see it. Iterations that waited for a provider are not
 * fed.
 */
struct breaker_outcome {
	bool error;
	bool progress;
	bool interrupted;   /* nothing else is known then: the other breakers keep their counts */
	uint64_t signature; /* of the failed agent or check; 0 if there is none or it is unknown */
};

/* Initializes a closed breaker with the defaults of its kind. Thresholds may be set at any time. */
void breaker_init(struct breaker *breaker, enum breaker_kind kind);

/* Counts the outcome. Returns the new state. */
enum breaker_state breaker_feed(struct breaker *breaker, const struct breaker_outcome *outcome,
				int64_t now);

/* Returns the state at `now`: an open breaker that has cooled down is half-open. */
enum breaker_state breaker_state(const struct breaker *breaker, int64_t now);

/* Returns when an open breaker cools down, or -1 if it only closes by a reset. */
int64_t breaker_cool_at(const struct breaker *breaker);

/* Closes the breaker and clears its count. The thresholds stay. */
void breaker_reset(struct breaker *breaker);

/*
 * The counted events as a name ("errors in a row") or after a number ("error" after 1), and the
 * option that sets the threshold.
 */
const char *breaker_name(enum breaker_kind kind);
const char *breaker_counted(enum breaker_kind kind, uint32_t count);
const char *breaker_flag(enum breaker_kind kind);

#endif
