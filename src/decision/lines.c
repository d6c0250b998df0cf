/* Untrusted text, line by line: see lines.h. */
#include "decision/lines.h"

#include "util/text/text.h"

#include <string.h>

bool lines_next(const char **at, const char *end, struct lines_line *ret_line)
{
	const char *start = *at;
	const char *stop;

	if (start >= end)
		return false;
	stop = memchr(start, '\n', (size_t)(end - start));
	*at = stop ? stop + 1 : end;
	stop = stop ? stop : end;
	if (stop > start && stop[-1] == '\r')
		stop--;
	*ret_line = (struct lines_line){ .text = start, .size = (size_t)(stop - start) };
	return true;
}

size_t lines_utf8(const char *text, size_t size, uint32_t *ret_point)
{
	size_t length = text_utf8(text, size, ret_point);

	if (length)
		return length;
	*ret_point = 0xfffd;
	return 1;
}

/* Control characters, and marks that hide or reorder what a person reads. */
static bool is_invisible(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
	       (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2060 && point <= 0x2069) || point == 0xfeff;
}

/* Skips the rest of a control sequence: parameters, then one final byte. */
static const char *skip_sequence(const char *at, const char *end)
{
	while (at < end && *at >= 0x20 && *at < 0x40)
		at++;
	return at < end && *at >= 0x40 && *at < 0x7f ? at + 1 : at;
}

/* Skips a terminal string (a title, a link) including its end: BEL, or ESC and a backslash. */
static const char *skip_string(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '\a')
			return at + 1;
		if (*at == '\033' && at + 1 < end && at[1] == '\\')
			return at + 2;
	}
	return end;
}

/* Skips the sequence after an ESC. */
static const char *skip_escape(const char *at, const char *end)
{
	if (at == end)
		return at;
	if (*at == '[')
		return skip_sequence(at + 1, end);
	if (*at != '\0' && strchr("]PX^_", *at))
		return skip_string(at + 1, end);
	while (at < end && *at >= 0x20 && *at < 0x30)
		at++;
	return at < end && *at >= 0x30 && *at < 0x7f ? at + 1 : at;
}

size_t lines_clean(const struct lines_line *line, char *out, size_t room, bool *ret_cut)
{
	const char *end = line->text + line->size;
	const char *over = memrchr(line->text, '\r', line->size);
	const char *at = over ? over + 1 : line->text;
	size_t used = 0;
	bool cut = false;

	while (at < end && !cut) {
		uint32_t point = 0;
		size_t size = lines_utf8(at, (size_t)(end - at), &point);
		const char *shown = at;
		size_t shown_size = size;

		at += size;
		if (point == 0x1b) {
			at = skip_escape(at, end);
			continue;
		}
		if (point == 0x9b) {
			at = skip_sequence(at, end);
			continue;
		}
		if (point == '\t') {
			shown = " ";
		} else if (is_invisible(point)) {
			continue;
		} else if (point == 0xfffd) {
			shown = "\xef\xbf\xbd";
			shown_size = 3;
		}
		cut = shown_size >= room - used;
		if (!cut) {
			memcpy(out + used, shown, shown_size);
			used += shown_size;
		}
	}
	out[used] = '\0';
	if (ret_cut)
		*ret_cut = cut;
	return used;
}

size_t lines_join(const char *text, size_t size, char *out, size_t room)
{
	const char *end = text + size;
	struct lines_line line;
	size_t used = 0;

	out[0] = '\0';
	while (used + 2 < room && lines_next(&text, end, &line)) {
		char *start = out + used;
		size_t length = lines_clean(&line, start, room - used - 1, NULL);
		size_t first = strspn(start, " ");

		while (length > first && start[length - 1] == ' ')
			length--;
		memmove(start, start + first, length - first);
		used += length - first;
		if (length > first)
			out[used++] = ' ';
	}
	used -= used > 0; /* the last space */
	out[used] = '\0';
	return used;
}

bool lines_begins(const char *text, const char *begin)
{
	for (; *begin; text++, begin++)
		if (lines_lower(*text) != *begin)
			return false;
	return true;
}

const char *lines_find(const char *text, const char *words)
{
	for (; *text; text++)
		if (lines_lower(*text) == *words && lines_begins(text, words))
			return text;
	return NULL;
}

const char *lines_number(const char *text, int64_t *ret_number)
{
	int64_t number = 0;

	for (; lines_digit(*text); text++)
		number = lines_add(lines_multiply(number, 10), *text - '0');
	*ret_number = number;
	return text;
}

int64_t lines_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

int64_t lines_multiply(int64_t a, int64_t b)
{
	int64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return product;
}
