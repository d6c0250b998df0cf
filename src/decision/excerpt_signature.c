/* Signatures of failures: see excerpt.h. */
#include "decision/excerpt.h"

#include "decision/lines.h"

#include <string.h>

enum { DISTINCT_MAX = 64 };

struct writer {
	char *out;
	size_t used, room;
};

static void put(struct writer *w, char c)
{
	if (w->used + 1 < w->room)
		w->out[w->used++] = c;
}

/* A number becomes #, and so do several joined numbers (12:30, 1.5, a.c:3:7). */
static void put_number(struct writer *w)
{
	if (w->used >= 2 && w->out[w->used - 2] == '#' && strchr(".:,-+/", w->out[w->used - 1])) {
		w->used--;
		return;
	}
	if (w->used == 0 || w->out[w->used - 1] != '#')
		put(w, '#');
}

static bool hex(char c)
{
	return lines_digit(c) || (lines_lower(c) >= 'a' && lines_lower(c) <= 'f');
}

/* 12ms, 1m30s: numbers with units of time. */
static bool is_duration(const char *word, size_t size)
{
	static const char *const units[] = {
		"ms", "us", "ns", "min", "sec", "secs", "s", "m", "h"
	};
	size_t at = 0;

	while (at < size) {
		size_t digits = at;
		size_t unit = 0;
		size_t letters = 0;

		while (at < size && lines_digit(word[at]))
			at++;
		while (at + letters < size && lines_letter(word[at + letters]))
			letters++;
		while (unit < 9 && (strlen(units[unit]) != letters ||
				    strncmp(word + at, units[unit], letters) != 0))
			unit++;
		if (at == digits || unit == 9)
			return false;
		at += letters;
	}
	return true;
}

/* Does the whole word change from run to run? */
static bool is_volatile(const char *word, size_t size)
{
	size_t digits = 0;
	size_t hexes = 0;

	for (size_t i = 0; i < size; i++) {
		digits += lines_digit(word[i]);
		hexes += hex(word[i]);
	}
	if (size > 2 && word[0] == '0' && word[1] == 'x' && hexes == size - 1)
		return true;
	if (hexes == size && (size >= 8 || (digits > 0 && size >= 4)))
		return true;
	return is_duration(word, size);
}

static void put_word(struct writer *w, const char *word, size_t size)
{
	if (is_volatile(word, size)) {
		put_number(w);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (lines_digit(word[i]))
			put_number(w);
		else
			put(w, word[i]);
	}
}

size_t excerpt_signature_line(const char *line, char *out, size_t room)
{
	struct writer w = { .out = out, .room = room };

	line += strspn(line, " ");
	while (*line) {
		size_t size = 0;

		while (lines_letter(line[size]) || lines_digit(line[size]))
			size++;
		if (size > 0) {
			put_word(&w, line, size);
			line += size;
		} else if (strncmp(line, "/tmp/", 5) == 0) {
			for (const char *tmp = "/tmp/#"; *tmp; tmp++)
				put(&w, *tmp);
			line += 5;
			line += strcspn(line, "/ \"':,;)");
		} else if (*line == ' ') {
			put(&w, ' ');
			line += strspn(line, " ");
		} else {
			put(&w, *line++);
		}
	}
	while (w.used > 0 && out[w.used - 1] == ' ')
		w.used--;
	out[w.used] = '\0';
	return w.used;
}

/* FNV-1a with a final mix, so that sums of hashes do not collide. */
static uint64_t hash(const char *text, size_t size)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/* Returns the sum over distinct lines. *ret_any: there was at least one. */
static uint64_t sum_lines(const char *output, size_t size, bool failed_only, bool *ret_any)
{
	uint64_t seen[DISTINCT_MAX];
	size_t count = 0;
	uint64_t total = 0;
	struct lines_line raw;
	char line[EXCERPT_LINE_MAX + 1];
	char reduced[EXCERPT_LINE_MAX + 1];

	for (const char *at = output;
	     count < DISTINCT_MAX && lines_next(&at, output + size, &raw);) {
		size_t i = 0;

		lines_clean(&raw, line, sizeof line, NULL);
		if (failed_only && !excerpt_looks_failed(line))
			continue;

		size_t reduced_size = excerpt_signature_line(line, reduced, sizeof reduced);
		uint64_t h = hash(reduced, reduced_size);

		while (i < count && seen[i] != h)
			i++;
		if (reduced_size == 0 || i < count)
			continue;
		seen[count++] = h;
		total += h;
	}
	*ret_any = count > 0;
	return total;
}

uint64_t excerpt_signature(const char *output, size_t size)
{
	bool any = false;
	uint64_t total = sum_lines(output, size, true, &any);

	if (!any)
		total = sum_lines(output, size, false, &any);
	return any && total == 0 ? 1 : total;
}
