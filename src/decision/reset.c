/* The end of a provider's limit: see reset.h. */
#include "decision/reset.h"

#include "decision/civil.h"
#include "decision/lines.h"
#include "decision/time_phrase.h"

#include <string.h>

enum { DAY_S = 86400 };

struct prepared {
	char lower[RESET_TEXT_MAX + 1];
	char exact[RESET_TEXT_MAX + 1];
};

/* The kind of time that the word before it announces. */
enum sense { ANY, CLOCK, DELAY };

/* Returns the ASCII character that represents a code point, or 0 if it is invisible. */
static char ascii_of(uint32_t point)
{
	if (point < 0x80)
		return (char)(point < 0x20 || point == 0x7f ? ' ' : point);
	if ((point >= 0x2010 && point <= 0x2015) || point == 0x2212 || point == 0xff0d)
		return '-';
	if (point == 0xa0 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f ||
	    point == 0x205f || point == 0x3000)
		return ' ';
	if (point == 0xb7 || point == 0x2022 || point == 0x2027 || point == 0x2219 ||
	    point == 0x22c5 || point == 0x30fb)
		return ' ';
	if (point == 0x2236 || point == 0xff1a)
		return ':';
	if (point == 0xad || (point >= 0x200b && point <= 0x200f) ||
	    (point >= 0x202a && point <= 0x202e) || (point >= 0x2060 && point <= 0x2069) ||
	    point == 0xfeff)
		return '\0';
	return '?';
}

static void prepare(const char *text, size_t size, struct prepared *out)
{
	size_t used = 0;

	for (size_t at = 0; at < size && used < RESET_TEXT_MAX;) {
		uint32_t point = 0;
		char c;

		at += lines_utf8(text + at, size - at, &point);
		c = ascii_of(point);
		if (c == '\0')
			continue;
		out->exact[used] = c;
		out->lower[used++] = lines_lower(c);
	}
	out->exact[used] = out->lower[used] = '\0';
}

static int fixed_offset(void *context, const char *name, int64_t utc, int32_t *ret_seconds)
{
	(void)name;
	(void)utc;
	*ret_seconds = (int32_t) * (const int64_t *)context;
	return 0;
}

/* Returns the first of these days whose time has not passed. */
static int first_day(const struct civil_zone *zone, const char *name, const struct time_phrase *m,
		     const int64_t days[2], int64_t now, int64_t *ret_time)
{
	int64_t time = 0;

	for (int i = 0; i < 2; i++) {
		if (civil_utc(zone, name, days[i] * DAY_S + m->clock_s, &time) < 0)
			return -1;
		if (time >= now - RESET_PAST_S)
			break;
	}
	*ret_time = time;
	return 0;
}

/* Returns the days that a date without a year can mean; 29 February may exist in neither year. */
static int days_of_date(const struct time_phrase *m, int64_t today, int64_t ret_days[2])
{
	int64_t year = m->year;
	int64_t month = 0;
	int64_t day = 0;
	int count = 0;

	if (!m->has_year)
		civil_date(today, &year, &month, &day);
	for (int64_t y = year; y <= year + !m->has_year; y++)
		if (civil_valid(y, m->month, m->day))
			ret_days[count++] = civil_days(y, m->month, m->day);
	if (count == 1)
		ret_days[1] = ret_days[0];
	return count ? 0 : -1;
}

/* Converts a civil time to seconds since the epoch. */
static int resolve_civil(const struct time_phrase *m, int64_t now, const struct civil_zone *zone,
			 int64_t *ret_time)
{
	int64_t offset = m->offset_s;
	struct civil_zone fixed = { .offset = fixed_offset, .context = &offset };
	const char *name = m->zone[0] ? m->zone : NULL;
	int64_t local = 0;
	int64_t days[2];

	zone = m->has_offset ? &fixed : zone;
	if (civil_local(zone, name, now, &local) < 0)
		return -1;

	int64_t today = local >= 0 ? local / DAY_S : -1;

	if (m->has_date) {
		if (days_of_date(m, today, days) < 0)
			return -1;
	} else if (m->has_shift) {
		days[0] = days[1] = today + m->shift;
	} else if (m->has_weekday) {
		days[0] = today + (m->weekday - (today + 4) % 7 + 7) % 7; /* day 0 was a Thursday */
		days[1] = days[0] + 7;
	} else {
		days[0] = today;
		days[1] = today + 1;
	}
	return first_day(zone, name, m, days, now, ret_time);
}

static int64_t seconds_up(int64_t ms)
{
	return ms / 1000 + (ms % 1000 > 0);
}

static int resolve(const struct time_phrase *m, int64_t now, const struct civil_zone *zone,
		   int64_t *ret_time)
{
	int64_t time = 0;

	if (m->has_delay)
		time = lines_add(now, seconds_up(m->delay_ms));
	else if (m->has_epoch)
		time = seconds_up(m->epoch_ms);
	else if (resolve_civil(m, now, zone, &time) < 0)
		return -1;
	if (time < now - RESET_PAST_S || time > now + RESET_AHEAD_S)
		return -1;
	*ret_time = time;
	return 0;
}

/* Skips words and marks between "resets" and the time. */
static enum sense skip_filler(struct time_phrase_reader *reader)
{
	static const struct {
		const char *word;
		enum sense sense;
	} words[] = {
		{ "at", CLOCK },      { "on", CLOCK },  { "in", DELAY },   { "after", ANY },
		{ "until", ANY },     { "is", ANY },    { "time", ANY },   { "for", ANY },
		{ "around", ANY },    { "about", ANY }, { "approx", ANY }, { "approximately", ANY },
		{ "by", ANY },        { "the", ANY },   { "your", ANY },   { "again", ANY },
		{ "another", ANY },   { "will", ANY },  { "be", ANY },     { "date", ANY },
		{ "available", ANY }, { "limit", ANY }, { "reset", ANY },  { "usage", ANY },
	};
	enum sense sense = ANY;
	const char *before;

	do {
		before = reader->lower;
		time_phrase_skip(reader, " :=\"'`*([{,|>");
		if (reader->lower[0] == '-' && reader->lower[1] == ' ')
			time_phrase_skip(reader, "-");
		for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
			if (!time_phrase_word(reader, words[i].word))
				continue;
			sense = words[i].sense != ANY ? words[i].sense : sense;
			break;
		}
	} while (reader->lower != before);
	return sense;
}

/* Reads a number without a unit in a field whose name implies one. Only punctuation may follow. */
static int read_bare(struct time_phrase_reader *reader, int64_t unit_ms, struct time_phrase *m)
{
	int64_t number = 0;
	const char *end = lines_number(reader->lower, &number);

	if (end == reader->lower || unit_ms == 0 || end - reader->lower > 8)
		return 0;
	if (*end == '.' && lines_digit(end[1]))
		return 0;
	if (*end && !strchr(" ,;.}])\"'", *end))
		return 0;
	if (lines_letter(end[strspn(end, " ")]))
		return 0;
	m->has_delay = true;
	m->delay_ms = lines_multiply(number, unit_ms);
	time_phrase_move(reader, end);
	return 1;
}

static int read_phrase(struct time_phrase_reader *reader, int64_t unit_ms, struct time_phrase *ret)
{
	struct time_phrase m = { 0 };
	enum sense sense = skip_filler(reader);
	int found = sense == DELAY ? 0 : time_phrase_number(reader, &m);

	if (found == 0 && sense != CLOCK)
		found = read_bare(reader, unit_ms, &m);
	if (found == 0 && sense != CLOCK)
		found = time_phrase_delay(reader, &m);
	if (found == 0 && sense != DELAY)
		found = time_phrase_civil(reader, &m);
	*ret = m;
	return found;
}

/*
 * Returns the unit of a bare number in this field: retry_after, resets_in_seconds, retry-after-ms.
 */
static int64_t unit_of(const char *name, size_t size)
{
	if (memmem(name, size, "second", 6))
		return memmem(name, size, "milli", 5) ? 1 : 1000;
	if (size > 2 &&
	    (memcmp(name + size - 3, "-ms", 3) == 0 || memcmp(name + size - 3, "_ms", 3) == 0))
		return 1;
	return size >= 5 && memcmp(name, "retry", 5) == 0 ? 1000 : 0;
}

/* Returns the size of the word here that announces a time, or 0. */
static size_t announcing_word(const struct prepared *text, size_t at)
{
	static const char *const words[] = { "reset",     "again", "retry",   "until", "wait",
					     "available", "renew", "refresh", "|" };
	size_t size = 0;

	if (at > 0 && lines_letter(text->exact[at - 1]) && text->exact[at] == text->lower[at] &&
	    text->lower[at] != '|')
		return 0;
	for (size_t i = 0; i < sizeof words / sizeof words[0] && size == 0; i++)
		if (strncmp(text->lower + at, words[i], strlen(words[i])) == 0)
			size = strlen(words[i]);
	if (size == 0 || text->lower[at] == '|')
		return size;
	while (lines_letter(text->lower[at + size]) || text->lower[at + size] == '_' ||
	       (text->lower[at + size] == '-' && lines_letter(text->lower[at + size + 1])))
		size++;
	return size;
}

int reset_time(const char *text, size_t size, int64_t now, const struct civil_zone *zone,
	       int64_t *ret_time)
{
	struct prepared prepared;
	struct time_phrase m;
	struct time_phrase_reader reader = { .lower = prepared.lower, .exact = prepared.exact };

	if (now < 0 || now > INT64_C(250000000000))
		return -1;
	prepare(text, size, &prepared);
	/* Without an announcing word, the time must be the whole text. */
	if (read_phrase(&reader, 0, &m) > 0 && !reader.lower[strspn(reader.lower, " .\"')]}")])
		return resolve(&m, now, zone, ret_time);
	for (size_t at = 0; prepared.lower[at]; at++) {
		size_t word = announcing_word(&prepared, at);

		if (word == 0)
			continue;
		reader = (struct time_phrase_reader){ .lower = prepared.lower + at + word,
						      .exact = prepared.exact + at + word };
		if (read_phrase(&reader, unit_of(prepared.lower + at, word), &m) > 0 &&
		    resolve(&m, now, zone, ret_time) == 0)
			return 0;
	}
	return -1;
}
