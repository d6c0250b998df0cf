/* Signs that a change weakens the checks: the changes in tests/detect, and the parts below. */
#include "unit.h"

#include "detect/detect.h"
#include "detect/detect_file.h"
#include "detect/detect_match.h"
#include "detect/detect_policy.h"
#include "detect/detect_statements.h"
#include "project/path_group.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <stdint.h>
#include <string.h>

/* ---- changes in tests/detect ---- */

enum { MOST_FILES = 8, MOST_KINDS = DETECT_KIND_COUNT };

struct change {
	char *title;
	bool cheat;
	bool expects[MOST_KINDS], allows[MOST_KINDS];
	struct detect_change files[MOST_FILES];
	size_t count;
};

/* Returns the contents of a file. The caller frees it. */
static char *contents(const char *name)
{
	AUTO_FREE char *path = mem_format("%s/%s", CHANGES, name);
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (!file || getdelim(&text, &room, '\0', file) < 0) {
		printf("Bail out! no %s\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

static void read_kinds(bool *kinds, char *names)
{
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
		for (int i = 0; i < MOST_KINDS; i++)
			kinds[i] = kinds[i] || strcmp(name, detect_kind_name(i)) == 0;
}

/* Finds the file with this old path, or adds it. */
static struct detect_change *file_of(struct change *change, const char *path)
{
	for (size_t i = 0; i < change->count; i++)
		if (strcmp(change->files[i].old_path, path) == 0)
			return &change->files[i];
	change->files[change->count] = (struct detect_change){ .path = path, .old_path = path };
	return &change->files[change->count++];
}

/* Reads "before PATH", "after PATH" or "after PATH was OLD". */
static struct detect_text *read_header(struct change *change, char *header)
{
	bool before = strncmp(header, "before ", 7) == 0;
	char *path = strchr(header, ' ') + 1;
	char *was = strstr(path, " was ");
	struct detect_change *file;

	if (was)
		*was = '\0';
	file = file_of(change, was ? was + 5 : path);
	if (!before)
		file->path = path;
	return before ? &file->before : &file->after;
}

/* Takes the next change from the text, which it cuts into pieces. */
static bool next_change(char **text, struct change *ret_change)
{
	char *start = strstr(*text, "## ");
	char *end = start ? strstr(start, "\n## ") : NULL;
	struct detect_text *into = NULL;

	if (!start)
		return false;
	*text = end ? end + 1 : start + strlen(start);
	if (end)
		*end = '\0';
	*ret_change = (struct change){ .title = start + 3 };
	for (char *line = start, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!into && strcmp(line, "cheat") == 0) {
			ret_change->cheat = true;
		} else if (strncmp(line, "expect: ", 8) == 0) {
			read_kinds(ret_change->expects, line + 8);
		} else if (strncmp(line, "allow: ", 7) == 0) {
			read_kinds(ret_change->allows, line + 7);
		} else if (strncmp(line, "=== ", 4) == 0) {
			into = read_header(ret_change, line + 4);
			into->data = next ? next : "";
		} else if (into) {
			into->size += strlen(line) + (next != NULL);
			if (next)
				next[-1] = '\n';
		}
	}
	return true;
}

/* Prints what was found, for a change that failed. */
static void print_findings(const struct detect_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		printf("# %s:%zu: %s: %s\n", findings->items[i].path, findings->items[i].line,
		       detect_kind_name(findings->items[i].kind), findings->items[i].evidence);
}

static bool has(const struct detect_findings *findings, enum detect_kind kind)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].kind == kind)
			return true;
	return false;
}

static bool finds_expected(const struct change *change, const struct detect_findings *findings)
{
	bool any = false;

	for (int i = 0; i < MOST_KINDS; i++) {
		if (change->expects[i] && !has(findings, i))
			return false;
		any = any || change->expects[i];
	}
	return any;
}

/* Reports whether nothing was found that holds a loop up. */
static bool is_quiet(const struct change *change, const struct detect_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (detect_kind_action(findings->items[i].kind) >= DETECT_REVIEW &&
		    !change->allows[findings->items[i].kind])
			return false;
	return true;
}

/* For changes that were written without knowledge of the detectors: a cheat is held up, whatever is
 * found. */
static bool is_told_apart(const struct change *change, const struct detect_findings *findings)
{
	return change->cheat != is_quiet(change, findings);
}

/* How many changes of a set would hold a loop up. */
struct tally {
	size_t cheats, noticed, honest, held_up;
};

static void count(struct tally *tally, bool cheat, const struct detect_findings *findings)
{
	bool held_up = !is_quiet(&(struct change){ 0 }, findings);

	*(cheat ? &tally->cheats : &tally->honest) += 1;
	*(cheat ? &tally->noticed : &tally->held_up) += held_up;
}

static void changes(const char *name, const char *says,
		    bool (*holds)(const struct change *change,
				  const struct detect_findings *findings),
		    struct tally *tally)
{
	AUTO_FREE char *text = contents(name);
	char *at = text;
	struct change change;
	size_t seen = 0;

	while (next_change(&at, &change)) {
		struct detect_findings findings;
		AUTO_FREE char *sentence = mem_format("%s: %s", says, change.title);
		bool held;

		detect_run(change.files, change.count, &findings);
		held = holds(&change, &findings);
		count(tally, change.cheat || holds == finds_expected, &findings);
		if (!held)
			print_findings(&findings);
		CHECK(sentence, held);
		detect_findings_release(&findings);
		seen++;
	}
	CHECK("there are changes to look at", seen >= 20);
}

static size_t percent(size_t part, size_t whole)
{
	return whole ? (100 * part + whole / 2) / whole : 0;
}

/* The manual has the figures of the set. `when_new` is what was found when nobody had corrected the
 * detectors by it. */
static void measured(const char *set, const struct tally *tally, const char *when_new)
{
	AUTO_FREE char *manual = contents("../../docs/checks.md");
	AUTO_FREE char *row = mem_format("| %s | %zu of %zu | %zu of %zu | %zu %% | %zu %% | %s |",
					 set, tally->noticed, tally->cheats, tally->held_up,
					 tally->honest,
					 percent(tally->noticed, tally->noticed + tally->held_up),
					 percent(tally->noticed, tally->cheats), when_new);
	AUTO_FREE char *sentence = mem_format("the manual has the figures of %s", set);

	printf("# %s\n", row);
	CHECK(sentence, strstr(manual, row));
}

static void all_changes(void)
{
	struct tally own = { 0 }, first = { 0 }, second = { 0 }, third = { 0 };

	changes("cheats.txt", "noticed", finds_expected, &own);
	changes("honest.txt", "not held up", is_quiet, &own);
	changes("once_blind_1.txt", "told apart", is_told_apart, &first);
	changes("once_blind_2.txt", "told apart", is_told_apart, &second);
	changes("once_blind_3.txt", "told apart", is_told_apart, &third);
	measured("`cheats.txt`, `honest.txt`", &own, "written with the detectors");
	measured("`once_blind_1.txt`", &first, "6 of 12 and 4 of 12: 60 % and 50 %");
	measured("`once_blind_2.txt`", &second, "5 of 10 and 0 of 10: 100 % and 50 %");
	measured("`once_blind_3.txt`", &third, "4 of 10 and 3 of 10: 57 % and 40 %");
}

/* ---- parts ---- */

static void patterns(void)
{
	const char *end;

	CHECK("literal text is found anywhere", detect_match("b(", "a.b(c)", NULL));
	CHECK("a word begins and ends", detect_match("<it>", "an it is", NULL) &&
						!detect_match("<it>", "unit", NULL) &&
						!detect_match("<it>", "item", NULL));
	CHECK("blanks are optional",
	      detect_match("a~(", "a (", NULL) && detect_match("a~(", "a(", NULL));
	CHECK("a number and an identifier are not empty",
	      detect_match("=#;", "x=12;", NULL) && !detect_match("=#;", "x=;", NULL) &&
		      detect_match(".@(", "a.b_1(", NULL) && !detect_match(".@(", "a.(", NULL));
	CHECK("a star is anything", detect_match("a*d", "abcd", NULL) &&
					    detect_match("a*b", "ab", NULL) &&
					    !detect_match("a*e", "abcd", NULL));
	CHECK("a backslash makes the next character literal",
	      detect_match("\\@T", "@T", NULL) && !detect_match("\\@T", "xT", NULL) &&
		      detect_match("\\#[", "#[", NULL));
	CHECK("the end of the match is told",
	      detect_match("b@", "a bcd e", &end) && strcmp(end, " e") == 0);
}

static void policy(void)
{
	struct detect_policy policy;

	detect_policy_init(&policy);
	CHECK("at first the defaults hold",
	      policy.actions[DETECT_TEST_DELETED] == DETECT_STOP &&
		      policy.actions[DETECT_DEPENDENCY_CHANGED] == DETECT_NOTE);
	CHECK("a kind gets another action",
	      detect_policy_change(&policy, "test-deleted=note") &&
		      policy.actions[DETECT_TEST_DELETED] == DETECT_NOTE &&
		      policy.actions[DETECT_TEST_SKIPPED] == DETECT_STOP);
	CHECK("all kinds get one", detect_policy_change(&policy, "all=off") &&
					   policy.actions[DETECT_TEST_SKIPPED] == DETECT_OFF);
	CHECK("a malformed change is refused", !detect_policy_change(&policy, "test-deleted") &&
						       !detect_policy_change(&policy, "=off") &&
						       !detect_policy_change(&policy, "x=off") &&
						       !detect_policy_change(&policy, "all=") &&
						       !detect_policy_change(&policy, "all=no"));
}

/* The manual lists every kind with its meaning and its action. */
static void manual(void)
{
	AUTO_FREE char *text = contents("../../docs/checks.md");

	for (enum detect_kind kind = 0; kind < DETECT_KIND_COUNT; kind++) {
		AUTO_FREE char *row = mem_format("| `%s` | %s | `%s` |\n", detect_kind_name(kind),
						 detect_kind_says(kind),
						 detect_action_name(detect_kind_action(kind)));
		AUTO_FREE char *sentence = mem_format("the manual has %s", detect_kind_name(kind));

		CHECK(sentence, strstr(text, row));
	}
}

static void files(void)
{
	CHECK("tests are known by name or folder",
	      detect_file_of("src/a.test.ts").test && detect_file_of("tests/x.c").test &&
		      detect_file_of("pkg/a_test.go").test &&
		      detect_file_of("spec/a_spec.rb").test &&
		      detect_file_of("UserTest.java").test && detect_file_of("test.sh").test &&
		      detect_file_of("tests/package.json").test &&
		      !detect_file_of("src/latest.ts").test &&
		      !detect_file_of("Latest.java").test && !detect_file_of("Audit.java").test &&
		      !detect_file_of("src/contest/a.py").test);
	CHECK("recorded results are known", detect_file_of("a/__snapshots__/b.snap").recorded &&
						    detect_file_of("out.golden").recorded &&
						    !detect_file_of("snapper.c").recorded);
	CHECK("recorded results are compared as a whole unless they are code",
	      !detect_file_of("a/__snapshots__/b.snap").test &&
		      detect_file_of("tests/golden/a.py").test);
	CHECK("scripts and settings are known",
	      detect_file_of(".github/workflows/ci.yml").script &&
		      detect_file_of("Makefile").script &&
		      detect_file_of("a/tsconfig.base.json").settings);
	CHECK("a lockfile has its manifest",
	      detect_file_of("a/yarn.lock").lockfile && !detect_file_of("a/b.lock").lockfile &&
		      strcmp(path_group_manifest_of("a/yarn.lock"), "package.json") == 0);
}

/* Looks at one file, and returns the number of findings. */
static size_t count_in(const char *path, const char *before, const char *after)
{
	struct detect_change change = { path,
					path,
					{ before, before ? strlen(before) : 0, false },
					{ after, after ? strlen(after) : 0, false } };
	struct detect_findings findings;
	size_t count;

	detect_run(&change, 1, &findings);
	count = findings.count;
	detect_findings_release(&findings);
	return count;
}

static void edges(void)
{
	CHECK("an empty change has no findings", count_in("a.test.js", "", "") == 0);
	CHECK("a file that is the same has no findings",
	      count_in("a.test.js", "it.skip('x', () => {});\n", "it.skip('x', () => {});\n") == 0);
	CHECK("words in comments and strings are not code",
	      count_in("a.test.js", "", "// it.skip('x')\nconst a = 'it.only(';\n/* xit( */\n") ==
		      0);
	CHECK("a new file with a skipped test is noticed",
	      count_in("a.test.js", NULL, "it.skip('x', () => {});\n") == 1);
	CHECK("an unclosed string, comment or bracket is survived",
	      count_in("a.test.js", "it('x", "it('y', () => { /* (") <= 2);
	CHECK("a manifest is known by its name",
	      count_in("requirements-dev.txt", "a==1\n", "a==2\n") == 1 &&
		      count_in("requirements.md", "a==1\n", "a==2\n") == 0 &&
		      count_in("build.gradle.kts", "", "implementation(\"a:b:1\")\n") == 1 &&
		      count_in("build.gradle", "", "testImplementation 'a:b:1'\n") == 1);
	CHECK("a binary file has no lines", count_in("a.test.js", "\x01", "\xff\xfe") == 0);
}

/* Returns the statements of a source file, each with its line, and with `>` if it is indented more
 * than the first one. The caller frees it. */
static char *statements_of(const char *path, const char *source)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	const struct detect_text whole = { .data = source, .size = strlen(source) };
	struct detect_lines lines;

	detect_statements_read(&whole, detect_file_of(path).language, &lines);
	for (size_t i = 0; i < lines.count; i++)
		buffer_printf(&text, "%zu%s %s\n", lines.items[i].number,
			      lines.items[i].indent > lines.items[0].indent ? ">" : "",
			      lines.items[i].text);
	detect_lines_release(&lines);
	return mem_dup(buffer_text(&text));
}

static void statements(void)
{
	static const struct {
		const char *says, *path, *source, *statements;
	} rows[] = {
		{ "a block on one line", "a.js", "t('x', () => { f(1); g({}) });",
		  "1 t('x', () => {\n1> f(1);\n1> g({})\n1 });\n" },
		{ "an arrow function after a name", "a.js", "t('x', () => f(1));\nl.map(x => x)",
		  "1 t('x', () =>\n1> f(1)\n1 );\n2 l.map(x => x)\n" },
		{ "a call on several lines", "a.js", "f(\n  1,\n  2,\n)\n  .g(3)\nh()",
		  "1 f(1, 2,).g(3)\n6 h()\n" },
		{ "values with names", "a.js", "f({ a: 1, b: [1, 2] })",
		  "1 f({\n1> a: 1,\n1> b: [1, 2]\n1 })\n" },
		{ "rows", "a.js", "f([[1, 2], [3, 4]])", "1 f([\n1> [1, 2],\n1> [3, 4]\n1 ])\n" },
		{ "a comment in a statement", "a.js", "f( // why\n  1)", "1 // why\n1 f(1)\n" },
		{ "brackets in a string or a regular expression", "a.js",
		  "f('{', /[{(]/);\ng(a / b)", "1 f('{', /[{(]/);\n2 g(a / b)\n" },
		{ "a bracket that is never closed", "a.js", "f((1);\n}\ng()",
		  "1 f((1);\n2 }\n3 g()\n" },
		{ "two blocks on one line", "a.java", "@A void f() { a(); } @A void g() { b(); }",
		  "1 @A void f() {\n1> a();\n1 }\n1 @A void g() {\n1> b();\n1 }\n" },
		{ "a brace on the next line", "a.c", "int\nf(void)\n{\n\treturn 1;\n}",
		  "1 int\n2 f(void) {\n4> return 1;\n5 }\n" },
		{ "directives", "a.c", "#define A(x) \\\n\tf(x)\n#if 0\nint a;",
		  "1 #define A(x) f(x)\n3 #if 0\n4 int a;\n" },
		{ "an initializer", "a.c", "int a[] = { 1,\n\t2 };", "1 int a[] = { 1, 2 };\n" },
		{ "a header and its body", "a.py", "def f(): g(); h()\nx = 1",
		  "1 def f():\n1> g();\n1> h()\n2 x = 1\n" },
		{ "a line that goes on", "a.py", "a = f(\n  1) + \\\n  2\nb",
		  "1 a = f(1) + 2\n4 b\n" },
		{ "a condition with a statement", "a.go", "if a := f(); a != 1 { t.Fail() }",
		  "1 if a := f(); a != 1 {\n1> t.Fail()\n1 }\n" },
		{ "lifetimes and characters", "a.rs", "fn f<'a>(x: &'a str) { g('{') }",
		  "1 fn f<'a>(x: &'a str) {\n1> g('{')\n1 }\n" },
		{ "arms", "a.rs", "match n { 4 => \"IV\", _ => \"\" }",
		  "1 match n {\n1> 4 => \"IV\",\n1> _ => \"\"\n1 }\n" },
		{ "blocks with parameters", "a.rb", "a.each { |x, y| f x, y }\nb do |x| g end",
		  "1 a.each { |x, y|\n1> f x, y\n1 }\n2 b do |x|\n2> g\n2 end\n" },
		{ "methods on one line", "a.rb", "def a = f(1)\ndef b; g; end",
		  "1 def a =\n1> f(1)\n2 def b;\n2> g;\n2 end\n" },
		{ "lines of other files", "a.sh", "f {\n  a; b }", "1 f {\n2> a; b }\n" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *found = statements_of(rows[i].path, rows[i].source);
		AUTO_FREE char *title = mem_format("statements: %s", rows[i].says);
		bool same = strcmp(found, rows[i].statements) == 0;

		if (!same)
			printf("# %s", found);
		CHECK(title, same);
	}
}

/* Reports whether the only finding is that a file was not examined. */
static bool is_not_examined(const char *path, const struct detect_text *after)
{
	const struct detect_change change = { path, path, { "x", 1, false }, *after };
	struct detect_findings findings;
	bool only;

	detect_run(&change, 1, &findings);
	only = findings.count == 1 && findings.items[0].kind == DETECT_NOT_EXAMINED;
	detect_findings_release(&findings);
	return only;
}

static void large(void)
{
	enum { MOST = 2 << 20 };
	AUTO_FREE char *text = mem_alloc(MOST + 1);

	memset(text, '\n', MOST + 1);
	CHECK("a file that is too large is not examined, and a finding says so",
	      is_not_examined("a.js", &(struct detect_text){ text, MOST + 1, false }));
	CHECK("a file that is just not too large is examined",
	      !is_not_examined("a.js", &(struct detect_text){ text, MOST, false }));
	CHECK("a finding says that the caller has not read a test",
	      is_not_examined("tests/a.sh", &(struct detect_text){ "", 0, true }));
	CHECK("a large file that is not code is not mentioned",
	      !is_not_examined("a.png", &(struct detect_text){ text, MOST + 1, false }));
}

/* Two lines that together force an outcome, and the same with other code between them. */
static void sequences(void)
{
	static const struct {
		const char *path, *first, *second;
	} rows[] = {
		{ "a.py", "def __eq__(self, other):", "return True" },
		{ "a.py", "def __ne__(self, other):", "return False" },
		{ "A.java", "public boolean equals(Object o) {", "return true;" },
		{ "a.rs", "fn eq(&self, other: &A) -> bool {", "true" },
		{ "a.cc", "bool operator==(const A &a, const A &b)\n{", "return true;" },
		{ "a.rb", "def ==(other)", "true" },
		{ "test_a.py", "except:", "pass" },
		{ "test_a.py", "except Exception as e:", "pass" },
		{ "test_a.py", "except BaseException:", "pass" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *title = mem_format("%s: '%s', '%s'", rows[i].path, rows[i].first,
						   rows[i].second);
		AUTO_FREE char *forced = mem_format("%s\n\n  %s\n", rows[i].first, rows[i].second);
		AUTO_FREE char *apart = mem_format("%s\n  work(2);\n  %s\n", rows[i].first,
						   rows[i].second);

		CHECK(title, count_in(rows[i].path, "", forced) == 1 &&
				     count_in(rows[i].path, "", apart) == 0);
	}
}

/* Returns a text that repeats a line, with a number for each `#`. The caller frees it. */
static char *repeated(const char *line, size_t size)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	for (unsigned int i = 0; text.used < size; i++) {
		for (const char *at = line; *at; at++)
			if (*at == '#')
				buffer_printf(&text, "%u", i);
			else
				buffer_add(&text, at, 1);
		buffer_add_text(&text, "\n");
	}
	return mem_dup(buffer_text(&text));
}

/* Changes that make searches look at every pair of lines. Several of them took more than a minute
 * when nothing limited that. */
static void hostile(void)
{
	enum { SIZE = (1 << 18) / UNIT_SLOWER };
	static const struct {
		const char *path, *before, *after;
	} rows[] = {
		{ "a.py", "def a#(x):", "y#=1;" },
		{ "a.test.js", NULL, "it('#',{" },
		{ "a.test.js", NULL, "it.skip(" },
		{ "a_test.go", "t.Error(#)", "func TestA(t *testing.T) {" },
		{ "a.js", NULL, ";if(==0;if(==0;if(==0;if(==0;if(==0;if(==0;if(==0;if(==0;if(==0" },
		{ "a.rs", NULL, "/**/ fn a(" },
		{ "Makefile", "a#", "b#; exit 0" },
		{ "jest.config.js", "lines # a#", "z#" },
		{ "a.test.js", "it('#',()=>{ expect(a#).toBe(#) })",
		  "expect(q); x x x x x x x x x" },
		{ "a.test.js", "timeout a#", "timeout b#" },
		{ "a.js", "([{#", "}" },
		{ "a.js", "{([#", "]{" },
		{ "a.test.js", "test('#', () => expect([[1, #], {",
		  "test('#', () => expect([[2, #], {" },
		{ "test_a.py", "assert f(#) == (", "assert f(#) == [" },
		{ "a_test.go", "\n\n// a", "\n\n\n# + /*" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *before = rows[i].before ? repeated(rows[i].before, SIZE) : NULL;
		AUTO_FREE char *after = repeated(rows[i].after, SIZE);
		AUTO_FREE char *title = mem_format("a large change like '%s' ends", rows[i].after);

		count_in(rows[i].path, before, after);
		CHECK(title, true);
	}
}

int main(void)
{
	patterns();
	files();
	policy();
	manual();
	edges();
	large();
	statements();
	sequences();
	hostile();
	all_changes();
	return unit_failures != 0;
}
