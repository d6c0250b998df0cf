/* Text: see text.h. */
#include "util/text/text.h"

#include "util/mem.h"

#include <ctype.h>
#include <string.h>

/* Like text_utf8(), for NUL-terminated text. */
static size_t utf8(const unsigned char *text, uint32_t *ret_point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t point = text[0];
	size_t size = 1;

	if (point >= 0xf0 && point < 0xf8) {
		size = 4;
		point &= 0x07;
	} else if (point >= 0xe0 && point < 0xf0) {
		size = 3;
		point &= 0x0f;
	} else if (point >= 0xc0 && point < 0xe0) {
		size = 2;
		point &= 0x1f;
	} else if (point >= 0x80) {
		return 0;
	}
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3f);
	}
	if (size > 1 &&
	    (point < least[size] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)))
		return 0;
	*ret_point = point;
	return size;
}

size_t text_utf8(const char *text, size_t size, uint32_t *ret_point)
{
	unsigned char bytes[5] = { 0 };
	size_t length;

	if (size == 0)
		return 0;
	memcpy(bytes, text, size < 4 ? size : 4);
	length = utf8(bytes, ret_point);
	return length <= size ? length : 0;
}

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

const char *text_after_prefix(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(text, prefix, size) == 0 ? text + size : NULL;
}

size_t text_first(const char *text, size_t size, size_t most)
{
	if (size <= most)
		return size;
	while (most > 0 && is_continuation(text[most]))
		most--;
	return most;
}

size_t text_last(const char *text, size_t size, size_t most)
{
	size_t from = size > most ? size - most : 0;

	while (from > 0 && from < size && is_continuation(text[from]))
		from++;
	return from;
}

char *text_first_line(const char *text, size_t most)
{
	static const char blank[] = " \t\r\n";
	const char *from = text ? text + strspn(text, blank) : "";
	size_t line = strcspn(from, "\r\n");
	size_t size = text_first(from, line, most);
	bool more = size < line || from[line + strspn(from + line, blank)];

	return line ? mem_format("%.*s%s", (int)size, from, more ? " ..." : "") : NULL;
}

bool text_is_unsafe(uint32_t point)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x2800, 0x2800 }, { 0x3164, 0x3164 },
		{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (point >= ranges[i].from && point <= ranges[i].to)
			return true;
	return false;
}

void text_escape_bytes(struct buffer *out, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(bytes + at, size - at, &point);

		if (length == 0 || text_is_unsafe(point)) {
			length = length ? length : 1;
			for (size_t i = 0; i < length; i++)
				buffer_printf(out, "\\x%02x", (unsigned char)bytes[at + i]);
		} else if (bytes[at] == '\\') {
			buffer_add_text(out, "\\\\");
		} else {
			buffer_add(out, bytes + at, length);
		}
		at += length;
	}
}

void text_escape(struct buffer *out, const char *text)
{
	text_escape_bytes(out, text, strlen(text));
}

void text_add_block(struct buffer *out, const char *text)
{
	bool one = !strchr(text, '\n');

	if (one)
		buffer_printf(out, " %s", text);
	for (const char *at = text; !one && *at; at += strcspn(at, "\n"), at += *at == '\n')
		buffer_printf(out, "\n  | %.*s", (int)strcspn(at, "\n"), at);
}

char *text_escaped(const char *text)
{
	struct buffer out = BUFFER_INIT(1 << 20);

	text_escape(&out, text);
	buffer_text(&out);
	return out.data;
}

void text_json_bytes(struct buffer *out, const char *bytes, size_t size)
{
	buffer_add_text(out, "\"");
	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(bytes + at, size - at, &point);

		if (length == 0 || point == 0) {
			buffer_add_text(out, "\xef\xbf\xbd");
			length = 1;
		} else if (bytes[at] == '"' || bytes[at] == '\\') {
			buffer_printf(out, "\\%c", bytes[at]);
		} else if (text_is_unsafe(point) && point > 0xffff) {
			/* JSON needs a surrogate pair for these. */
			buffer_printf(out, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
				      0xdc00 + ((point - 0x10000) & 0x3ff));
		} else if (text_is_unsafe(point)) {
			buffer_printf(out, "\\u%04x", point);
		} else {
			buffer_add(out, bytes + at, length);
		}
		at += length;
	}
	buffer_add_text(out, "\"");
}

void text_json(struct buffer *out, const char *text)
{
	text_json_bytes(out, text, strlen(text));
}

int text_duration_ms(const char *text, uint64_t *ret_ms)
{
	static const struct {
		char unit;
		uint64_t ms;
	} units[] = { { 'd', 86400000 }, { 'h', 3600000 }, { 'm', 60000 }, { 's', 1000 } };
	const uint64_t most = 365 * units[0].ms;
	uint64_t total = 0;
	size_t next = 0; /* units must appear in descending order, each at most once */

	while (*text) {
		uint64_t number = 0;
		size_t digits = 0;

		for (; isdigit((unsigned char)*text); text++, digits++)
			number = number > most ? number : number * 10 + (uint64_t)(*text - '0');
		if (digits == 0)
			return -1;

		size_t unit = next;

		if (*text == '\0' && next == 0)
			unit = 2; /* a bare number is minutes */
		else
			while (unit < 4 && units[unit].unit != *text)
				unit++;
		if (unit == 4 || number > most)
			return -1;
		total += number * units[unit].ms;
		next = unit + 1;
		text += *text != '\0';
	}
	if (total == 0 || total > most)
		return -1;
	*ret_ms = total;
	return 0;
}

/* Reads the leading digits of a text, saturating above any accepted value. Returns their count. */
static size_t read_digits(const char *text, uint64_t *ret_number)
{
	const uint64_t most = UINT64_C(1) << 60;
	size_t digits = 0;

	*ret_number = 0;
	for (; isdigit((unsigned char)text[digits]); digits++)
		if (*ret_number <= most / 10)
			*ret_number = *ret_number * 10 + (uint64_t)(text[digits] - '0');
		else
			*ret_number = most + 1;
	return digits;
}

static const char byte_units[] = "KMGT";

int text_bytes(const char *text, uint64_t *ret_bytes)
{
	const uint64_t most = UINT64_C(1) << 60;
	uint64_t number;
	size_t digits = read_digits(text, &number);
	const char *unit = text + digits;
	unsigned int shift = 0;

	if (digits && *unit) {
		const char *known = strchr(byte_units, toupper((unsigned char)*unit));

		if (!known || unit[1])
			return -1;
		shift = 10 * (unsigned int)(known - byte_units + 1);
	}
	if (!digits || number == 0 || number > most >> shift)
		return -1;
	*ret_bytes = number << shift;
	return 0;
}

int text_count(const char *text, uint64_t *ret_count)
{
	uint64_t number;
	size_t digits = read_digits(text, &number);

	if (!digits || text[digits] || number == 0 || number > INT32_MAX)
		return -1;
	*ret_count = number;
	return 0;
}

int text_thousandths(const char *text, uint64_t *ret_thousandths)
{
	static const uint64_t scale[] = { 1000, 100, 10, 1 };
	uint64_t whole;
	uint64_t part = 0;
	size_t digits = read_digits(text, &whole);
	size_t decimals = 0;

	if (!digits || whole > 1000000)
		return -1;
	if (text[digits] == '.') {
		decimals = read_digits(text + digits + 1, &part);
		if (decimals < 1 || decimals > 3)
			return -1;
		digits += 1 + decimals;
	}
	if (text[digits] || (whole == 0 && part == 0))
		return -1;
	*ret_thousandths = whole * 1000 + part * scale[decimals];
	return 0;
}

void text_add_bytes(struct buffer *out, uint64_t bytes)
{
	size_t unit = 0;

	for (; bytes && bytes % 1024 == 0 && byte_units[unit]; unit++)
		bytes /= 1024;
	buffer_printf(out, "%llu%.*s", (unsigned long long)bytes, unit > 0,
		      unit ? byte_units + unit - 1 : "");
}

void text_add_duration(struct buffer *out, uint64_t ms)
{
	static const struct {
		char unit;
		uint64_t ms;
	} units[] = { { 'd', 86400000 }, { 'h', 3600000 }, { 'm', 60000 }, { 's', 1000 } };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (ms >= units[i].ms)
			buffer_printf(out, "%llu%c", (unsigned long long)(ms / units[i].ms),
				      units[i].unit);
		ms %= units[i].ms;
	}
	if (ms)
		buffer_printf(out, "%llums", (unsigned long long)ms);
}

size_t text_distance(const char *a, const char *b)
{
	size_t rows = strlen(a) + 1;
	size_t columns = strlen(b) + 1;
	AUTO_FREE size_t *cells = mem_zero(rows * columns * sizeof(size_t));

#define CELL(i, j) cells[(i)*columns + (j)]
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < columns; j++) {
			if (i == 0 || j == 0) {
				CELL(i, j) = i + j;
				continue;
			}

			size_t best = CELL(i - 1, j - 1) + (a[i - 1] != b[j - 1]);

			if (CELL(i - 1, j) + 1 < best)
				best = CELL(i - 1, j) + 1;
			if (CELL(i, j - 1) + 1 < best)
				best = CELL(i, j - 1) + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    CELL(i - 2, j - 2) + 1 < best)
				best = CELL(i - 2, j - 2) + 1;
			CELL(i, j) = best;
		}
	}
	return CELL(rows - 1, columns - 1);
#undef CELL
}

bool text_is_nearer(const char *word, const char *known, size_t *distance)
{
	enum { LONGEST = 64 }; /* a longer word is not similar to any */
	size_t far;

	if (strlen(word) > LONGEST)
		return false;
	far = text_distance(word, known);
	if (far >= *distance || far * 3 > strlen(known) + 1)
		return false;
	*distance = far;
	return true;
}

char *text_size(uint64_t bytes)
{
	if (bytes >> 30)
		return mem_format("%.1f GiB", (double)bytes / (1 << 30));
	return mem_format("%llu %s", (unsigned long long)(bytes >> 20 ? bytes >> 20 : bytes >> 10),
			  bytes >> 20 ? "MiB" : "KiB");
}

char *text_age(int64_t age_ms)
{
	long long age_s = age_ms / 1000;

	if (age_s < 60)
		return mem_dup("just now");
	if (age_s < 3600)
		return mem_format("%lld min ago", age_s / 60);
	return age_s < 2 * 86400 ? mem_format("%lld h ago", age_s / 3600)
				 : mem_format("%lld days ago", age_s / 86400);
}
