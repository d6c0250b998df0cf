/* Times given as a number: from now, or since the epoch. See time_phrase.h. */
#include "decision/time_phrase.h"

#include "decision/lines.h"

#include <string.h>

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
	{ "ms", 1 },
	{ "msec", 1 },
	{ "msecs", 1 },
	{ "millisecond", 1 },
	{ "milliseconds", 1 },
	{ "s", 1000 },
	{ "sec", 1000 },
	{ "secs", 1000 },
	{ "second", 1000 },
	{ "seconds", 1000 },
	{ "m", 60000 },
	{ "min", 60000 },
	{ "mins", 60000 },
	{ "minute", 60000 },
	{ "minutes", 60000 },
	{ "h", 3600000 },
	{ "hr", 3600000 },
	{ "hrs", 3600000 },
	{ "hour", 3600000 },
	{ "hours", 3600000 },
	{ "d", 86400000 },
	{ "day", 86400000 },
	{ "days", 86400000 },
	{ "week", 604800000 },
	{ "weeks", 604800000 },
};

/* Returns the unit in milliseconds, or 0. A digit may follow directly, as in 6m0s. */
static int64_t read_unit(struct time_phrase_reader *reader)
{
	size_t size = 0;

	time_phrase_skip(reader, " -");
	while (lines_letter(reader->lower[size]))
		size++;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strlen(units[i].name) != size ||
		    strncmp(reader->lower, units[i].name, size) != 0)
			continue;
		time_phrase_move(reader, reader->lower + size);
		return units[i].ms;
	}
	return 0;
}

/* Reads the digits after a decimal point, in millionths. */
static const char *fraction(const char *at, int64_t *ret_millionths)
{
	int64_t millionths = 0;
	int64_t scale = 100000;

	for (; lines_digit(*at); at++, scale /= 10)
		millionths += (*at - '0') * scale;
	*ret_millionths = millionths;
	return at;
}

/* 2 hours; 1.5h; an hour. */
static int read_quantity(struct time_phrase_reader *reader, int64_t *total_ms)
{
	struct time_phrase_reader ahead = *reader;
	int64_t whole = 1;
	int64_t millionths = 0;

	if (!time_phrase_word(&ahead, "a") && !time_phrase_word(&ahead, "an") &&
	    !time_phrase_word(&ahead, "one")) {
		const char *end = lines_number(ahead.lower, &whole);

		if (end == ahead.lower)
			return 0;
		if (*end == '.' && lines_digit(end[1]))
			end = fraction(end + 1, &millionths);
		time_phrase_move(&ahead, end);
	}

	int64_t unit = read_unit(&ahead);

	if (unit == 0)
		return 0;
	*total_ms = lines_add(*total_ms, lines_multiply(whole, unit));
	*total_ms = lines_add(*total_ms, (millionths * unit + 999999) / 1000000);
	*reader = ahead;
	return 1;
}

int time_phrase_delay(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	struct time_phrase_reader ahead = *reader;
	int64_t total = 0;
	int count = 0;

	for (; count < 8 && read_quantity(&ahead, &total); count++) {
		*reader = ahead;
		time_phrase_skip(&ahead, " ,");
		if (time_phrase_word(&ahead, "and"))
			time_phrase_skip(&ahead, " ");
	}
	if (count == 0)
		return 0;
	if (time_phrase_word(&ahead, "ago"))
		return -1;
	moment->has_delay = true;
	moment->delay_ms = total;
	return 1;
}

int time_phrase_number(struct time_phrase_reader *reader, struct time_phrase *moment)
{
	int64_t number = 0;
	int64_t millionths = 0;
	const char *end = lines_number(reader->lower, &number);

	if (end - reader->lower < 9)
		return 0;
	if (*end == '.' && lines_digit(end[1]))
		end = fraction(end + 1, &millionths);
	if (time_phrase_joins(*end))
		return -1;
	moment->has_epoch = true;
	moment->epoch_ms = number < INT64_C(100000000000) ? lines_add(lines_multiply(number, 1000),
								      (millionths + 999) / 1000)
							  : number;
	time_phrase_move(reader, end);
	return 1;
}
