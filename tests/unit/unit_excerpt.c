/* Excerpts for prompts, and the signature of a failure. */
#include "unit.h"

#include "decision/excerpt.h"

#include "util/mem.h"

#include <string.h>

static bool excerpt_of(const char *output, size_t size, size_t max, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(100000);

	excerpt_make(&out, output, size, max);
	if (strcmp(buffer_text(&out), expected) == 0)
		return true;
	printf("# %s\n", buffer_text(&out));
	return false;
}

static bool excerpt_is(const char *output, const char *expected)
{
	return excerpt_of(output, strlen(output), EXCERPT_MAX, expected);
}

static void quoting(void)
{
	CHECK("every line is quoted", excerpt_is("a\nb\n\nc", "> a\n> b\n> \n> c\n"));
	CHECK("no output gives an empty excerpt", excerpt_is("", ""));
	CHECK("colours, titles and links are gone",
	      excerpt_is(
		      "\033[1;31mred\033[0m \033]0;title\abell \033]8;;http://x\033\\link\033]8;;\033\\\n",
		      "> red bell link\n"));
	CHECK("C1 sequences and other escapes are gone",
	      excerpt_is("\xc2\x9b"
			 "31mred\033(B \033Pq\033\\end\n",
			 "> red end\n"));
	CHECK("a torn escape sequence affects only its line",
	      excerpt_is("a\033[\nb\033]0;x\nc\033", "> a\n> b\n> c\n"));
	CHECK("control characters are gone, a tab is a space",
	      excerpt_of("a\0b\a\tc\x7f\n", 8, 4000, "> ab c\n"));
	CHECK("what a carriage return overwrote is gone",
	      excerpt_is("10%\r50%\r100%\r\nnext\r\n", "> 100%\n> next\n"));
	CHECK("invalid UTF-8 is replaced",
	      excerpt_is("a\xff\xc3\n\xe2\x82\n",
			 "> a\xef\xbf\xbd\xef\xbf\xbd\n> \xef\xbf\xbd\xef\xbf\xbd\n"));
	CHECK("UTF-8 stays", excerpt_is("größe ✓ 日本\n", "> größe ✓ 日本\n"));
	CHECK("marks that reorder text are gone", excerpt_is("a\xe2\x80\xae"
							     "b\xef\xbb\xbf\n",
							     "> ab\n"));
	CHECK("output cannot imitate Ringfence's own lines",
	      excerpt_is("[... 9 lines left out ...]\n", "> [... 9 lines left out ...]\n"));
}

/* 1000 numbered lines, with the given lines inserted. */
static void thousand(struct buffer *out, int at, const char *line, int other_at, const char *other)
{
	for (int i = 1; i <= 1000; i++) {
		if (i == at || i == other_at)
			buffer_printf(out, "%s\n", i == at ? line : other);
		else
			buffer_printf(out, "line %d\n", i);
	}
}

static bool has(struct buffer *out, const char *text)
{
	return strstr(buffer_text(out), text) != NULL;
}

static void choice(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);

	thousand(&text, 0, "", 0, "");
	excerpt_make(&out, buffer_text(&text), text.used, 1000);
	CHECK("without a failure head and tail are shown",
	      has(&out, "> line 1\n") && has(&out, "> line 1000\n") && !has(&out, "> line 500\n") &&
		      has(&out, " lines left out ...]\n"));
	CHECK("an excerpt keeps its maximum and uses it", out.used <= 1000 && out.used > 700);
	buffer_release(&out);
	buffer_release(&text);

	thousand(&text, 300, "E   assert 1 == 2", 700, "FAILED test_b.py");
	excerpt_make(&out, buffer_text(&text), text.used, 1000);
	CHECK("the first and the last failure are shown with what is around them",
	      has(&out, "> line 299\n> E   assert 1 == 2\n> line 301\n") &&
		      has(&out, "> FAILED test_b.py\n> line 701\n"));
	CHECK("what is left out is counted, before, between and after",
	      has(&out, "[... 296 lines left out ...]\n> line 297\n") && !has(&out, "line 500\n") &&
		      has(&out, "> line 705\n[... 295 lines left out ...]\n") && out.used <= 1000);
	buffer_release(&out);
	buffer_release(&text);

	thousand(&text, 500, "error: no such file", 0, "");
	excerpt_make(&out, buffer_text(&text), text.used, 1000);
	CHECK("around a single failure there is more",
	      has(&out, "> error: no such file\n") && has(&out, "> line 520\n") && out.used > 700);
}

static void bounds(void)
{
	enum { SIZE = (10 << 20) / UNIT_SLOWER };
	AUTO_FREE char *text = mem_alloc(SIZE);
	bool kept = true;

	memset(text, 'x', SIZE);
	for (size_t max = 0; max < 600; max += 7) {
		AUTO_BUFFER struct buffer out = BUFFER_INIT(10000);

		excerpt_make(&out, text, 50000 / UNIT_SLOWER, max);
		kept &= out.used <= max;
	}
	CHECK("a long line never breaks the maximum", kept);
	for (size_t i = 0; i < SIZE; i += 2)
		text[i] = '\n';
	for (size_t max = 0; max < 4000; max += 2500) {
		AUTO_BUFFER struct buffer out = BUFFER_INIT(10000);

		excerpt_make(&out, text, SIZE, max);
		kept &= out.used <= max;
	}
	CHECK("very many lines never break it", kept);
	memset(text, 'x', SIZE);

	AUTO_BUFFER struct buffer out = BUFFER_INIT(10000);

	excerpt_make(&out, text, SIZE, EXCERPT_MAX);
	CHECK("a very long line is cut and marked", out.used < 420 && has(&out, "x [...]\n"));
}

static void looks(void)
{
	static const char *const failed[] = {
		"error: x",
		"TypeError: x",
		"FAIL src/a",
		"AssertionError",
		"panic: runtime",
		"Traceback (most",
		"Expected: 3",
		"not ok 1 - a",
		"10 errors",
		"1 failed",
		"✗ does it",
		"Failures: 10",
		"undefined reference to `f'",
		"Segmentation fault (core dumped)",
	};
	static const char *const fine[] = {
		"0 errors",
		"no errors",
		"0 failed",
		"Failures: 0",
		"errors=0",
		"ok 1 - fails on error",
		"✓ throws an error",
		"test error_is_shown ... ok",
		"PASS src/error.test.js",
		"test_a.py::test_error PASSED",
		"--- PASS: TestError (0.00s)",
		"all is well",
		"",
	};

	for (size_t i = 0; i < sizeof failed / sizeof failed[0]; i++) {
		AUTO_FREE char *sentence = mem_format("a failure: '%s'", failed[i]);

		CHECK(sentence, excerpt_looks_failed(failed[i]));
	}
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		AUTO_FREE char *sentence = mem_format("no failure: '%s'", fine[i]);

		CHECK(sentence, !excerpt_looks_failed(fine[i]));
	}
}

static bool reduces(const char *line, const char *expected)
{
	char out[200];

	excerpt_signature_line(line, out, sizeof out);
	if (strcmp(out, expected) == 0)
		return true;
	printf("# %s\n", out);
	return false;
}

static bool same(const char *a, const char *b)
{
	return excerpt_signature(a, strlen(a)) == excerpt_signature(b, strlen(b));
}

static void signatures(void)
{
	CHECK("line numbers of paths are gone",
	      reduces("src/a.c:12:5: error: x", "src/a.c:#: error: x"));
	CHECK("times are gone", reduces("  FAILED in 1.25s, 12ms", "FAILED in #, #") &&
					reduces("12:30:01.5 x", "# x"));
	CHECK("addresses and hashes are gone",
	      reduces("at 0x7ffe12ab (deadbeef) a1b2c3d", "at # (#) #"));
	CHECK("numbers in names are gone, words stay",
	      reduces("test_12_beef: face expected 3, got 4",
		      "test_#_beef: face expected #, got #"));
	CHECK("temporary folders are gone",
	      reduces("open /tmp/xKdQzw/a.txt: error", "open /tmp/#/a.txt: error"));
	CHECK("a line is reduced within its room",
	      excerpt_signature_line("abcdef", (char[4]){ 0 }, 4) == 3);
	CHECK("the same failure at another time has the same signature",
	      same("ok\na.c:3: error: bad (0.1s)\n", "ok fine\na.c:99: error: bad (2.5s)\n"));
	CHECK("another failure has another signature",
	      !same("a.c:3: error: bad\n", "b.c:3: error: bad\n"));
	CHECK("order and repetition do not matter",
	      same("error: a\nerror: b\n", "error: b\nerror: a\nerror: b\n"));
	CHECK("an additional failure changes the signature",
	      !same("error: a\n", "error: a\nerror: b\n"));
	CHECK("without words of failure every line counts",
	      same("exit 1 after 3s\n", "exit 1 after 4s\n") && !same("killed\n", "stopped\n"));
	CHECK("no text has no signature",
	      excerpt_signature("", 0) == 0 && excerpt_signature("\n \n", 3) == 0);
	CHECK("colours do not matter", same("\033[31merror: a\033[0m\n", "error: a\r\n"));
}

static bool last_is(const char *output, size_t room, const char *expected)
{
	AUTO_FREE char *line = mem_zero(room);
	AUTO_FREE char *held = mem_dup(output);
	size_t size = excerpt_last_line(held, strlen(held), line, room);

	if (strcmp(line, expected) == 0 && size == strlen(expected))
		return true;
	printf("# %s\n", line);
	return false;
}

static void last_lines(void)
{
	CHECK("the last line is one with something in it", last_is("a\nb\n\n \t\n\r\n", 99, "b"));
	CHECK("it needs no newline", last_is("a\nb", 99, "b"));
	CHECK("it may be the first", last_is("a", 99, "a") && last_is("a\n", 99, "a"));
	CHECK("there may be none", last_is("", 99, "") && last_is("\n \n", 99, ""));
	CHECK("it is cleaned", last_is("\033[31mred\033[0m\tone\a\r\n", 99, "red one"));
	CHECK("it is cut between characters", last_is("ab\xc3\xa4", 4, "ab"));
	CHECK("the report of make about a failure is skipped",
	      last_is("bad\nmake[1]: *** [Makefile:2: x] Error 1\nmake: *** [Makefile:9: check] Error 2\n",
		      99, "bad"));
	CHECK("so are the counts of node --test after the failures",
	      last_is("# pass 0\n# fail 2\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 2.5\n",
		      99, "# fail 2"));
	CHECK("unless there is nothing else",
	      last_is("\nmake: *** No rule to make target 'check'.  Stop.\n", 99,
		      "make: *** No rule to make target 'check'.  Stop."));
}

int main(void)
{
	quoting();
	choice();
	bounds();
	looks();
	signatures();
	last_lines();
	return unit_failures > 0;
}
