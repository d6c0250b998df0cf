/*
 * Removes volatile parts from a text: see tape.h.
 *
 * Two conversations are the same if the agent did the same, regardless of the time and of process
 * ids. Removing too much only makes similar conversations look identical; removing too little
 * breaks every replay. So forms that rarely carry meaning are removed, and plain small numbers ("2
 * tests failed") stay.
 */
#include "tape/tape.h"

#include "util/text/sha256.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MARK = '#', LONG_WORD = 20, HEX_WORD = 8, LONG_NUMBER = 5, LONG_ROW = 8 };

struct rest {
	const char *at;
	size_t size;
};

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

static size_t digits(struct rest rest, size_t at)
{
	size_t n = 0;

	while (at + n < rest.size && isdigit((unsigned char)rest.at[at + n]))
		n++;
	return n;
}

static char peek(struct rest rest, size_t at)
{
	return at < rest.size ? rest.at[at] : '\0';
}

static bool starts(struct rest rest, size_t at, const char *word)
{
	size_t size = strlen(word);

	return at + size <= rest.size && memcmp(rest.at + at, word, size) == 0;
}

/* Returns the length of the whole word at `at` if it is one of these, else 0. */
static size_t one_of(struct rest rest, size_t at, const char *const *words)
{
	for (; *words; words++)
		if (starts(rest, at, *words) && !is_word(peek(rest, at + strlen(*words))))
			return strlen(*words);
	return 0;
}

static size_t month(struct rest rest, size_t at)
{
	static const char *const months[] = {
		"Jan",  "Feb",  "Mar",    "Apr",       "May",     "Jun",      "Jul",      "Aug",
		"Sep",  "Oct",  "Nov",    "Dec",       "January", "February", "March",    "April",
		"June", "July", "August", "September", "October", "November", "December", NULL
	};

	return one_of(rest, at, months);
}

static size_t spaces(struct rest rest, size_t at, const char *which)
{
	size_t n = 0;

	while (at + n < rest.size && rest.at[at + n] && strchr(which, rest.at[at + n]))
		n++;
	return n;
}

/* "Tue Nov 17", "Tuesday, November 17": the weekday and what follows. */
static size_t day_or_month(struct rest rest)
{
	static const char *const days[] = { "Mon",      "Tue",       "Wed",      "Thu",
					    "Fri",      "Sat",       "Sun",      "Monday",
					    "Tuesday",  "Wednesday", "Thursday", "Friday",
					    "Saturday", "Sunday",    NULL };
	size_t size = one_of(rest, 0, days);
	size_t gap = size ? spaces(rest, size, " ,") : 0;

	if (gap && (month(rest, size + gap) || digits(rest, size + gap)))
		return size + gap;
	size = month(rest, 0);
	gap = size ? spaces(rest, size, " ") : 0;
	if (gap && digits(rest, size + gap) > 0 && digits(rest, size + gap) <= 2)
		return size + gap + digits(rest, size + gap);
	return 0;
}

/* "05:34", "5:34:02.123", with a zone or AM/PM after it. */
static size_t clock_time(struct rest rest, size_t at)
{
	size_t hours = digits(rest, at);
	size_t n = at + hours;

	if (hours < 1 || hours > 2 || peek(rest, n) != ':' || digits(rest, n + 1) != 2)
		return 0;
	n += 3;
	if (peek(rest, n) == ':' && digits(rest, n + 1) == 2) {
		n += 3;
		if ((peek(rest, n) == '.' || peek(rest, n) == ',') && digits(rest, n + 1))
			n += 1 + digits(rest, n + 1);
	}
	if (peek(rest, n) == 'Z' && !is_word(peek(rest, n + 1)))
		n++;
	else if ((peek(rest, n) == '+' || peek(rest, n) == '-') && digits(rest, n + 1) >= 2)
		n += 1 + digits(rest, n + 1);
	else if (starts(rest, n, " AM") || starts(rest, n, " PM"))
		n += 3;
	return n;
}

static size_t date(struct rest rest)
{
	static const char *const parts[] = { "-", "/", NULL };
	size_t first = digits(rest, 0);
	size_t n = first;

	if (first != 4 && (first < 1 || first > 2))
		return 0;
	if (first <= 2 && peek(rest, n) == ' ' && month(rest, n + 1))
		return n + 1 + month(rest, n + 1);
	for (const char *const *part = parts; *part; part++) {
		size_t second = starts(rest, n, *part) ? digits(rest, n + 1) : 0;
		size_t third = second && starts(rest, n + 1 + second, *part)
				       ? digits(rest, n + 2 + second)
				       : 0;

		if (second < 1 || second > 2 || third < 1 || third > 4 ||
		    (first != 4 && third != 4))
			continue;
		n += 2 + second + third;
		if (peek(rest, n) == 'T' || peek(rest, n) == ' ') {
			size_t with_time = clock_time(rest, n + 1);

			n = with_time ? with_time : n;
		}
		return n;
	}
	return 0;
}

/* "12ms", "0.03 s", "0m0.012s". */
static size_t duration(struct rest rest)
{
	static const char *const units[] = { "ms",      "s",     "sec",     "secs", "second",
					     "seconds", "us",    "ns",      "µs",   "m",
					     "min",     "mins",  "minute",  "d",    "h",
					     "hour",    "hours", "minutes", NULL };
	size_t n = 0;

	for (;;) {
		size_t number = digits(rest, n);
		size_t unit;

		if (!number)
			return 0;
		n += number;
		if (peek(rest, n) == '.' && digits(rest, n + 1))
			n += 1 + digits(rest, n + 1);
		/* "0m" of "0m0.012s" */
		if ((peek(rest, n) == 'm' || peek(rest, n) == 'h') && digits(rest, n + 1)) {
			n++;
			continue;
		}
		n += peek(rest, n) == ' ';
		unit = one_of(rest, n, units);
		return unit ? n + unit : 0;
	}
}

/* `after_colon`: "main.c:12:34" is a position, not a time. */
static size_t number(struct rest rest, bool after_colon)
{
	size_t whole = digits(rest, 0);
	size_t part = peek(rest, whole) == '.' ? digits(rest, whole + 1) : 0;
	size_t n;

	if (!whole)
		return 0;
	if ((n = date(rest)) || (!after_colon && (n = clock_time(rest, 0))) || (n = duration(rest)))
		return n;
	if (part >= 3 && peek(rest, whole + 1 + part) != '.')
		return whole + 1 + part;
	if (whole >= LONG_NUMBER)
		return whole;
	/* A year. */
	return whole == 4 && (starts(rest, 0, "19") || starts(rest, 0, "20")) ? whole : 0;
}

/* Generated words: "3f2a9c11", "toolu_01A09q90qw90lq917835lq9", a UUID. */
static size_t generated_word(struct rest rest)
{
	size_t n = 0;
	size_t figures = 0;
	size_t row = 0;
	bool counted = false;
	bool hex = true;

	for (; n < rest.size && (is_word(rest.at[n]) || rest.at[n] == '-'); n++) {
		row = isdigit((unsigned char)rest.at[n]) ? row + 1 : 0;
		figures += row > 0;
		counted = counted || row >= LONG_ROW;
		hex = hex && (isxdigit((unsigned char)rest.at[n]) || rest.at[n] == '-');
	}
	return counted || (hex && n >= HEX_WORD && figures > 0) || (n >= LONG_WORD && figures >= 3)
		       ? n
		       : 0;
}

/*
 * "pid 123", "duration_ms: 45.3", and money, which a loop's prompt contains. Returns the length of
 * the label, which stays, and that of the number.
 */
static size_t labelled(struct rest rest, size_t *ret_number)
{
	size_t word = 0;
	size_t gap;

	while (word < rest.size && is_word(rest.at[word]))
		word++;
	if (starts(rest, 0, "US$ "))
		word = 3;
	else if (!((word >= 3 && word <= 4 && strncasecmp(rest.at + word - 3, "pid", 3) == 0) ||
		   (word == 4 && strncasecmp(rest.at, "pgid", 4) == 0) ||
		   (word > 3 && memcmp(rest.at + word - 3, "_ms", 3) == 0)))
		return 0;
	gap = spaces(rest, word, " :=\"");
	*ret_number = gap ? digits(rest, word + gap) : 0;
	if (*ret_number && peek(rest, word + gap + *ret_number) == '.')
		*ret_number += 1 + digits(rest, word + gap + *ret_number + 1);
	return *ret_number ? word + gap : 0;
}

/* The name of an entry in a temporary folder. */
static size_t temporary(struct rest rest)
{
	size_t n = 5;

	if (!starts(rest, 0, "/tmp/"))
		return 0;
	while (n < rest.size && (is_word(rest.at[n]) || strchr(".-+", rest.at[n])))
		n++;
	return n > 5 ? n : 0;
}

/*
 * Returns the length of the volatile part at this position, or 0, and how many bytes before it
 * stay.
 */
static size_t find_volatile(const char *text, size_t i, size_t size, size_t *ret_kept)
{
	struct rest rest = { text + i, size - i };
	size_t removed = 0;

	*ret_kept = 0;
	if (text[i] == '/') {
		*ret_kept = 5;
		return temporary(rest) - 5;
	}
	if (isdigit((unsigned char)text[i]))
		removed = number(rest, i > 0 && text[i - 1] == ':');
	else if (isupper((unsigned char)text[i]))
		removed = day_or_month(rest);
	if (!removed)
		removed = generated_word(rest);
	if (!removed)
		*ret_kept = labelled(rest, &removed);
	return removed;
}

void tape_normalize(struct buffer *out, const char *text, size_t size)
{
	static const char mark = MARK;
	size_t done = 0; /* copied to the output */
	size_t i = 0;

	while (i < size) {
		size_t kept = 0;
		size_t removed = 0;

		/* Only at the start of a word or a path. */
		if (text[i] == '/' ? temporary((struct rest){ text + i, size - i }) > 0
				   : is_word(text[i]))
			removed = find_volatile(text, i, size, &kept);
		if (removed) {
			buffer_add(out, text + done, i + kept - done);
			buffer_add(out, &mark, 1);
			i += kept + removed;
			done = i;
		} else if (is_word(text[i])) {
			while (i < size && (is_word(text[i]) || text[i] == '-'))
				i++;
		} else {
			i++;
		}
		/* The rest of a word that was partly removed is not the start of a word. */
		while (removed && i < size && is_word(text[i - 1]) &&
		       (is_word(text[i]) || text[i] == '-'))
			i++;
	}
	buffer_add(out, text + done, size - done);
}

void tape_key(const char *before, const char *role, const char *text, size_t size,
	      char ret_key[TAPE_KEY])
{
	AUTO_BUFFER struct buffer plain = BUFFER_INIT(2 * (size_t)TAPE_MOST);
	char hex[SHA256_HEX];

	buffer_printf(&plain, "%s\n%s\n", before, role);
	tape_normalize(&plain, text, size);
	sha256_hex(buffer_text(&plain), plain.used, hex);
	snprintf(ret_key, TAPE_KEY, "%.16s", hex);
}
