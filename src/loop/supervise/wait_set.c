/* Waiting: see wait_set.h. */
#include "loop/supervise/wait_set.h"

#include "util/clock.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

int64_t wait_set_steady_ms(void)
{
	return (int64_t)clock_steady_ms();
}

void wait_set_add(struct wait_set *set, const struct wait_set_watch *watch)
{
	if (set->count == WAIT_SET_WATCHES)
		abort();
	set->watches[set->count++] = *watch;
}

/* Returns when the first watch is due, at most `until_ms`. */
static int64_t first_due_ms(const struct wait_set *set, int64_t until_ms)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct wait_set_watch *watch = &set->watches[i];
		int64_t due_ms = watch->due_ms ? watch->due_ms(watch->context) : INT64_MAX;

		until_ms = due_ms < until_ms ? due_ms : until_ms;
	}
	return until_ms;
}

static int fd_of(const struct wait_set_watch *watch)
{
	if (watch->at)
		return *watch->at;
	return watch->fd ? watch->fd(watch->context) : -1;
}

static int wait_ms(int64_t until_ms)
{
	int64_t now_ms = wait_set_steady_ms();

	if (until_ms <= now_ms)
		return 0;
	return until_ms - now_ms < INT_MAX ? (int)(until_ms - now_ms) : INT_MAX;
}

void wait_set_round(struct wait_set *set, int64_t until_ms)
{
	struct pollfd polled[WAIT_SET_WATCHES];

	for (size_t i = 0; i < set->count; i++)
		polled[i] = (struct pollfd){ .fd = fd_of(&set->watches[i]), .events = POLLIN };
	if (poll(polled, set->count, wait_ms(first_due_ms(set, until_ms))) < 0)
		return;
	for (size_t i = 0; i < set->count; i++)
		set->watches[i].serve(set->watches[i].context, polled[i].revents != 0);
}
