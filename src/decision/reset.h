/*
 * When a provider's limit is over, read from the provider's own text.
 *
 * The text is an error message or the value of a field, of an event that is known to be about a
 * limit; it is never tool output. Understood, after a word such as "resets", "try again",
 * "retry-after" or "until", or at the beginning:
 *
 *   5pm, 5 p.m., 17:00, 3:05:10 PM, noon        a time of day, the next one
 *   Nov 20, 5pm; 20 November 2026 17:00; Fri 9am; tomorrow at 9:30; 2026-11-20 17:00
 *   2026-11-20T17:00:00.5+02:00                 ISO 8601, and the date of HTTP
 *   2 hours 15 minutes, 6m0s, 1.5h, an hour     from now
 *   1795190400, 1795190400000                   since the epoch, in seconds or milliseconds
 *   retry-after: 120                            seconds from now
 *
 * A time may name its zone: (Europe/Vilnius), UTC, GMT+3, PST; without one it is local. A zone that
 * is not known makes the text unreadable: hours too early or too late are worse than no answer.
 *
 * Rules. Of several times the first that can be read counts. A time of day that passed more than a
 * minute ago is the next day's. A date without a year is the next such date, a date without a time
 * its midnight. A local time that clocks show twice is the second one, and one that clocks skip is
 * moved on by what they skip: never too early. A result more than a minute in the past, or more
 * than eight days ahead, is refused.
 */
#ifndef DECISION_RESET_H
#define DECISION_RESET_H

#include "decision/civil.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RESET_PAST_S = 60,
	RESET_AHEAD_S = 8 * 86400,
	RESET_TEXT_MAX = 4096, /* what is behind this is not read */
};

/* Returns 0 and the time in seconds since the epoch, or -1 with *ret_time untouched. */
int reset_time(const char *text, size_t size, int64_t now, const struct civil_zone *zone,
	       int64_t *ret_time);

#endif
