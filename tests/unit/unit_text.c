/* Text, paths, buffers. */
#include "unit.h"

#include "util/buffer.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

static bool escapes_to(const char *text, const char *expected)
{
	AUTO_FREE char *shown = text_escaped(text);

	return strcmp(shown, expected) == 0;
}

static bool json_is(const char *text, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1000);

	text_json(&out, text);
	return strcmp(buffer_text(&out), expected) == 0;
}

static uint64_t duration(const char *text)
{
	uint64_t ms = 0;

	return text_duration_ms(text, &ms) < 0 ? 0 : ms;
}

static bool absolute(const char *path, const char *base, const char *expected)
{
	AUTO_FREE char *result = path_absolute(path, base);

	return strcmp(result, expected) == 0;
}

static void escaping(void)
{
	CHECK("plain text and UTF-8 are shown as they are",
	      escapes_to("größe ✓ a b", "größe ✓ a b"));
	CHECK("control characters are shown as numbers",
	      escapes_to("a\x1b[31m\nb\x7f", "a\\x1b[31m\\x0ab\\x7f"));
	CHECK("a backslash cannot imitate an escape", escapes_to("\\x1b", "\\\\x1b"));
	CHECK("bytes that are no UTF-8 are shown as numbers",
	      escapes_to("\xff\xc0\xaf", "\\xff\\xc0\\xaf"));
	CHECK("a torn sequence at the end is shown as numbers",
	      escapes_to("a\xe2\x82", "a\\xe2\\x82"));
	CHECK("marks that reorder text are shown as numbers",
	      escapes_to("\xe2\x80\xae", "\\xe2\\x80\\xae"));
	CHECK("C1 control characters are shown as numbers", escapes_to("\xc2\x9b", "\\xc2\\x9b"));
	CHECK("JSON strings are quoted", json_is("a\"b\\\n\x01", "\"a\\\"b\\\\\\u000a\\u0001\""));
	CHECK("JSON strings stay valid UTF-8", json_is("\xff", "\"\xef\xbf\xbd\""));
}

static void durations(void)
{
	CHECK("a bare number is minutes", duration("5") == 300000);
	CHECK("seconds, minutes, hours and days have their letters",
	      duration("90s") == 90000 && duration("10m") == 600000 && duration("2h") == 7200000 &&
		      duration("1d") == 86400000);
	CHECK("units can be combined from large to small", duration("1h30m") == 5400000);
	CHECK("units out of order or twice are refused",
	      !duration("30m1h") && !duration("1m1m") && !duration("1m5"));
	CHECK("zero, nothing, signs, fractions and words are refused",
	      !duration("0") && !duration("") && !duration("-1") && !duration("1.5h") &&
		      !duration("soon") && !duration("s"));
	CHECK("a number that overflows is refused",
	      !duration("99999999999999999999999h") && !duration("366d"));
}

static uint64_t read_by(int (*reader)(const char *, uint64_t *), const char *text)
{
	uint64_t value = 0;

	return reader(text, &value) < 0 ? 0 : value;
}

static bool shown_as(void (*show)(struct buffer *, uint64_t), uint64_t value, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(100);

	show(&out, value);
	return strcmp(buffer_text(&out), expected) == 0;
}

static void amounts(void)
{
	CHECK("sizes are bytes, or have a unit of 1024",
	      read_by(text_bytes, "4096") == 4096 && read_by(text_bytes, "64K") == 65536 &&
		      read_by(text_bytes, "512m") == UINT64_C(512) << 20 &&
		      read_by(text_bytes, "4G") == UINT64_C(4) << 30 &&
		      read_by(text_bytes, "1T") == UINT64_C(1) << 40);
	CHECK("what is no size is refused",
	      !read_by(text_bytes, "") && !read_by(text_bytes, "M") && !read_by(text_bytes, "0") &&
		      !read_by(text_bytes, "-1") && !read_by(text_bytes, "1.5G") &&
		      !read_by(text_bytes, "1MB") && !read_by(text_bytes, "1 M") &&
		      !read_by(text_bytes, "0x10"));
	CHECK("a size that overflows is refused",
	      !read_by(text_bytes, "99999999999999999999999") &&
		      !read_by(text_bytes, "18014398509481984K") &&
		      !read_by(text_bytes, "2000000T") && read_by(text_bytes, "1048576T"));
	CHECK("counts are whole numbers above zero",
	      read_by(text_count, "64") == 64 && !read_by(text_count, "0") &&
		      !read_by(text_count, "1K") && !read_by(text_count, "") &&
		      !read_by(text_count, "2147483649"));
	CHECK("thousandths have a point and up to three digits",
	      read_by(text_thousandths, "2") == 2000 && read_by(text_thousandths, "1.5") == 1500 &&
		      read_by(text_thousandths, "0.25") == 250 &&
		      read_by(text_thousandths, "0.125") == 125 &&
		      read_by(text_thousandths, "1.050") == 1050);
	CHECK("what are no thousandths is refused",
	      !read_by(text_thousandths, "0") && !read_by(text_thousandths, "0.000") &&
		      !read_by(text_thousandths, "1.") && !read_by(text_thousandths, ".5") &&
		      !read_by(text_thousandths, "1.2345") && !read_by(text_thousandths, "1,5") &&
		      !read_by(text_thousandths, "99999999"));
	CHECK("sizes are shown as they are read",
	      shown_as(text_add_bytes, 4096, "4K") && shown_as(text_add_bytes, 1000, "1000") &&
		      shown_as(text_add_bytes, UINT64_C(1536) << 20, "1536M") &&
		      shown_as(text_add_bytes, UINT64_C(1) << 60, "1048576T") &&
		      shown_as(text_add_bytes, 0, "0"));
	CHECK("times are shown as they are read",
	      shown_as(text_add_duration, 5400000, "1h30m") &&
		      shown_as(text_add_duration, 1000, "1s") &&
		      shown_as(text_add_duration, 1500, "1s500ms"));
}

static void paths(void)
{
	CHECK("a path is within itself and its parents",
	      path_within("/a/b", "/a/b") && path_within("/a/b", "/a") && path_within("/a", "/"));
	CHECK("a longer name is not within",
	      !path_within("/ab", "/a") && !path_within("/a", "/a/b"));
	CHECK("parents sort before children and subtrees stay together",
	      path_compare("/a", "/a/b") < 0 && path_compare("/a/b", "/a.c") < 0 &&
		      path_compare("/a", "/a") == 0);
	CHECK("relative paths are made absolute", absolute("x/y", "/a/b", "/a/b/x/y"));
	CHECK("dots and double slashes go", absolute("/a//b/./c/../d/", "/", "/a/b/d"));
	CHECK("nothing climbs above the root",
	      absolute("../../../..", "/a", "/") && absolute("/..", "/", "/"));
	CHECK("a name with dots in it stays",
	      absolute("/...", "/", "/...") && absolute("..x", "/", "/..x"));
}

static void buffers(void)
{
	struct buffer small = BUFFER_INIT(4);

	buffer_add_text(&small, "abcd");
	CHECK("a buffer holds its maximum", !buffer_overflowed(&small) && small.used == 4);
	buffer_add_text(&small, "e");
	CHECK("a buffer that would grow beyond says so and keeps what it has",
	      buffer_overflowed(&small) && strcmp(buffer_text(&small), "abcd") == 0);
	buffer_release(&small);
	buffer_release(&small);
	CHECK("an empty buffer is an empty string", strcmp(buffer_text(&small), "") == 0);
	buffer_release(&small);
}

int main(void)
{
	escaping();
	durations();
	amounts();
	paths();
	buffers();
	CHECK("words that are a swap apart are near", text_distance("tiemout", "timeout") == 1);
	CHECK("words that differ are far", text_distance("abc", "xyz") == 3);
	return unit_failures > 0;
}
