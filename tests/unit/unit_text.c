/* Text, paths, buffers. */
#include "unit.h"

#include "util/buffer.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/json.h"
#include "util/text/shell.h"
#include "util/text/text.h"
#include "util/text/word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool joined(const char *dir, const char *name, const char *expected)
{
	AUTO_FREE char *result = path_join(dir, name);

	return strcmp(result, expected) == 0;
}

static void escaping(void)
{
	CHECK("plain text and UTF-8 are shown as they are",
	      escapes_to("größe ✓ a b", "größe ✓ a b"));
	CHECK("control characters are shown as numbers",
	      escapes_to("a\x1b[31m\nb\x7f", "a\\x1b[31m\\x0ab\\x7f"));
	CHECK("a backslash cannot imitate an escape", escapes_to("\\x1b", "\\\\x1b"));
	CHECK("invalid UTF-8 is shown as numbers", escapes_to("\xff\xc0\xaf", "\\xff\\xc0\\xaf"));
	CHECK("a truncated sequence at the end is shown as numbers",
	      escapes_to("a\xe2\x82", "a\\xe2\\x82"));
	CHECK("marks that reorder text are shown as numbers",
	      escapes_to("\xe2\x80\xae", "\\xe2\\x80\\xae"));
	CHECK("C1 control characters are shown as numbers", escapes_to("\xc2\x9b", "\\xc2\\x9b"));
	CHECK("JSON strings are quoted", json_is("a\"b\\\n\x01", "\"a\\\"b\\\\\\u000a\\u0001\""));
	CHECK("JSON strings contain nothing that a terminal interprets",
	      json_is("\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81",
		      "\"\\u007f\\u009b\\u202e\\udb40\\udc01\""));
	CHECK("invisible characters are shown as numbers",
	      escapes_to("\xc2\xad\xe2\x81\xa0\xe3\x85\xa4",
			 "\\xc2\\xad\\xe2\\x81\\xa0\\xe3\\x85\\xa4"));
	CHECK("JSON strings stay valid UTF-8", json_is("\xff", "\"\xef\xbf\xbd\""));
}

static enum error_status status_of_errno(int number)
{
	struct error err;

	errno = number;
	error_sys(&err, "try");
	return err.status;
}

static void errors(void)
{
	struct error err;
	bool travels = true;

	CHECK("an error without a status gets ERROR_OTHER",
	      error_set(&err, "no") == -1 && err.status == ERROR_OTHER);
	CHECK("an error has the given status",
	      error_with(&err, ERROR_BUSY, "'%s' is locked", "x") == -1 &&
		      err.status == ERROR_BUSY && strcmp(err.text, "'x' is locked") == 0);
	CHECK("a system error has the status that matches errno",
	      status_of_errno(ENOENT) == ERROR_NOT_FOUND &&
		      status_of_errno(EWOULDBLOCK) == ERROR_BUSY &&
		      status_of_errno(EACCES) == ERROR_DENIED &&
		      status_of_errno(ENOSPC) == ERROR_NO_SPACE &&
		      status_of_errno(EEXIST) == ERROR_EXISTS && status_of_errno(EIO) == ERROR_IO);
	for (int i = 0; i < ERROR_STATUS_COUNT; i++)
		travels = travels && error_status_named(error_status_name((enum error_status)i)) ==
					     (enum error_status)i;
	CHECK("a status survives the trip through its name", travels);
	CHECK("an unknown status name is ERROR_OTHER",
	      error_status_named("soon") == ERROR_OTHER && error_status_named(NULL) == ERROR_OTHER);
}

static void cutting(void)
{
	CHECK("text is cut between characters",
	      text_first("a\xc3\xa4z", 4, 4) == 4 && text_first("a\xc3\xa4z", 4, 3) == 3 &&
		      text_first("a\xc3\xa4z", 4, 2) == 1 && text_first("\xc3\xa4", 2, 1) == 0);
	CHECK("text is cut between characters at its start",
	      text_last("a\xc3\xa4z", 4, 9) == 0 && text_last("a\xc3\xa4z", 4, 3) == 1 &&
		      text_last("a\xc3\xa4z", 4, 2) == 3 && text_last("z\xc3\xa4", 3, 1) == 3);
}

static void beginnings(void)
{
	static const char *const items[] = { "record", "recorded x", "record y", "record z" };
	struct list list = { 0 };

	for (size_t i = 0; i < sizeof items / sizeof *items; i++)
		list_add(&list, items[i]);
	CHECK("the rest after a prefix is found",
	      strcmp(text_after_prefix("key x y", "key "), "x y") == 0);
	CHECK("the rest may be empty", strcmp(text_after_prefix("key ", "key "), "") == 0);
	CHECK("a text without the prefix has no rest",
	      !text_after_prefix("keys x", "key ") && !text_after_prefix("ke", "key "));
	CHECK("the first item with the prefix is found",
	      strcmp(list_after_prefix(&list, "record "), "y") == 0);
	CHECK("a list may have no such item", !list_after_prefix(&list, "replay "));
	list_release(&list);
}

static void durations(void)
{
	CHECK("a bare number is minutes", duration("5") == 300000);
	CHECK("seconds, minutes, hours and days have their letters",
	      duration("90s") == 90000 && duration("10m") == 600000 && duration("2h") == 7200000 &&
		      duration("1d") == 86400000);
	CHECK("units can be combined from large to small", duration("1h30m") == 5400000);
	CHECK("units out of order or repeated are refused",
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
	CHECK("sizes are in bytes or units of 1024",
	      read_by(text_bytes, "4096") == 4096 && read_by(text_bytes, "64K") == 65536 &&
		      read_by(text_bytes, "512m") == UINT64_C(512) << 20 &&
		      read_by(text_bytes, "4G") == UINT64_C(4) << 30 &&
		      read_by(text_bytes, "1T") == UINT64_C(1) << 40);
	CHECK("malformed sizes are refused",
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
	CHECK("malformed thousandths are refused",
	      !read_by(text_thousandths, "0") && !read_by(text_thousandths, "0.000") &&
		      !read_by(text_thousandths, "1.") && !read_by(text_thousandths, ".5") &&
		      !read_by(text_thousandths, "1.2345") && !read_by(text_thousandths, "1,5") &&
		      !read_by(text_thousandths, "99999999"));
	CHECK("sizes are printed as they are parsed",
	      shown_as(text_add_bytes, 4096, "4K") && shown_as(text_add_bytes, 1000, "1000") &&
		      shown_as(text_add_bytes, UINT64_C(1536) << 20, "1536M") &&
		      shown_as(text_add_bytes, UINT64_C(1) << 60, "1048576T") &&
		      shown_as(text_add_bytes, 0, "0"));
	CHECK("durations are printed as they are parsed",
	      shown_as(text_add_duration, 5400000, "1h30m") &&
		      shown_as(text_add_duration, 1000, "1s") &&
		      shown_as(text_add_duration, 1500, "1s500ms"));
}

static void paths(void)
{
	CHECK("a path is within itself and its parents",
	      path_within("/a/b", "/a/b") && path_within("/a/b", "/a") && path_within("/a", "/"));
	CHECK("a relative path of one letter holds only what is below it",
	      path_within("a/b", "a") && !path_within("b", "a") && !path_within("ab", "a"));
	CHECK("a path with a longer name is not within",
	      !path_within("/ab", "/a") && !path_within("/a", "/a/b"));
	CHECK("parents sort before children and subtrees stay together",
	      path_compare("/a", "/a/b") < 0 && path_compare("/a/b", "/a.c") < 0 &&
		      path_compare("/a", "/a") == 0);
	CHECK("paths are joined by one slash",
	      joined("/a", "b", "/a/b") && joined("/a/", "b", "/a/b") && joined("/", "", "/"));
	CHECK("nothing is put before a name in no folder", joined("", "b/c", "b/c"));
	CHECK("relative paths are made absolute", absolute("x/y", "/a/b", "/a/b/x/y"));
	CHECK("dots and double slashes are removed", absolute("/a//b/./c/../d/", "/", "/a/b/d"));
	CHECK("nothing climbs above the root",
	      absolute("../../../..", "/a", "/") && absolute("/..", "/", "/"));
	CHECK("a name that contains dots is kept",
	      absolute("/...", "/", "/...") && absolute("..x", "/", "/..x"));
}

static void buffers(void)
{
	struct buffer small = BUFFER_INIT(4);

	buffer_add_text(&small, "abcd");
	CHECK("a buffer holds its maximum", !buffer_overflowed(&small) && small.used == 4);
	buffer_add_text(&small, "e");
	CHECK("a buffer reports an overflow and keeps its contents",
	      buffer_overflowed(&small) && strcmp(buffer_text(&small), "abcd") == 0);
	buffer_release(&small);
	buffer_release(&small);
	CHECK("an empty buffer is an empty string", strcmp(buffer_text(&small), "") == 0);
	buffer_release(&small);
}

static void json(void)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1000);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "a", "x\"y");
	json_text(&json, "b", NULL);
	json_open(&json, "c", '[');
	json_text(&json, NULL, "d");
	json_number(&json, NULL, UINT64_MAX);
	json_close(&json);
	json_open(&json, "e", '[');
	for (int i = 0; i < 2; i++) {
		json_open(&json, NULL, '{');
		json_flag(&json, "f", i == 0);
		json_number(&json, "g", 0);
		json_close(&json);
	}
	json_close(&json);
	json_open(&json, "h", '{');
	json_close(&json);
	json_close(&json);
	CHECK("JSON has commas, line breaks and quotes in place",
	      strcmp(buffer_text(&out), "{\n"
					"  \"a\": \"x\\\"y\",\n"
					"  \"b\": null,\n"
					"  \"c\": [\"d\", 18446744073709551615],\n"
					"  \"e\": [\n"
					"    {\"f\": true, \"g\": 0},\n"
					"    {\"f\": false, \"g\": 0}\n"
					"  ],\n"
					"  \"h\": {}\n"
					"}\n") == 0);
}

static bool file_is(int folder, const char *name, const char *expected)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1000);
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && fd_read_all(fd, &bytes) == 0 &&
	       strcmp(buffer_text(&bytes), expected) == 0;
}

static void files(void)
{
	char path[UNIT_PATH];
	AUTO_FD folder = open(unit_temp(path) ? path : "", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(100);
	AUTO_BUFFER struct buffer small = BUFFER_INIT(2);
	AUTO_FREE char *mine = mem_format(".f.%d", getpid());

	CHECK("a file is created with its bytes",
	      durable_create(folder, "f", "one", 3, 0600) == 0 && file_is(folder, "f", "one"));
	CHECK("an existing file is not overwritten on create",
	      durable_create(folder, "f", "two", 3, 0600) < 0 && errno == EEXIST &&
		      file_is(folder, "f", "one"));
	CHECK("an existing file is replaced",
	      fd_replace_file(folder, "f", "two", 3, 0600) == 0 && file_is(folder, "f", "two"));
	CHECK("a symlink is replaced, not followed",
	      symlinkat("f", folder, "link") == 0 &&
		      fd_replace_file(folder, "link", "x", 1, 0600) == 0 &&
		      file_is(folder, "link", "x") && file_is(folder, "f", "two"));
	CHECK("a durable file replaces, and leaves no temporary file",
	      durable_replace(folder, "f", "2", 1, 0600) == 0 && file_is(folder, "f", "2") &&
		      durable_replace(folder, "f", "two", 3, 0600) == 0 &&
		      file_is(folder, "f", "two") && faccessat(folder, mine, F_OK, 0) < 0);
	CHECK("a temporary file of an earlier process with this number does not matter",
	      mknodat(folder, mine, S_IFREG | 0600, 0) == 0 &&
		      durable_replace(folder, "f", "two", 3, 0600) == 0 &&
		      faccessat(folder, mine, F_OK, 0) < 0);
	CHECK("a finished folder gets its name, unless that is taken",
	      mkdirat(folder, "temporary", 0700) == 0 &&
		      mkdirat(folder, "temporary/in", 0700) == 0 &&
		      durable_name_folder(folder, "temporary", "made") == 0 &&
		      faccessat(folder, "made/in", F_OK, 0) == 0 &&
		      mkdirat(folder, "temporary", 0700) == 0 &&
		      durable_name_folder(folder, "temporary", "made") < 0 &&
		      (errno == EEXIST || errno == ENOTEMPTY) &&
		      durable_remove(folder, "none") < 0);
	CHECK("a file is read",
	      fd_read_file(folder, "f", &text) == 0 && strcmp(buffer_text(&text), "two") == 0);
	CHECK("a symlink is not read", symlinkat("f", folder, "other") == 0 &&
					       fd_read_file(folder, "other", &text) < 0 &&
					       errno == ELOOP);
	CHECK("a pipe is refused without blocking",
	      mkfifoat(folder, "pipe", 0600) == 0 && fd_read_file(folder, "pipe", &text) < 0 &&
		      errno == EINVAL);
	CHECK("a file that is too large is not read",
	      fd_read_file(folder, "f", &small) < 0 && errno == EFBIG);
	unlinkat(folder, "f", 0);
	unlinkat(folder, "link", 0);
	unlinkat(folder, "other", 0);
	unlinkat(folder, "pipe", 0);
	unlinkat(folder, "made/in", AT_REMOVEDIR);
	unlinkat(folder, "made", AT_REMOVEDIR);
	unlinkat(folder, "temporary", AT_REMOVEDIR);
	CHECK("no temporary file is left behind", rmdir(path) == 0);
}

static bool begins_with(const char *line, const char *program)
{
	AUTO_FREE char *found = shell_program(line, "/place");

	return found && program ? strcmp(found, program) == 0 : !found && !program;
}

/* Reports whether a line has these words, joined with "|". */
static bool has_words(const char *line, const char *wanted)
{
	AUTO_BUFFER struct buffer seen = BUFFER_INIT(1024);
	struct list words = { 0 };

	shell_words(line, &words);
	for (size_t i = 0; i < words.count; i++)
		buffer_printf(&seen, "%s|", words.items[i]);
	list_release(&words);
	return strcmp(buffer_text(&seen), wanted) == 0;
}

static bool is_quoted_as(const char *word, const char *wanted)
{
	AUTO_FREE char *quoted = shell_quoted(word);

	return strcmp(quoted, wanted) == 0;
}

static void words(void)
{
	CHECK("a word is quoted only if a shell would change it",
	      is_quoted_as("~/a-b.c", "~/a-b.c") && is_quoted_as("a b", "'a b'") &&
		      is_quoted_as("", "''") && is_quoted_as("$x", "'$x'") &&
		      is_quoted_as("it's", "'it'\\''s'"));
	CHECK("words end at blanks and at command separators",
	      has_words(" a  b\tc;d&&e|f>g<h\n", "a|b|c|d|e|f|g|h|"));
	CHECK("an empty line has no words", has_words("", "") && has_words(" ; '' \"\"", ""));
	CHECK("quotes are removed", has_words("a'b'\"c\"\\d \\'e", "abcd|'e|"));
	CHECK("a backslash in single quotes is literal",
	      has_words("'a\\b' \"a\\\"b\"", "a\\b|a\"b|"));
	CHECK("the words of a quoted line are added",
	      has_words("sh -c 'x \"y z\"'", "sh|-c|x \"y z\"|x|y z|y|z|"));
	CHECK("an unclosed quote ends with the line", has_words("a 'b c", "a|b c|b|c|"));
	CHECK("expansions are left as written, and the words in them follow",
	      has_words("$A/b \"$(c)/d\" `e`", "$A/b|$(c)/d|`e`|A/b|c|/d |/d|e|"));
	CHECK("groups are words as written, and what they hold follows",
	      has_words("(a);{ b;}", "(a)|{|b|}|a|b|"));
	CHECK("a substitution in double quotes has quotes of its own",
	      has_words("\"$(\"a b\")\"", "$(a|b)|a b|a|b|"));
}

static void programs(void)
{
	AUTO_FREE char *path = NULL;
	struct error err;

	CHECK("the first word is the program", begins_with("  make test", "make"));
	CHECK("assignments before the program are skipped",
	      begins_with("A=1 _b= ./run.sh; x", "./run.sh"));
	CHECK("a tilde expands to the home folder", begins_with("~/fix.sh|cat", "/place/fix.sh"));
	CHECK("another user's home is unknown", begins_with("~bob/fix.sh", NULL));
	CHECK("an expansion has no known program", begins_with("$X y", NULL) &&
							   begins_with("a\"b\" c", NULL) &&
							   begins_with("a*", NULL));
	CHECK("an assignment with an expansion hides the program", begins_with("A=$B x", NULL));
	CHECK("a function or a group has no program",
	      begins_with("f() { x; }; f", NULL) && begins_with("(cd x; y)", NULL));
	CHECK("a missing program of ours is reported with its locations and a remedy",
	      process_beside("ringfence-nothing", &path, &err) < 0 && !path &&
		      strncmp(err.text, "ringfence-nothing is neither in '/", 34) == 0 &&
		      strstr(err.text, RINGFENCE_LIBEXECDIR "/ringfence-nothing") &&
		      strstr(err.text, "make install PREFIX="));
	CHECK("a program next to this one is found",
	      process_beside("unit_text", &path, &err) == 0 && access(path, X_OK) == 0);
	CHECK("an empty line has no program", begins_with("", NULL) && begins_with(" A=1 ", NULL));
}

static bool is_same_as_word(const char *text)
{
	AUTO_FREE char *word = word_from(text);
	const char *at = word;
	AUTO_FREE char *again = word_take_text(&at);

	return *word && !strpbrk(word, " \n\t") && again && strcmp(again, text) == 0 && !*at;
}

static void words_in_lines(void)
{
	const char *line = "12 abc % -1 99999999999999999999 a%2 x";
	uint64_t number = 0;
	size_t size;

	CHECK("any text is a word without spaces, and back",
	      is_same_as_word("/p/a b") && is_same_as_word("") && is_same_as_word("%") &&
		      is_same_as_word("\x01\n\x7f\xff 100 %"));
	CHECK("words are taken one by one", word_take_number(&line, &number) == 0 && number == 12 &&
						    word_take(&line, &size) && size == 3 &&
						    strncmp(line, "% ", 2) == 0);

	AUTO_FREE char *empty = word_take_text(&line);

	CHECK("an empty text is a word of its own", empty && !*empty);
	CHECK("a sign or too many digits are not a number",
	      word_take_number(&line, &number) < 0 && word_take_number(&line, &number) < 0);
	CHECK("a cut escape is malformed", !word_take_text(&line));
	CHECK("the last word ends the line", word_take(&line, &size) && !word_take(&line, &size));
	CHECK("and is not a number", word_take_number(&line, &number) < 0 && !*line);
	line = "9999999999999999999 007 12x 3";
	CHECK("a number of 19 digits is one, and so is one with leading zeros",
	      word_take_number(&line, &number) == 0 && number == UINT64_C(9999999999999999999) &&
		      word_take_number(&line, &number) == 0 && number == 7);
	CHECK("a word that only begins with digits is not, and is taken",
	      word_take_number(&line, &number) < 0 && strcmp(line, "3") == 0 && number == 7);
}

static bool prints(char *text, const char *wanted)
{
	AUTO_FREE char *owned = text;

	return strcmp(owned, wanted) == 0;
}

static void readable(void)
{
	enum { MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

	CHECK("sizes are printed in the largest unit that fits",
	      prints(text_size(0), "0 KiB") && prints(text_size(1 << 20), "1 MiB") &&
		      prints(text_size((1 << 20) - 1), "1023 KiB") &&
		      prints(text_size(UINT64_C(3) << 29), "1.5 GiB"));
	CHECK("ages are printed in minutes, hours and days",
	      prints(text_age(MINUTE - 1), "just now") && prints(text_age(MINUTE), "1 min ago") &&
		      prints(text_age(HOUR), "1 h ago") &&
		      prints(text_age(2 * DAY), "2 days ago") &&
		      prints(text_age(2 * DAY - 1), "47 h ago"));
	CHECK("a time in the future is now", prints(text_age(-HOUR), "just now"));
}

static void first_lines(void)
{
	CHECK("the first line is that which is not blank",
	      prints(text_first_line(" \r\n\n one\n", SIZE_MAX), "one") &&
		      prints(text_first_line("one\ntwo", SIZE_MAX), "one ...") &&
		      prints(text_first_line("one\n \n", SIZE_MAX), "one"));
	CHECK("a line that is cut shows that, between two characters",
	      prints(text_first_line("a\xc3\xa4z", 2), "a ...") &&
		      prints(text_first_line("a\xc3\xa4z", 4), "a\xc3\xa4z"));
	CHECK("without a line there is none",
	      !text_first_line(" \n\t", SIZE_MAX) && !text_first_line(NULL, SIZE_MAX));
}

static void clocks(void)
{
	setenv("TZ", "CET-1", 1);
	tzset();
	CHECK("a time is printed in the local zone, as a whole or in part",
	      prints(clock_text(1795116605000, CLOCK_ZONE), "2026-11-19 20:30:05 CET") &&
		      prints(clock_text(1795116605999, CLOCK_SECOND), "2026-11-19 20:30:05") &&
		      prints(clock_text(1795116605000, CLOCK_MINUTE), "2026-11-19 20:30") &&
		      prints(clock_text(1795116605000, CLOCK_TIME), "20:30:05"));
}

int main(void)
{
	readable();
	first_lines();
	clocks();
	programs();
	words();
	json();
	files();
	escaping();
	cutting();
	errors();
	beginnings();
	durations();
	amounts();
	paths();
	buffers();
	words_in_lines();
	CHECK("words that differ by one swap have distance 1",
	      text_distance("tiemout", "timeout") == 1);
	CHECK("words that differ everywhere have the maximum distance",
	      text_distance("abc", "xyz") == 3);
	return unit_failures > 0;
}
