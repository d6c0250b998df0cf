/* One expression of time: see time_phrase.h. */
#include "decision/time_phrase.h"

#include "decision/lines.h"

#include <stdio.h>
#include <string.h>

bool time_phrase_word(struct time_phrase_reader *reader, const char *words)
{
	size_t size = strlen(words);

	if (strncmp(reader->lower, words, size) != 0 || time_phrase_joins(reader->lower[size]))
		return false;
	time_phrase_move(reader, reader->lower + size);
	return true;
}

void time_phrase_skip(struct time_phrase_reader *reader, const char *characters)
{
	time_phrase_move(reader, reader->lower + strspn(reader->lower, characters));
}

/* Returns the end of am, a.m., pm or p.m. and adjusts the hour, or NULL if there is none. */
static const char *half_of_day(const char *at, int64_t *hour)
{
	bool pm;

	at += strspn(at, " ");
	if (*at != 'a' && *at != 'p')
		return NULL;
	pm = *at++ == 'p';
	at += *at == '.';
	if (*at++ != 'm')
		return NULL;
	if (time_phrase_joins(*at))
		return NULL;
	at += *at == '.';
	*hour = *hour % 12 + (pm ? 12 : 0);
	return at;
}

/* Two digits after a separator, below 60. */
static const char *sixtieths(const char *at, int64_t *ret)
{
	const char *end = lines_number(at + 1, ret);

	return end == at + 3 && *ret < 60 ? end : NULL;
}

/* 5pm, 5:30 pm, 5.30pm, 17:05, 17:05:09.123. */
static int read_clock(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	int64_t hour = 0;
	int64_t minute = 0;
	int64_t second = 0;
	const char *at = lines_number(reader->lower, &hour);
	bool colon = *at == ':';
	bool dot = *at == '.' && lines_digit(at[1]);
	int64_t unused = 0;

	if (at == reader->lower)
		return 0;
	if (at - reader->lower > 2)
		return colon && lines_digit(at[1]) ? -1 : 0;
	if (colon || dot) {
		at = sixtieths(at, &minute);
		if (!at)
			return dot ? 0 : -1;
		if (*at == ':' && !(at = sixtieths(at, &second)))
			return -1;
		if (colon && (*at == '.' || *at == ',') && lines_digit(at[1]))
			at = lines_number(at + 1, &unused);
	}

	int64_t half = hour;
	const char *end = half_of_day(at, &half);

	if (!end && !colon)
		return 0;
	if (end ? hour < 1 || hour > 12 : hour > 23)
		return -1;
	moment->has_clock = true;
	moment->clock_s = (end ? half : hour) * 3600 + minute * 60 + second;
	time_phrase_move(reader, end ? end : at);
	return 1;
}

static int read_noon(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	if (time_phrase_word(reader, "noon"))
		moment->clock_s = 12 * 3600;
	else if (time_phrase_word(reader, "midnight"))
		moment->clock_s = 0;
	else
		return 0;
	moment->has_clock = true;
	return 1;
}

/* Returns the index of a name, spelled out or cut to three letters, or -1. */
static int read_name(struct time_phrase_reader *reader, const char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		char brief[4] = { names[i][0], names[i][1], names[i][2], '\0' };

		if (time_phrase_word(reader, names[i]))
			return i;
		if (time_phrase_word(reader, brief)) {
			time_phrase_move(reader, reader->lower + (*reader->lower == '.'));
			return i;
		}
	}
	return -1;
}

static int read_month(struct time_phrase_reader *reader)
{
	static const char *const names[] = { "january",   "february", "march",    "april",
					     "may",       "june",     "july",     "august",
					     "september", "october",  "november", "december" };

	if (time_phrase_word(reader, "sept"))
		return 9;
	return read_name(reader, names, 12) + 1;
}

static int read_weekday(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	static const char *const names[] = { "sunday",   "monday", "tuesday", "wednesday",
					     "thursday", "friday", "saturday" };
	int day = read_name(reader, names, 7);

	if (day < 0)
		return 0;
	moment->has_weekday = true;
	moment->weekday = day;
	return 1;
}

static int read_shift(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	if (time_phrase_word(reader, "tonight"))
		return 1; /* it may mean a time after midnight, so it does not fix the day */
	if (time_phrase_word(reader, "tomorrow"))
		moment->shift = 1;
	else if (time_phrase_word(reader, "today"))
		moment->shift = 0;
	else
		return 0;
	moment->has_shift = true;
	return 1;
}

/* 20, 20th; not a time of day. */
static const char *day_of_month(const char *at, int64_t *ret_day)
{
	static const char *const endings[] = { "st", "nd", "rd", "th" };
	const char *end = lines_number(at, ret_day);

	if (end == at || end - at > 2)
		return NULL;
	for (size_t i = 0; i < 4; i++)
		if (strncmp(end, endings[i], 2) == 0)
			return time_phrase_joins(end[2]) ? NULL : end + 2;
	return time_phrase_joins(*end) || *end == ':' ? NULL : end;
}

/* Reads a year after a date: four digits that are not a time. */
static void read_year(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	const char *at = reader->lower + strspn(reader->lower, " ,");
	int64_t year = 0;
	const char *end = lines_number(at, &year);

	if (end - at != 4 || time_phrase_joins(*end) || *end == ':' || year < 1970)
		return;
	moment->has_year = true;
	moment->year = year;
	time_phrase_move(reader, end);
}

/* Nov 20; November 20th, 2026; 20 Nov 2026. */
static int read_date(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	struct time_phrase_reader ahead = *reader;
	int64_t day = 0;
	const char *end = day_of_month(ahead.lower, &day);

	if (end) {
		time_phrase_move(&ahead, end);
		time_phrase_skip(&ahead, " -");
		time_phrase_word(&ahead, "of");
		time_phrase_skip(&ahead, " ");
	}

	int month = read_month(&ahead);

	if (month == 0)
		return 0;
	if (!end) {
		time_phrase_skip(&ahead, " ");
		end = day_of_month(ahead.lower, &day);
		if (!end)
			return 0;
		time_phrase_move(&ahead, end);
	}
	moment->has_date = true;
	moment->month = month;
	moment->day = day;
	read_year(&ahead, moment);
	*reader = ahead;
	return 1;
}

/* 2026-11-20, and the t before a time. */
static int read_iso_date(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	const char *year = lines_number(reader->lower, &moment->year);

	if (year - reader->lower != 4 || *year != '-' || !lines_digit(year[1]))
		return 0;

	const char *month = lines_number(year + 1, &moment->month);

	if (month - year != 3 || *month != '-')
		return -1;

	const char *day = lines_number(month + 1, &moment->day);

	if (day - month != 3)
		return -1;
	moment->has_date = moment->has_year = true;
	time_phrase_move(reader, day + (*day == 't' && lines_digit(day[1])));
	return 1;
}

/* +02:00, -0800, +3. */
static int read_offset(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	const char *at = reader->lower;
	int64_t hours = 0;
	int64_t minutes = 0;
	const char *end = *at == '+' || *at == '-' ? lines_number(at + 1, &hours) : at;

	if (end == at || end == at + 1)
		return 0;
	if (end - at == 5) {
		minutes = hours % 100;
		hours /= 100;
	} else if (end - at > 3) {
		return -1;
	} else if (*end == ':') {
		end = sixtieths(end, &minutes);
	}
	if (!end || hours > 14 || minutes > 59 || time_phrase_joins(*end))
		return -1;
	moment->has_offset = true;
	moment->offset_s = (hours * 3600 + minutes * 60) * (*at == '-' ? -1 : 1);
	time_phrase_move(reader, end);
	return 1;
}

/* Abbreviations that are unambiguous in providers' messages. */
static const struct {
	const char *name;
	int hours;
	const char *zone; /* used instead of the hours if the zone has summer time */
} abbreviations[] = {
	{ "utc", 0, NULL },
	{ "gmt", 0, NULL },
	{ "z", 0, NULL },
	{ "est", -5, NULL },
	{ "edt", -4, NULL },
	{ "cst", -6, NULL },
	{ "cdt", -5, NULL },
	{ "mst", -7, NULL },
	{ "mdt", -6, NULL },
	{ "pst", -8, NULL },
	{ "pdt", -7, NULL },
	{ "cet", 1, NULL },
	{ "cest", 2, NULL },
	{ "eet", 2, NULL },
	{ "eest", 3, NULL },
	{ "ET", 0, "America/New_York" },
	{ "CT", 0, "America/Chicago" },
	{ "MT", 0, "America/Denver" },
	{ "PT", 0, "America/Los_Angeles" },
	{ "Eastern", 0, "America/New_York" },
	{ "Central", 0, "America/Chicago" },
	{ "Mountain", 0, "America/Denver" },
	{ "Pacific", 0, "America/Los_Angeles" },
};

static int read_abbreviation(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	for (size_t i = 0; i < sizeof abbreviations / sizeof abbreviations[0]; i++) {
		struct time_phrase_reader ahead = *reader;
		size_t size = strlen(abbreviations[i].name);

		if (abbreviations[i].zone) {
			if (strncmp(ahead.exact, abbreviations[i].name, size) != 0 ||
			    time_phrase_joins(ahead.exact[size]) || ahead.exact[size] == '/')
				continue;
			snprintf(moment->zone, sizeof moment->zone, "%s", abbreviations[i].zone);
			time_phrase_move(reader, reader->lower + size);
			return 1;
		}
		if (!time_phrase_word(&ahead, abbreviations[i].name) || *ahead.lower == '/')
			continue;
		*reader = ahead;
		moment->has_offset = true;
		moment->offset_s = abbreviations[i].hours * 3600;
		return read_offset(reader, moment) < 0 ? -1 : 1;
	}
	return 0;
}

static bool zone_letter(char c)
{
	return time_phrase_joins(c) || c == '/' || c == '+' || c == '-';
}

/* Europe/Vilnius, any name in parentheses, or capitals that end in T. */
static int read_zone_name(struct time_phrase_reader *reader, struct time_phrase *moment,
			  bool enclosed)
{
	const char *name = reader->exact;
	size_t size = 0;
	size_t capitals = 0;
	bool slash = false;

	for (; zone_letter(name[size]); size++) {
		capitals += name[size] >= 'A' && name[size] <= 'Z';
		slash |= name[size] == '/';
	}
	if (size == 0 || !lines_letter(name[0]) || name[size - 1] == '/')
		return 0;
	if (enclosed ? name[size] != ')'
		     : !(slash && capitals > 1) &&
			       !(capitals == size && size > 2 && size < 6 && name[size - 1] == 'T'))
		return 0;
	if (size > TIME_PHRASE_ZONE_MAX)
		return -1;
	memcpy(moment->zone, name, size);
	moment->zone[size] = '\0';
	time_phrase_move(reader, reader->lower + size);
	return 1;
}

static int read_zone(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	struct time_phrase_reader ahead = *reader;
	bool enclosed = *ahead.lower == '(';
	int found;

	time_phrase_move(&ahead, ahead.lower + enclosed);
	if (enclosed && (time_phrase_word(&ahead, "local") || time_phrase_word(&ahead, "your"))) {
		time_phrase_skip(&ahead, " ");
		time_phrase_word(&ahead, "time");
		found = 1;
	} else {
		found = read_abbreviation(&ahead, moment);
		if (found == 0)
			found = read_offset(&ahead, moment);
		if (found == 0)
			found = read_zone_name(&ahead, moment, enclosed);
	}
	if (found <= 0)
		return found;
	if (enclosed && *ahead.lower != ')')
		return -1;
	time_phrase_move(&ahead, ahead.lower + enclosed);
	*reader = ahead;
	return 1;
}

/* Does a number follow that looks like a time but was not read? Then the phrase is incomplete. */
static bool leftover_time(const char *at)
{
	int64_t number = 0;
	int64_t hour = 0;
	const char *end = lines_number(at, &number);

	return end > at && ((*end == ':' && lines_digit(end[1])) || half_of_day(end, &hour));
}

/* Reads the next part of any kind, each at most once. */
static int read_part(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	int found = 0;

	if (!moment->has_date)
		found = read_iso_date(reader, moment);
	if (found == 0 && !moment->has_date)
		found = read_date(reader, moment);
	if (found == 0 && !moment->has_clock)
		found = read_clock(reader, moment);
	if (found == 0 && !moment->has_clock)
		found = read_noon(reader, moment);
	if (found == 0 && !moment->has_weekday)
		found = read_weekday(reader, moment);
	if (found == 0 && !moment->has_shift)
		found = read_shift(reader, moment);
	if (found == 0 && (moment->has_clock || moment->has_date) && !moment->has_offset &&
	    !moment->zone[0])
		found = read_zone(reader, moment);
	return found;
}

int time_phrase_civil(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	struct time_phrase_reader ahead = *reader;

	for (int parts = 0; parts < 8; parts++) {
		int found = read_part(&ahead, moment);

		if (found < 0)
			return -1;
		if (found == 0)
			break;
		*reader = ahead;
		time_phrase_skip(&ahead, " ,");
		if (time_phrase_word(&ahead, "at") || time_phrase_word(&ahead, "on"))
			time_phrase_skip(&ahead, " ");
	}
	if (leftover_time(ahead.lower))
		return -1;
	return moment->has_clock || moment->has_date || moment->has_weekday || moment->has_shift;
}
