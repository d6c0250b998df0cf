/* JSON parsing without a tree: see jsonline.h. */
#include "agent/jsonline.h"

#include "util/text/text.h"

#include <ctype.h>
#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/*
 * Returns the position after the string at `at`, or NULL if it does not end. A quote is escaped if
 * an odd number of backslashes precedes it.
 */
static const char *skip_string(const char *at, const char *end)
{
	const char *quote = at;

	while ((quote = memchr(quote + 1, '"', (size_t)(end - quote - 1)))) {
		const char *slash = quote;

		while (slash[-1] == '\\')
			slash--;
		if ((quote - slash) % 2 == 0)
			return quote + 1;
	}
	return NULL;
}

/* Returns the position after an object or array, or NULL if it does not end or nests too deeply. */
static const char *skip_nested(const char *at, const char *end)
{
	char closing[JSONLINE_DEEPEST];
	size_t depth = 0;

	while (at && at < end) {
		switch (*at) {
		case '"':
			at = skip_string(at, end);
			continue;
		case '{':
		case '[':
			if (depth == JSONLINE_DEEPEST)
				return NULL;
			closing[depth++] = *at == '{' ? '}' : ']';
			break;
		case '}':
		case ']':
			if (!depth || closing[--depth] != *at)
				return NULL;
			if (!depth)
				return at + 1;
			break;
		default:
			break;
		}
		at++;
	}
	return NULL;
}

/* Returns the position after the value at `at`, or NULL if there is no value. */
static const char *skip_value(const char *at, const char *end)
{
	const char *begin = at;

	if (at == end)
		return NULL;
	if (*at == '"')
		return skip_string(at, end);
	if (*at == '{' || *at == '[')
		return skip_nested(at, end);
	while (at < end && (isalnum((unsigned char)*at) || strchr("+-.", *at)) && *at)
		at++;
	return at > begin ? at : NULL;
}

/* Advances to the next member. Returns 1, 0 at the end, or -1 if the text is malformed. */
static int step(struct jsonline value, size_t *cursor, struct jsonline *ret_key,
		struct jsonline *ret_value)
{
	const char *end = value.at + value.size;
	bool object = value.size && *value.at == '{';
	const char *at = skip_space(value.at + (*cursor ? *cursor : 1), end);
	const char *stop;

	*ret_key = (struct jsonline){ 0 };
	if (at < end && *at == (object ? '}' : ']'))
		return at + 1 == end ? 0 : -1;
	if (*cursor) { /* members are separated by commas */
		if (at == end || *at != ',')
			return -1;
		at = skip_space(at + 1, end);
	}
	if (object) {
		if (at == end || *at != '"' || !(stop = skip_string(at, end)))
			return -1;
		*ret_key = (struct jsonline){ at, (size_t)(stop - at) };
		at = skip_space(stop, end);
		if (at == end || *at != ':')
			return -1;
		at = skip_space(at + 1, end);
	}
	stop = skip_value(at, end);
	if (!stop)
		return -1;
	*ret_value = (struct jsonline){ at, (size_t)(stop - at) };
	*cursor = (size_t)(stop - value.at);
	return 1;
}

static bool is_container(struct jsonline value, char bracket)
{
	return value.at && value.size >= 2 && *value.at == bracket;
}

/* Strips surrounding white space. */
static struct jsonline trim(struct jsonline value)
{
	while (value.size && is_space(value.at[0])) {
		value.at++;
		value.size--;
	}
	while (value.size && is_space(value.at[value.size - 1]))
		value.size--;
	return value;
}

int jsonline_object(struct jsonline object, struct jsonline_field *fields, size_t count)
{
	struct jsonline trimmed = object.at ? trim(object) : object;
	struct jsonline key;
	struct jsonline value;
	size_t cursor = 0;
	int more = -1;

	for (size_t i = 0; i < count; i++)
		fields[i].value = (struct jsonline){ 0 };
	if (is_container(trimmed, '{'))
		while ((more = step(trimmed, &cursor, &key, &value)) > 0)
			for (size_t i = 0; i < count; i++)
				if (jsonline_is(key, fields[i].key))
					fields[i].value = value;
	for (size_t i = 0; more < 0 && i < count; i++)
		fields[i].value = (struct jsonline){ 0 };
	return more < 0 ? -1 : 0;
}

struct jsonline jsonline_get(struct jsonline object, const char *key)
{
	struct jsonline_field field = { .key = key };

	jsonline_object(object, &field, 1);
	return field.value;
}

bool jsonline_next(struct jsonline value, size_t *cursor, struct jsonline *ret_key,
		   struct jsonline *ret_value)
{
	struct jsonline key;

	if (!is_container(value, '{') && !is_container(value, '['))
		return false;
	if (step(value, cursor, &key, ret_value) <= 0)
		return false;
	if (ret_key)
		*ret_key = key;
	return true;
}

bool jsonline_is_string(struct jsonline value)
{
	return is_container(value, '"');
}

bool jsonline_is(struct jsonline value, const char *text)
{
	size_t size = strlen(text);

	return jsonline_is_string(value) && value.size == size + 2 &&
	       memcmp(value.at + 1, text, size) == 0;
}

bool jsonline_is_true(struct jsonline value)
{
	return value.size == 4 && memcmp(value.at, "true", 4) == 0;
}

int64_t jsonline_count(struct jsonline value)
{
	int64_t number = 0;

	if (!value.size || value.size > 18)
		return -1;
	for (size_t i = 0; i < value.size; i++) {
		if (!isdigit((unsigned char)value.at[i]))
			return -1;
		number = number * 10 + (value.at[i] - '0');
	}
	return number;
}

/* Reads an exponent, the part after 'e'. */
static int read_exponent(const char *at, const char *end, int *ret_exponent)
{
	bool negative = at < end && *at == '-';
	int exponent = 0;

	at += at < end && (*at == '-' || *at == '+');
	if (at == end)
		return -1;
	for (; at < end; at++) {
		if (!isdigit((unsigned char)*at) || exponent > 999)
			return -1;
		exponent = exponent * 10 + (*at - '0');
	}
	*ret_exponent = negative ? -exponent : exponent;
	return 0;
}

/*
 * Sums stay exact because the number is read as digits and a decimal point, not as a double: a
 * night of 0.028900000000000002 and 4.4e-3 would add up to a wrong total.
 */
int64_t jsonline_nano(struct jsonline value)
{
	enum { DIGITS = 18 };
	const char *at = value.at ? value.at : "";
	const char *end = at + value.size;
	int64_t number = 0;
	int shift = 9;
	int digits = 0;
	int exponent = 0;
	bool point = false;
	bool any = false;

	for (; value.size && at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.' && !point && any) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*at))
			return -1;
		any = true;
		if (digits == DIGITS) { /* further digits are not significant */
			shift += !point;
			continue;
		}
		number = number * 10 + (*at - '0');
		digits += number > 0;
		shift -= point;
	}
	if (!any || (at < end && read_exponent(at + 1, end, &exponent) < 0))
		return -1;
	for (shift += exponent; shift > 0 && number; shift--)
		if (__builtin_mul_overflow(number, 10, &number))
			return -1;
	for (; shift < 0 && number; shift++)
		number = shift == -1 ? (number + 5) / 10 : number / 10;
	return number;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the four hex digits after \u, or -1 if they are invalid. */
static int32_t read_unit(const char *at, const char *end)
{
	int32_t unit = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(at[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static void add_point(struct buffer *out, int32_t point)
{
	char bytes[4];

	if (point < 0x80) {
		bytes[0] = (char)point;
		buffer_add(out, bytes, 1);
	} else if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3f));
		buffer_add(out, bytes, 2);
	} else if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (point & 0x3f));
		buffer_add(out, bytes, 3);
	} else {
		bytes[0] = (char)(0xf0 | point >> 18);
		bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
		bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[3] = (char)(0x80 | (point & 0x3f));
		buffer_add(out, bytes, 4);
	}
}

enum { REPLACEMENT = 0xfffd };

/* Decodes the escape at the backslash `at`; returns the position after it. */
static const char *add_escape(struct buffer *out, const char *at, const char *end)
{
	static const char names[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";
	const char *name = at + 1 < end && at[1] ? strchr(names, at[1]) : NULL;
	int32_t unit;
	int32_t low;

	if (name) {
		buffer_add(out, &values[name - names], 1);
		return at + 2;
	}
	unit = at + 1 < end && at[1] == 'u' ? read_unit(at + 2, end) : -1;
	if (unit < 0) {
		add_point(out, REPLACEMENT);
		return at + 1;
	}
	at += 6;
	if (unit < 0xd800 || unit > 0xdfff) {
		add_point(out, unit ? unit : REPLACEMENT);
		return at;
	}
	low = unit < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u'
		      ? read_unit(at + 2, end)
		      : -1;
	if (low < 0xdc00 || low > 0xdfff) {
		add_point(out, REPLACEMENT);
		return at;
	}
	add_point(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
	return at + 6;
}

/* Appends bytes without escapes, replacing invalid UTF-8. */
static void add_plain(struct buffer *out, const char *at, const char *end)
{
	const char *clean = at;

	while (at < end) {
		uint32_t point;
		size_t size = *at ? text_utf8(at, (size_t)(end - at), &point) : 0;

		if (size) {
			at += size;
			continue;
		}
		buffer_add(out, clean, (size_t)(at - clean));
		add_point(out, REPLACEMENT);
		clean = ++at;
	}
	buffer_add(out, clean, (size_t)(at - clean));
}

/*
 * Returns where the last `most` bytes of a long string begin, without splitting an escape or a
 * character.
 */
static const char *find_tail(const char *at, const char *end, size_t most)
{
	while ((size_t)(end - at) > most) {
		const char *limit = end - most;
		const char *slash = memchr(at, '\\', (size_t)(limit - at));

		if (slash)
			at = slash[1] == 'u' && end - slash >= 6 ? slash + 6 : slash + 2;
		else
			at = limit;
	}
	while (at < end && ((unsigned char)*at & 0xc0) == 0x80)
		at++;
	return at;
}

bool jsonline_text(struct jsonline value, size_t most, struct buffer *out)
{
	const char *end;
	const char *at;

	if (!jsonline_is_string(value))
		return false;
	end = value.at + value.size - 1;
	at = find_tail(value.at + 1, end, most);
	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at));

		add_plain(out, at, slash ? slash : end);
		at = slash ? add_escape(out, slash, end) : end;
	}
	return true;
}
