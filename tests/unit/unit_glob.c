/* Patterns as in .gitignore, and the ignore files that hold them; SHA-256. */
#include "unit.h"

#include "config/ignore.h"
#include "util/mem.h"
#include "util/text/glob.h"
#include "util/text/sha256.h"

#include <stdlib.h>
#include <string.h>

static bool hits(const char *pattern, const char *path, bool is_dir)
{
	struct glob glob;
	bool held;

	if (glob_read(pattern, &glob) != GLOB_PATTERN)
		return false;
	held = glob_matches(&glob, path, is_dir, &(uint64_t){ UINT64_MAX });
	glob_release(&glob);
	return held;
}

static bool file(const char *pattern, const char *path)
{
	return hits(pattern, path, false);
}

static enum glob_line kind(const char *line)
{
	struct glob glob = { 0 };
	enum glob_line kind = glob_read(line, &glob);

	glob_release(&glob);
	return kind;
}

static void names(void)
{
	CHECK("a class can have a name",
	      file("a[[:space:]]b", "a b") && !file("a[[:space:]]b", "a:b") &&
		      file("[[:digit:]_x]", "7") && file("[[:digit:]_x]", "x") &&
		      !file("[![:upper:]]", "A") && file("[![:upper:]]", "a") &&
		      file("[[:odd:]]", ":]"));
	CHECK("a name is found at any depth", file("a.log", "a.log") && file("a.log", "x/y/a.log"));
	CHECK("a pattern matches only whole names",
	      !file("a.log", "aa.log") && !file("a.log", "a.log.1") && !file("a.log", "a.log/b"));
	CHECK("a star is any part of a name", file("*.log", "a.log") && file("a*", "a") &&
						      file("a*b*c", "aXbYbZc") &&
						      !file("a*b*c", "aXbYbZ"));
	CHECK("a star matches hidden names", file("*", ".env") && file("*rc", "x/.bashrc"));
	CHECK("a star stays within a name", !file("/a*c", "a/c") && !file("a/*", "a/b/c"));
	CHECK("a question mark is one character",
	      file("a?c", "abc") && !file("a?c", "ac") && !file("/a?c", "a/c"));
	CHECK("a class is one of its characters", file("[abc]", "b") && file("[a-cx]", "x") &&
							  !file("[a-c]", "d") &&
							  file("v[0-9].[0-9]", "v1.2"));
	CHECK("a class can be negated", file("[!a-c]", "d") && !file("[^a-c]", "b"));
	CHECK("a bracket in a class, and one that is not closed, are themselves",
	      file("[]]", "]") && file("[a", "[a") && !file("[a", "a"));
	CHECK("a backslash escapes a character",
	      file("\\*", "*") && !file("\\*", "a") && file("\\#a", "#a") && file("\\!a", "!a"));
}

static void paths(void)
{
	CHECK("a leading slash anchors at the root", file("/a", "a") && !file("/a", "b/a"));
	CHECK("an inner slash anchors at the root", file("a/b", "a/b") && !file("a/b", "x/a/b"));
	CHECK("a trailing slash matches only folders",
	      hits("a/", "a", true) && !hits("a/", "a", false) && hits("a/", "x/a", true));
	CHECK("** in front is any folder, or none",
	      file("**/a", "a") && file("**/a", "x/y/a") && file("**/a/b", "x/a/b"));
	CHECK("** in the middle is any number of folders",
	      file("a/**/b", "a/b") && file("a/**/b", "a/x/b") && file("a/**/b", "a/x/b/y/b") &&
		      !file("a/**/b", "a/x/c"));
	CHECK("** at the end is all below", file("a/**", "a/b/c") && !file("a/**", "a"));
	CHECK("several of them", file("**/a/**/b/**", "x/a/y/b/z") && !file("**/a/**/b/**", "a/b"));
}

static void lines(void)
{
	CHECK("blank lines and comments are ignored", kind("") == GLOB_NOTHING &&
							      kind("   ") == GLOB_NOTHING &&
							      kind("# x") == GLOB_NOTHING);
	CHECK("a negated pattern is recognised", kind("!a") == GLOB_NEGATED);
	CHECK("a pattern that cannot match is invalid",
	      kind("/") == GLOB_WRONG && kind("//") == GLOB_WRONG && kind("a//b") == GLOB_WRONG);
	CHECK("trailing spaces are dropped unless escaped",
	      file("a  ", "a") && file("a\\ ", "a ") && !file("a\\ ", "a"));
}

static void patience(void)
{
	char pattern[GLOB_LONGEST] = "";
	char name[256];

	for (size_t i = 0; i + 3 < sizeof pattern; i += 2)
		memcpy(pattern + i, "*a", 3);
	strcat(pattern, "b");
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	CHECK("a pattern full of stars matches quickly", !file(pattern, name));
}

static void files(void)
{
	static const char text[] = "\xef\xbb\xbf# c\r\n*.log\r\n\n!keep.log\n/build/";
	struct ignore ignore = { 0 };
	struct list notices = { 0 };
	struct list problems = { 0 };

	CHECK("an ignore file is parsed",
	      ignore_read(&ignore, ".x", text, strlen(text), &notices, &problems) == 0 &&
		      ignore.count == 2);
	CHECK("each pattern knows its line", strcmp(ignore.items[0].origin, ".x:2") == 0 &&
						     strcmp(ignore.items[1].origin, ".x:5") == 0);
	CHECK("a negated line is skipped with a notice",
	      notices.count == 1 && strstr(notices.items[0], ".x:4") &&
		      strstr(notices.items[0], "!keep.log"));
	CHECK("the end of a line of Windows is not a part of the pattern",
	      strcmp(ignore.items[0].glob.text, "*.log") == 0);
	list_release(&notices);
	notices = (struct list){ 0 };
	CHECK("of several negated lines, the first has a notice, and the others are counted",
	      ignore_read(&ignore, ".x", "!a\n!b\n!c\n", 9, &notices, &problems) == 0 &&
		      notices.count == 2 && strstr(notices.items[0], ".x:1: '!a'") &&
		      strcmp(notices.items[1], ".x: 2 more such lines are skipped") == 0);
	CHECK("a NUL byte is an error",
	      ignore_read(&ignore, ".x", "a\0b", 3, &notices, &problems) < 0 &&
		      problems.count == 1);
	ignore_release(&ignore);

	char *many = mem_zero(2 * (IGNORE_MOST_PATTERNS + 1) + 1);

	for (size_t i = 0; i <= IGNORE_MOST_PATTERNS; i++)
		strcpy(many + 2 * i, "a\n");
	CHECK("more patterns than the maximum are an error",
	      ignore_read(&ignore, ".x", many, strlen(many), &notices, &problems) < 0 &&
		      ignore.count == IGNORE_MOST_PATTERNS);
	free(many);
	ignore_release(&ignore);
	list_release(&notices);
	list_release(&problems);
}

static bool hashes(const char *text, size_t size, const char *expected)
{
	char hex[SHA256_HEX];

	sha256_hex(text, size, hex);
	return strcmp(hex, expected) == 0;
}

static void hash(void)
{
	static const char abc[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static const char longer[] =
		"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
	char *million = mem_alloc(1000000);
	bool same = true;

	memset(million, 'a', 1000000);
	CHECK("SHA-256 of the empty string",
	      hashes("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
	CHECK("SHA-256 of abc",
	      hashes("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	CHECK("SHA-256 of 56 bytes, whose length needs another block",
	      hashes(abc, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
	CHECK("SHA-256 of 112 bytes",
	      hashes(longer, 112,
		     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"));
	CHECK("SHA-256 of a million 'a'",
	      hashes(million, 1000000,
		     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
	for (size_t step = 1; step < 200; step += 7) {
		struct sha256 pieces;
		char hex[SHA256_HEX];

		sha256_init(&pieces);
		for (size_t at = 0; at < 112; at += step)
			sha256_add(&pieces, longer + at, 112 - at < step ? 112 - at : step);
		sha256_end(&pieces, hex);
		same = same && hashes(longer, 112, hex);
	}
	CHECK("SHA-256 of pieces is that of the whole", same);
	free(million);
}

int main(void)
{
	names();
	paths();
	lines();
	patience();
	files();
	hash();
	return unit_failures > 0;
}
