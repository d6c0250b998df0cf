/*
 * Circuit breakers: what happens too often in a row ends the loop before the limits do.
 *
 * A breaker is closed (go on), half-open (go on, with a warning) or open (stop). It counts bad
 * outcomes in a row; a good one closes it. Once open it stays open for its cool-down; after that it
 * is half-open for one iteration: a good outcome closes it, a bad one opens it again at once. A
 * breaker is a plain struct of integers: it is stored with the loop, and a restart changes nothing.
 */
#ifndef DECISION_BREAKER_H
#define DECISION_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum breaker_kind {
	BREAKER_ERRORS,      /* of any kind, in a row: 5 */
	BREAKER_SAME_ERROR,  /* the same signature, in a row: 5; with progress in between 10 */
	BREAKER_NO_PROGRESS, /* in a row: half-open after 2, open after 5 */
	BREAKER_INTERRUPTED, /* in a row: 5 */
	BREAKER_COUNT
};

enum breaker_state { BREAKER_CLOSED, BREAKER_HALF_OPEN, BREAKER_OPEN };

enum { BREAKER_COOL_DOWN_S = 1800 };

struct breaker {
	uint32_t kind;         /* enum breaker_kind */
	uint32_t half_open_at; /* how many in a row; 0: never half-open by count */
	uint32_t open_at;      /* how many in a row; 0: the breaker is off */
	uint32_t state;        /* enum breaker_state, as it was at the last outcome */
	uint32_t count;        /* in a row, until now */
	uint32_t tripped;      /* how often it opened; for a person */
	uint64_t signature;    /* of the error that is counted */
	int64_t opened_at;     /* seconds since the epoch */
	int64_t cool_down_s;   /* 0: open until it is reset */
};

/* What an iteration was, as far as breakers care. One that waited for a provider is not fed. */
struct breaker_outcome {
	bool error;
	bool progress;
	bool interrupted;   /* nothing else is known then: the other breakers keep their counts */
	uint64_t signature; /* of what failed, error or check; 0 if none or not known */
};

/* A closed breaker with the defaults of its kind. The thresholds may be set at any time. */
void breaker_init(struct breaker *breaker, enum breaker_kind kind);

/* Counts the outcome. Returns the new state. */
enum breaker_state breaker_feed(struct breaker *breaker, const struct breaker_outcome *outcome,
				int64_t now);

/* The state now: an open breaker that has cooled down is half-open. */
enum breaker_state breaker_state(const struct breaker *breaker, int64_t now);

/* When an open breaker will have cooled down; -1 if never by itself. */
int64_t breaker_cool_at(const struct breaker *breaker);

/* Closes it and forgets the count; the thresholds stay. */
void breaker_reset(struct breaker *breaker);

/* What is counted ("errors in a row"), behind a number ("1 error"), and the flag that changes the threshold. */
const char *breaker_name(enum breaker_kind kind);
const char *breaker_counted(enum breaker_kind kind, uint32_t count);
const char *breaker_flag(enum breaker_kind kind);

#endif
