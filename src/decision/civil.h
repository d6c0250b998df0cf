/*
 * Calendar arithmetic without the C library: no environment, no time zone except the one passed in.
 *
 * A civil time is stored as the number of seconds since the epoch at which a UTC clock shows it.
 */
#ifndef DECISION_CIVIL_H
#define DECISION_CIVIL_H

#include <stdint.h>

struct civil_zone {
	/*
	 * Returns the offset of local time from UTC in seconds, at a time in seconds since the
	 * epoch. The name (NULL: the zone of this machine) comes from untrusted text; it holds only
	 * letters, digits and / _ + -, and no slash at either end. Returns 0, or -1 if there is no
	 * such zone.
	 */
	int (*offset)(void *context, const char *name, int64_t utc, int32_t *ret_seconds);
	void *context;
};

/* Returns the number of days from the epoch to a date of the Gregorian calendar. */
int64_t civil_days(int64_t year, int64_t month, int64_t day);

/* The inverse of civil_days(). */
void civil_date(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day);

/* Is this a valid date from 1970 to 9999? */
int civil_valid(int64_t year, int64_t month, int64_t day);

/*
 * Returns in *ret_utc when clocks in the zone show the civil time. If they show it twice, the later
 * time is returned; if they skip it, the time as if they had not changed yet. Returns 0, or -1 if
 * the zone is unknown or its offset is invalid.
 */
int civil_utc(const struct civil_zone *zone, const char *name, int64_t civil, int64_t *ret_utc);

/* Returns in *ret_civil the time that clocks in the zone show. Returns 0, or -1 as above. */
int civil_local(const struct civil_zone *zone, const char *name, int64_t utc, int64_t *ret_civil);

#endif
