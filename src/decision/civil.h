/*
 * The calendar, without the libc's: no environment, no time zone but the one passed in.
 *
 * A civil time is written as the seconds since the epoch that UTC would have when it shows it.
 */
#ifndef DECISION_CIVIL_H
#define DECISION_CIVIL_H

#include <stdint.h>

struct civil_zone {
	/*
	 * How many seconds local time is ahead of UTC in the zone, at a time in seconds since the
	 * epoch. The name (NULL: the zone of this machine) comes from foreign text and holds only
	 * letters, digits and / _ + -, not at its ends a slash. Returns 0, or -1 if there is no
	 * such zone.
	 */
	int (*offset)(void *context, const char *name, int64_t utc, int32_t *ret_seconds);
	void *context;
};

/* The days from the epoch to a date of the Gregorian calendar. */
int64_t civil_days(int64_t year, int64_t month, int64_t day);

/* The date of such a day. */
void civil_date(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day);

/* Is there such a date, from 1970 to 9999? */
int civil_valid(int64_t year, int64_t month, int64_t day);

/*
 * When clocks in the zone show the civil time: of two times the later; where clocks skip it, as if
 * they had not been changed yet. Returns 0, or -1 if the zone is unknown or its offset no offset.
 */
int civil_utc(const struct civil_zone *zone, const char *name, int64_t civil, int64_t *ret_utc);

/* What clocks in the zone show. Returns 0, or -1 as above. */
int civil_local(const struct civil_zone *zone, const char *name, int64_t utc, int64_t *ret_civil);

#endif
