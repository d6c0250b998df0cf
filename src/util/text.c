/* Text: see text.h. */
#include "util/text.h"

#include "util/mem.h"

#include <ctype.h>
#include <string.h>

/* As text_utf8(), for a text that ends with a NUL. */
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

/* What can move the cursor, change colours or reorder what a person reads. */
static int unsafe(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
	       (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

void text_escape(struct buffer *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		uint32_t point = 0;
		size_t size = utf8(at, &point);

		if (size == 0 || unsafe(point)) {
			size = size ? size : 1;
			for (size_t i = 0; i < size; i++)
				buffer_printf(out, "\\x%02x", at[i]);
		} else if (*at == '\\') {
			buffer_add_text(out, "\\\\");
		} else {
			buffer_add(out, at, size);
		}
		at += size;
	}
}

char *text_escaped(const char *text)
{
	struct buffer out = BUFFER_INIT(1 << 20);

	text_escape(&out, text);
	buffer_text(&out);
	return out.data;
}

void text_json(struct buffer *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	buffer_add_text(out, "\"");
	while (*at) {
		uint32_t point = 0;
		size_t size = utf8(at, &point);

		if (size == 0) {
			buffer_add_text(out, "\xef\xbf\xbd");
			size = 1;
		} else if (*at == '"' || *at == '\\') {
			buffer_printf(out, "\\%c", *at);
		} else if (point < 0x20) {
			buffer_printf(out, "\\u%04x", point);
		} else {
			buffer_add(out, at, size);
		}
		at += size;
	}
	buffer_add_text(out, "\"");
}

int text_duration_ms(const char *text, uint64_t *ret_ms)
{
	static const struct {
		char unit;
		uint64_t ms;
	} units[] = { { 'd', 86400000 }, { 'h', 3600000 }, { 'm', 60000 }, { 's', 1000 } };
	const uint64_t most = 365 * units[0].ms;
	uint64_t total = 0;
	size_t next = 0; /* units go from large to small, each at most once */

	while (*text) {
		uint64_t number = 0;
		size_t digits = 0;

		for (; isdigit((unsigned char)*text); text++, digits++)
			number = number > most ? number : number * 10 + (uint64_t)(*text - '0');
		if (digits == 0)
			return -1;

		size_t unit = next;

		if (*text == '\0' && next == 0)
			unit = 2; /* a bare number: minutes */
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

/* The digits in front of a text, up to a maximum that is beyond what anybody takes. Returns how many
 * there are. */
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
