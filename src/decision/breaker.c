/* Circuit breakers: see breaker.h. */
#include "decision/breaker.h"

#include "decision/lines.h"

static const struct {
	const char *name, *once, *flag;
	uint32_t half_open_at, open_at;
} kinds[] = {
	[BREAKER_ERRORS] = { .name = "errors in a row",
			     .once = "error",
			     .flag = "--max-errors",
			     .open_at = 5 },
	[BREAKER_SAME_ERROR] = { .name = "occurrences of the same error",
				 .once = "occurrence of the same error",
				 .flag = "--max-same-error",
				 .open_at = 5 },
	[BREAKER_NO_PROGRESS] = { .name = "iterations without progress",
				  .once = "iteration without progress",
				  .flag = "--max-no-progress",
				  .half_open_at = 2,
				  .open_at = 5 },
	[BREAKER_INTERRUPTED] = { .name = "interruptions in a row",
				  .once = "interruption",
				  .flag = "--max-interrupted",
				  .open_at = 5 },
};
_Static_assert(sizeof kinds / sizeof kinds[0] == BREAKER_COUNT, "every breaker has a row");

void breaker_init(struct breaker *breaker, enum breaker_kind kind)
{
	*breaker = (struct breaker){ .kind = kind,
				     .half_open_at = kinds[kind].half_open_at,
				     .open_at = kinds[kind].open_at,
				     .cool_down_s = BREAKER_COOL_DOWN_S };
}

/* The effect of an outcome on a breaker. */
enum effect { KEEP, GOOD, BAD };

static enum effect effect_of(const struct breaker *breaker, const struct breaker_outcome *outcome)
{
	if (breaker->kind == BREAKER_INTERRUPTED)
		return outcome->interrupted ? BAD : GOOD;
	if (outcome->interrupted)
		return KEEP;
	switch (breaker->kind) {
	case BREAKER_ERRORS:
		return outcome->error ? BAD : GOOD;
	case BREAKER_SAME_ERROR:
		return outcome->signature ? BAD : GOOD;
	case BREAKER_NO_PROGRESS:
		return outcome->progress ? GOOD : BAD;
	default:
		return KEEP; /* a kind from a later version */
	}
}

/* An agent that makes progress is working on the error, and gets twice as many attempts. */
static bool is_full(const struct breaker *breaker, const struct breaker_outcome *outcome)
{
	bool patient = breaker->kind == BREAKER_SAME_ERROR && outcome->progress;

	return breaker->count >= breaker->open_at &&
	       (!patient || breaker->count / 2 >= breaker->open_at);
}

static void close_breaker(struct breaker *breaker)
{
	breaker->state = BREAKER_CLOSED;
	breaker->count = 0;
	breaker->signature = 0;
	breaker->opened_at = 0;
}

static void count_bad(struct breaker *breaker, const struct breaker_outcome *outcome, int64_t now)
{
	if (breaker->kind == BREAKER_SAME_ERROR && breaker->signature != outcome->signature) {
		close_breaker(breaker);
		breaker->signature = outcome->signature;
	}
	breaker->count += breaker->count < UINT32_MAX;
	/* The count survives a cool-down: one bad outcome opens the breaker again. */
	if (is_full(breaker, outcome)) {
		breaker->state = BREAKER_OPEN;
		breaker->opened_at = now;
		breaker->tripped += breaker->tripped < UINT32_MAX;
	} else {
		breaker->state = breaker->half_open_at && breaker->count >= breaker->half_open_at
					 ? BREAKER_HALF_OPEN
					 : BREAKER_CLOSED;
	}
}

enum breaker_state breaker_feed(struct breaker *breaker, const struct breaker_outcome *outcome,
				int64_t now)
{
	if (breaker->open_at == 0) {
		close_breaker(breaker);
		return BREAKER_CLOSED;
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
	return breaker_state(breaker, now);
}

enum breaker_state breaker_state(const struct breaker *breaker, int64_t now)
{
	if (breaker->open_at == 0)
		return BREAKER_CLOSED;
	if (breaker->state == BREAKER_HALF_OPEN)
		return BREAKER_HALF_OPEN;
	if (breaker->state != BREAKER_OPEN)
		return BREAKER_CLOSED;
	/* Raising the threshold lets a stopped loop continue. */
	if (breaker->count < breaker->open_at)
		return BREAKER_HALF_OPEN;
	return breaker->cool_down_s > 0 && now >= breaker_cool_at(breaker) ? BREAKER_HALF_OPEN
									   : BREAKER_OPEN;
}

int64_t breaker_cool_at(const struct breaker *breaker)
{
	return breaker->cool_down_s > 0 ? lines_add(breaker->opened_at, breaker->cool_down_s) : -1;
}

void breaker_reset(struct breaker *breaker)
{
	close_breaker(breaker);
}

const char *breaker_name(enum breaker_kind kind)
{
	return kind < BREAKER_COUNT ? kinds[kind].name : "of an unknown kind";
}

const char *breaker_counted(enum breaker_kind kind, uint32_t count)
{
	return kind < BREAKER_COUNT && count == 1 ? kinds[kind].once : breaker_name(kind);
}

const char *breaker_flag(enum breaker_kind kind)
{
	return kind < BREAKER_COUNT ? kinds[kind].flag : "";
}
