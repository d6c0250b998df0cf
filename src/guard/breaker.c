/* Circuit breakers: see breaker.h. */
#include "guard/breaker.h"

#include "guard/lines.h"

static const struct {
	const char *name, *once, *flag;
	uint32_t half_open_at, open_at;
} kinds[] = {
	[GUARD_BREAKER_ERRORS] = { .name = "errors in a row",
				   .once = "error",
				   .flag = "--max-errors",
				   .open_at = 5 },
	[GUARD_BREAKER_SAME_ERROR] = { .name = "times the same error",
				       .once = "time the same error",
				       .flag = "--max-same-error",
				       .open_at = 5 },
	[GUARD_BREAKER_NO_PROGRESS] = { .name = "iterations without progress",
					.once = "iteration without progress",
					.flag = "--max-no-progress",
					.half_open_at = 2,
					.open_at = 5 },
	[GUARD_BREAKER_INTERRUPTED] = { .name = "interruptions in a row",
					.once = "interruption",
					.flag = "--max-interrupted",
					.open_at = 5 },
};
_Static_assert(sizeof kinds / sizeof kinds[0] == GUARD_BREAKERS, "every breaker has a line");

void guard_breaker_init(struct guard_breaker *breaker, enum guard_breaker_kind kind)
{
	*breaker = (struct guard_breaker){ .kind = kind,
					   .half_open_at = kinds[kind].half_open_at,
					   .open_at = kinds[kind].open_at,
					   .cool_down_s = GUARD_COOL_DOWN_S };
}

/* What an outcome is to this breaker. */
enum effect { KEEP, GOOD, BAD };

static enum effect effect_of(const struct guard_breaker *breaker,
			     const struct guard_outcome *outcome)
{
	if (breaker->kind == GUARD_BREAKER_INTERRUPTED)
		return outcome->interrupted ? BAD : GOOD;
	if (outcome->interrupted)
		return KEEP;
	switch (breaker->kind) {
	case GUARD_BREAKER_ERRORS:
		return outcome->error ? BAD : GOOD;
	case GUARD_BREAKER_SAME_ERROR:
		return outcome->signature ? BAD : GOOD;
	case GUARD_BREAKER_NO_PROGRESS:
		return outcome->progress ? GOOD : BAD;
	default:
		return KEEP; /* of a later version */
	}
}

/* Whoever changes something new each time works on it, and may do so twice as often. */
static bool is_full(const struct guard_breaker *breaker, const struct guard_outcome *outcome)
{
	bool patient = breaker->kind == GUARD_BREAKER_SAME_ERROR && outcome->progress;

	return breaker->count >= breaker->open_at &&
	       (!patient || breaker->count / 2 >= breaker->open_at);
}

static void close_breaker(struct guard_breaker *breaker)
{
	breaker->state = GUARD_CLOSED;
	breaker->count = 0;
	breaker->signature = 0;
	breaker->opened_at = 0;
}

static void count_bad(struct guard_breaker *breaker, const struct guard_outcome *outcome,
		      int64_t now)
{
	if (breaker->kind == GUARD_BREAKER_SAME_ERROR && breaker->signature != outcome->signature) {
		close_breaker(breaker);
		breaker->signature = outcome->signature;
	}
	breaker->count += breaker->count < UINT32_MAX;
	/* After a cool-down the count is still there: one bad outcome opens it again. */
	if (is_full(breaker, outcome)) {
		breaker->state = GUARD_OPEN;
		breaker->opened_at = now;
		breaker->tripped += breaker->tripped < UINT32_MAX;
	} else {
		breaker->state = breaker->half_open_at && breaker->count >= breaker->half_open_at
					 ? GUARD_HALF_OPEN
					 : GUARD_CLOSED;
	}
}

enum guard_breaker_state guard_breaker_feed(struct guard_breaker *breaker,
					    const struct guard_outcome *outcome, int64_t now)
{
	if (breaker->open_at == 0) {
		close_breaker(breaker);
		return GUARD_CLOSED;
	}
	switch (effect_of(breaker, outcome)) {
	case GOOD:
		close_breaker(breaker);
		break;
	case BAD:
		count_bad(breaker, outcome, now);
		break;
	case KEEP:
		break;
	}
	return guard_breaker_state(breaker, now);
}

enum guard_breaker_state guard_breaker_state(const struct guard_breaker *breaker, int64_t now)
{
	if (breaker->open_at == 0)
		return GUARD_CLOSED;
	if (breaker->state == GUARD_HALF_OPEN)
		return GUARD_HALF_OPEN;
	if (breaker->state != GUARD_OPEN)
		return GUARD_CLOSED;
	/* A threshold that was raised since then lets the loop go on where it stopped. */
	if (breaker->count < breaker->open_at)
		return GUARD_HALF_OPEN;
	return breaker->cool_down_s > 0 && now >= guard_breaker_cool_at(breaker) ? GUARD_HALF_OPEN
										 : GUARD_OPEN;
}

int64_t guard_breaker_cool_at(const struct guard_breaker *breaker)
{
	return breaker->cool_down_s > 0 ? guard_add(breaker->opened_at, breaker->cool_down_s) : -1;
}

void guard_breaker_reset(struct guard_breaker *breaker)
{
	close_breaker(breaker);
}

const char *guard_breaker_name(enum guard_breaker_kind kind)
{
	return kind < GUARD_BREAKERS ? kinds[kind].name : "of a kind not known here";
}

const char *guard_breaker_counted(enum guard_breaker_kind kind, uint32_t count)
{
	return kind < GUARD_BREAKERS && count == 1 ? kinds[kind].once : guard_breaker_name(kind);
}

const char *guard_breaker_flag(enum guard_breaker_kind kind)
{
	return kind < GUARD_BREAKERS ? kinds[kind].flag : "";
}
