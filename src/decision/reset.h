/*
 * Reads from a provider's message when its limit ends.
 *
 * The text is an error message or the value of a field in an event that is known to be about a
 * limit; it is never tool output. These forms are read after a word such as "resets", "try again",
 * "retry-after" or "until", or at the start:
 *
 *   5pm, 5 p.m., 17:00, 3:05:10 PM, noon        a time of day, the next one
 *   Nov 20, 5pm; 20 November 2026 17:00; Fri 9am; tomorrow at 9:30; 2026-11-20 17:00
 *   2026-11-20T17:00:00.5+02:00                 ISO 8601, and the date format of HTTP
 *   2 hours 15 minutes, 6m0s, 1.5h, an hour     from now
 *   1795190400, 1795190400000                   since the epoch, in seconds or milliseconds
 *   retry-after: 120                            seconds from now
 *
 * A time may name its zone: (Europe/Vilnius), UTC, GMT+3, PST; otherwise it is local. An unknown
 * zone makes the text unreadable: being hours early or late is worse than having no answer.
 *
 * The first readable time counts. A time of day that passed more than a minute ago means the next
 * day. A date without a year is the next such date, and a date without a time is its midnight. A
 * local time that clocks show twice is the second one, and one that clocks skip is moved forward by
 * the gap: the result is never too early. A result more than a minute in the past or more than
 * 35 days ahead is refused.
 */
#ifndef DECISION_RESET_H
#define DECISION_RESET_H

#include "decision/civil.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RESET_PAST_S = 60,
	RESET_AHEAD_S = 35 * 86400, /* a monthly limit */
	RESET_TEXT_MAX = 4096,      /* the rest is not read */
};

/* Returns 0 and the time in seconds since the epoch, or -1 with *ret_time untouched. */
int reset_time(const char *text, size_t size, int64_t now, const struct civil_zone *zone,
	       int64_t *ret_time);

#endif
