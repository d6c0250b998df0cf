/*
 * Circuit breakers: what happens too often in a row ends the loop before the limits do.
 *
 * A breaker is closed (go on), half-open (go on, with a warning) or open (stop). It counts bad
 * outcomes in a row; a good one closes it. Once open it stays open for its cool-down; after that it
 * is half-open for one iteration: a good outcome closes it, a bad one opens it again at once. A
 * breaker is a plain struct of integers: it is stored with the loop, and a restart changes nothing.
 */
#ifndef GUARD_BREAKER_H
#define GUARD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum guard_breaker_kind {
	GUARD_BREAKER_ERRORS,     /* of any kind, in a row: 5 */
	GUARD_BREAKER_SAME_ERROR, /* the same signature, in a row: 5; with progress in between 10 */
	GUARD_BREAKER_NO_PROGRESS, /* in a row: half-open after 2, open after 5 */
	GUARD_BREAKER_INTERRUPTED, /* in a row: 5 */
	GUARD_BREAKERS
};

enum guard_breaker_state { GUARD_CLOSED, GUARD_HALF_OPEN, GUARD_OPEN };

enum { GUARD_COOL_DOWN_S = 1800 };

struct guard_breaker {
	uint32_t kind;         /* enum guard_breaker_kind */
	uint32_t half_open_at; /* how many in a row; 0: never half-open by count */
	uint32_t open_at;      /* how many in a row; 0: the breaker is off */
	uint32_t state;        /* enum guard_breaker_state, as it was at the last outcome */
	uint32_t count;        /* in a row, until now */
	uint32_t tripped;      /* how often it opened; for a person */
	uint64_t signature;    /* of the error that is counted */
	int64_t opened_at;     /* seconds since the epoch */
	int64_t cool_down_s;   /* 0: open until it is reset */
};

/* What an iteration was, as far as breakers care. One that waited for a provider is not fed. */
struct guard_outcome {
	bool error;
	bool progress;
	bool interrupted;   /* nothing else is known then: the other breakers keep their counts */
	uint64_t signature; /* of what failed, error or check; 0 if none or not known */
};

/* A closed breaker with the defaults of its kind. The thresholds may be set at any time. */
void guard_breaker_init(struct guard_breaker *breaker, enum guard_breaker_kind kind);

/* Counts the outcome. Returns the new state. */
enum guard_breaker_state guard_breaker_feed(struct guard_breaker *breaker,
					    const struct guard_outcome *outcome, int64_t now);

/* The state now: an open breaker that has cooled down is half-open. */
enum guard_breaker_state guard_breaker_state(const struct guard_breaker *breaker, int64_t now);

/* When an open breaker will have cooled down; -1 if never by itself. */
int64_t guard_breaker_cool_at(const struct guard_breaker *breaker);

/* Closes it and forgets the count; the thresholds stay. */
void guard_breaker_reset(struct guard_breaker *breaker);

/* What is counted ("errors in a row"), behind a number ("1 error"), and the flag that changes the threshold. */
const char *guard_breaker_name(enum guard_breaker_kind kind);
const char *guard_breaker_counted(enum guard_breaker_kind kind, uint32_t count);
const char *guard_breaker_flag(enum guard_breaker_kind kind);

#endif
