/* The calendar: see civil.h. */
#include "decision/civil.h"

enum { DAY_S = 86400 };

/* Years start in March, so that the leap day comes last; an era is 400 years. */
int64_t civil_days(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void civil_date(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t day = shifted - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	*ret_day = of_year - (153 * month + 2) / 5 + 1;
	*ret_month = month < 10 ? month + 3 : month - 9;
	*ret_year = year + era * 400 + (*ret_month <= 2);
}

int civil_valid(int64_t year, int64_t month, int64_t day)
{
	int64_t y = 0;
	int64_t m = 0;
	int64_t d = 0;

	if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31)
		return 0;
	civil_date(civil_days(year, month, day), &y, &m, &d);
	return m == month && d == day;
}

/* The callback is not trusted: no zone is more than a day from UTC. */
static int offset_at(const struct civil_zone *zone, const char *name, int64_t utc, int64_t *ret)
{
	int32_t seconds = 0;

	if (!zone || !zone->offset || zone->offset(zone->context, name, utc, &seconds) < 0)
		return -1;
	if (seconds <= -DAY_S || seconds >= DAY_S)
		return -1;
	*ret = seconds;
	return 0;
}

int civil_local(const struct civil_zone *zone, const char *name, int64_t utc, int64_t *ret_civil)
{
	int64_t offset = 0;

	if (offset_at(zone, name, utc, &offset) < 0)
		return -1;
	*ret_civil = utc + offset;
	return 0;
}

int civil_utc(const struct civil_zone *zone, const char *name, int64_t civil, int64_t *ret_utc)
{
	int64_t before = 0;
	int64_t after = 0;
	int64_t shown = 0;

	/* No zone changes its clocks twice within two days. */
	if (offset_at(zone, name, civil - DAY_S, &before) < 0 ||
	    offset_at(zone, name, civil + DAY_S, &after) < 0)
		return -1;

	int64_t late = civil - after;
	int64_t early = civil - before;

	/* If clocks show the time twice, they went back, and the later of the two is wanted. */
	if (civil_local(zone, name, late, &shown) < 0)
		return -1;
	*ret_utc = shown == civil ? late : early;
	return 0;
}
