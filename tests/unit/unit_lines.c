/* Untrusted text: escape sequences, invisible characters and UTF-8, at the ends of each range. */
#include "unit.h"

#include "decision/lines.h"

#include <string.h>

static bool cleaned(const char *text, const char *expected)
{
	const struct lines_line line = { text, strlen(text) };
	char out[100];
	bool cut = true;
	size_t size = lines_clean(&line, out, sizeof out, &cut);

	if (strcmp(out, expected) != 0)
		printf("# '%s', not '%s'\n", out, expected);
	return strcmp(out, expected) == 0 && size == strlen(expected) && !cut;
}

static void sequences(void)
{
	CHECK("a sequence ends with its final byte",
	      cleaned("a\033[31mb", "ab") && cleaned("a\033[@b", "ab") &&
		      cleaned("a\033[~b", "ab") && cleaned("a\033[ ?mb", "ab"));
	CHECK("bytes that cannot be in a sequence end it and are shown",
	      cleaned("a\033[3\xc3\xa4z", "a\xc3\xa4z") && cleaned("a\033[3\033[mz", "az"));
	CHECK("a delete in a sequence is not its end", cleaned("a\033[3\177z", "az"));
	CHECK("a sequence that is cut off shows nothing",
	      cleaned("a\033[", "a") && cleaned("a\033[31", "a") && cleaned("a\033", "a"));
	CHECK("the one-character introducer counts as well", cleaned("a\xc2\x9b\x33\x31mb", "ab"));
	CHECK("a short escape has intermediate bytes and a final one",
	      cleaned("a\033(Bb", "ab") && cleaned("a\033 /0b", "ab") && cleaned("a\0337b", "ab") &&
		      cleaned("a\033~b", "ab") && cleaned("a\033#\xc3\xa4", "a\xc3\xa4"));
	CHECK("strings end with BEL or with ESC and a backslash",
	      cleaned("a\033]0;t\ab", "ab") && cleaned("a\033Pt\033\\b", "ab") &&
		      cleaned("a\033Xt\ab", "ab") && cleaned("a\033^t\ab", "ab") &&
		      cleaned("a\033_t\ab", "ab"));
	CHECK("another escape does not end a string", cleaned("a\033]t\033[mx\ab", "ab"));
	CHECK("a string that is cut off shows nothing",
	      cleaned("a\033]t", "a") && cleaned("a\033]t\033", "a"));
}

static void characters(void)
{
	CHECK("control characters are not shown, and a tab is a space",
	      cleaned("a\001\037\177\xc2\x80\xc2\x9f"
		      "b",
		      "ab") &&
		      cleaned("a\tb", "a b") && cleaned("a b\xc2\xa0", "a b\xc2\xa0"));
	CHECK("invisible marks are not shown",
	      cleaned("\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa0\xe2\x81\xa9"
		      "\xef\xbb\xbf",
		      ""));
	CHECK("their neighbours are",
	      cleaned("\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xaa",
		      "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xaa"));
	CHECK("text before a carriage return was overwritten", cleaned("old\rnew", "new"));
}

static bool is_point(const char *text, size_t size, size_t read, uint32_t wanted)
{
	uint32_t point = 0;

	return lines_utf8(text, size, &point) == read && point == wanted;
}

#define POINT(text, read, wanted) is_point(text, sizeof(text) - 1, read, wanted)

static void utf8(void)
{
	CHECK("the first and the last of each size are read",
	      POINT("\x7f", 1, 0x7f) && POINT("\xc2\x80", 2, 0x80) && POINT("\xdf\xbf", 2, 0x7ff) &&
		      POINT("\xe0\xa0\x80", 3, 0x800) && POINT("\xef\xbf\xbf", 3, 0xffff) &&
		      POINT("\xf0\x90\x80\x80", 4, 0x10000) &&
		      POINT("\xf4\x8f\xbf\xbf", 4, 0x10ffff));
	CHECK("surrogates are invalid, and their neighbours are not",
	      POINT("\xed\x9f\xbf", 3, 0xd7ff) && POINT("\xed\xa0\x80", 1, 0xfffd) &&
		      POINT("\xed\xbf\xbf", 1, 0xfffd) && POINT("\xee\x80\x80", 3, 0xe000));
	CHECK("forms that are too long are invalid",
	      POINT("\xc0\x80", 1, 0xfffd) && POINT("\xc1\xbf", 1, 0xfffd) &&
		      POINT("\xe0\x9f\xbf", 1, 0xfffd) && POINT("\xf0\x8f\xbf\xbf", 1, 0xfffd));
	CHECK("numbers that are too large are invalid",
	      POINT("\xf4\x90\x80\x80", 1, 0xfffd) && POINT("\xf8\x88\x80\x80", 1, 0xfffd) &&
		      POINT("\xff", 1, 0xfffd));
	CHECK("a character that is cut off or continued wrongly is invalid",
	      POINT("\xc3", 1, 0xfffd) && POINT("\xe2\x80", 1, 0xfffd) &&
		      POINT("\xf0\x9f\x98", 1, 0xfffd) && POINT("\x80", 1, 0xfffd) &&
		      POINT("\xbf", 1, 0xfffd) && POINT("\xc3x", 1, 0xfffd) &&
		      POINT("\xe2\x80\xc0", 1, 0xfffd) && POINT("\xe2\x7f\x80", 1, 0xfffd));
	CHECK("invalid bytes are shown as U+FFFD", cleaned("a\xffz", "a\xef\xbf\xbdz"));
}

/* The size that fits, and whether anything was cut. */
static bool fits(const char *text, size_t room, const char *expected, bool expected_cut)
{
	const struct lines_line line = { text, strlen(text) };
	char out[16] = "................";
	bool cut = !expected_cut;
	size_t size = lines_clean(&line, out, room, &cut);

	return size == strlen(expected) && strcmp(out, expected) == 0 && cut == expected_cut &&
	       lines_clean(&line, out, room, NULL) == size;
}

static void sizes(void)
{
	CHECK("a line that fits is not cut", fits("abc", 4, "abc", false));
	CHECK("one byte less cuts it", fits("abc", 3, "ab", true));
	CHECK("it is cut between characters",
	      fits("a\xc3\xa4", 3, "a", true) && fits("a\xc3\xa4", 4, "a\xc3\xa4", false));
	CHECK("room for the end alone holds nothing",
	      fits("a", 1, "", true) && fits("", 1, "", false));
}

static void words(void)
{
	int64_t number = 5;
	const char *digits = "12x";
	const char *large = "9223372036854775807";
	const char *larger = "9223372036854775808";

	CHECK("words are found in any case, and as a whole",
	      lines_find("say Hello", "hello") && !lines_find("say Hell", "hello") &&
		      !lines_find("", "a"));
	CHECK("digits are read up to the first other character",
	      lines_number(digits, &number) == digits + 2 && number == 12);
	CHECK("the largest number is read",
	      *lines_number(large, &number) == '\0' && number == INT64_MAX);
	CHECK("a larger one stays at the largest",
	      *lines_number(larger, &number) == '\0' && number == INT64_MAX);
	CHECK("sums and products stay within their bounds",
	      lines_add(INT64_MAX, 1) == INT64_MAX && lines_add(INT64_MIN, -1) == INT64_MIN &&
		      lines_add(INT64_MAX - 1, 1) == INT64_MAX && lines_add(2, -3) == -1 &&
		      lines_multiply(INT64_MAX, 2) == INT64_MAX &&
		      lines_multiply(INT64_MAX, -2) == INT64_MIN && lines_multiply(3, -4) == -12);
}

static void splitting(void)
{
	const char text[] = "one\r\ntwo\n\nlast";
	const char *at = text;
	const char *end = text + sizeof text - 1;
	struct lines_line line;
	bool held = lines_next(&at, end, &line) && line.size == 3 && line.text == text &&
		    lines_next(&at, end, &line) && line.size == 3 &&
		    memcmp(line.text, "two", 3) == 0 && lines_next(&at, end, &line) &&
		    line.size == 0 && lines_next(&at, end, &line) && line.size == 4;

	CHECK("lines end with a newline, a carriage return before it, or the text", held);
	CHECK("nothing comes after the last", !lines_next(&at, end, &line));
}

int main(void)
{
	sequences();
	characters();
	utf8();
	sizes();
	words();
	splitting();
	return unit_failures > 0;
}
