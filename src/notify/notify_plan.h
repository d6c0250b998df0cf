/*
 * When a target gets its next message. Pure functions on a plain struct, with the time passed in.
 *
 * A failed delivery is tried again after a growing delay, with the same news and the same id, until
 * it is given up. A target gets a few messages at once, and then one in each interval, with all the
 * news of that time.
 */
#ifndef NOTIFY_NOTIFY_PLAN_H
#define NOTIFY_NOTIFY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTIFY_PLAN_WAIT_MS = 3600 * 1000 }; /* the longest that a server may ask for */

struct notify_pace {
	int64_t first_ms, most_ms; /* the first delay after a failure, and the longest */
	uint32_t tries;            /* then a message is given up */
	int64_t interval_ms;       /* of messages to one target */
	uint32_t burst;            /* messages at once */
};

#define NOTIFY_PACE_DEFAULT                              \
	((struct notify_pace){ .first_ms = 5000,         \
			       .most_ms = 3600 * 1000,   \
			       .tries = 15,              \
			       .interval_ms = 60 * 1000, \
			       .burst = 5 })

struct notify_plan {
	int64_t mark;    /* the news up to this event are delivered, or given up */
	int64_t through; /* the message that is being delivered has those up to this; 0: none */
	uint32_t tries;  /* of this message */
	int64_t due_ms;  /* of the next try */
	int64_t paid_ms; /* the interval is used up until then */
};

/* Shortens times that this clock could not have set: it has been put back. */
void notify_plan_correct(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms);

/* Returns when something is to be done for this target, or INT64_MAX. news: there is some after the
 * mark. */
int64_t notify_plan_due_ms(const struct notify_plan *plan, const struct notify_pace *pace,
			   bool news);

/* Begins a message, or the next try of the one under way. */
void notify_plan_begin(struct notify_plan *plan, int64_t through);

/* The message has arrived, or there was no news for this target. */
void notify_plan_sent(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms);
void notify_plan_skip(struct notify_plan *plan, int64_t through);

/* The try has failed. wait_ms: what the server asks for, or 0; hopeless: no other try would do
 * better. Returns whether the message is given up. */
bool notify_plan_failed(struct notify_plan *plan, const struct notify_pace *pace, int64_t now_ms,
			int64_t wait_ms, bool hopeless);

#endif
