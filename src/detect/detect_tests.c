/* Tests in source files: see detect_tests.h. */
#include "detect/detect_tests.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- languages ---- */

/* Where a declaration has the test's name. */
enum name_in { IN_STRING, IN_LAST_WORD, IN_PARENTHESES, UNNAMED };

struct declaration {
	const char *pattern;
	enum name_in name;
	const char *const *attributes; /* one of them must stand above or before it, or NULL */
};

struct idioms {
	const struct declaration *declarations; /* ends with an empty pattern */
	const char *const *asserts;
	const char *const *weak;
};

static const struct declaration javascript_tests[] = {
	{ "<it~(", IN_STRING, NULL },
	{ "<test~(", IN_STRING, NULL },
	{ "<it.only~(", IN_STRING, NULL },
	{ "<test.only~(", IN_STRING, NULL },
	{ "<it.skip~(", IN_STRING, NULL },
	{ "<test.skip~(", IN_STRING, NULL },
	{ "<it.each", IN_STRING, NULL },
	{ "<test.each", IN_STRING, NULL },
	{ "<it.failing~(", IN_STRING, NULL },
	{ "<test.failing~(", IN_STRING, NULL },
	{ "<it.fails~(", IN_STRING, NULL },
	{ "<test.fails~(", IN_STRING, NULL },
	{ "<it.todo~(", IN_STRING, NULL },
	{ "<test.todo~(", IN_STRING, NULL },
	{ "<it.concurrent~(", IN_STRING, NULL },
	{ "<test.concurrent~(", IN_STRING, NULL },
	{ "<xit~(", IN_STRING, NULL },
	{ "<xtest~(", IN_STRING, NULL },
	{ "<fit~(", IN_STRING, NULL },
	{ "<specify~(", IN_STRING, NULL },
	{ "", IN_STRING, NULL },
};
static const struct declaration python_tests[] = { { "<def test@", IN_LAST_WORD, NULL },
						   { "", IN_LAST_WORD, NULL } };
static const struct declaration go_tests[] = { { "<func Test@", IN_LAST_WORD, NULL },
					       { "<func Fuzz@", IN_LAST_WORD, NULL },
					       { "<t.Run~(", IN_STRING, NULL },
					       { "", IN_STRING, NULL } };
static const char *const rust_attributes[] = { "test]", "test(", "test_case(", NULL };
static const struct declaration rust_tests[] = { { "<fn @", IN_LAST_WORD, rust_attributes },
						 { "", IN_LAST_WORD, NULL } };
static const char *const java_attributes[] = { "\\@Test>",         "\\@ParameterizedTest>",
					       "\\@RepeatedTest>", "\\@TestFactory>",
					       "\\@Property>",     NULL };
static const struct declaration java_tests[] = { { "<@ @~(", IN_LAST_WORD, java_attributes },
						 { "", IN_LAST_WORD, NULL } };
static const struct declaration c_tests[] = {
	{ "<TEST@~(", IN_PARENTHESES, NULL },      { "<TEST~(", IN_PARENTHESES, NULL },
	{ "<START_TEST~(", IN_PARENTHESES, NULL }, { "<SCENARIO~(", IN_PARENTHESES, NULL },
	{ "<SECTION~(", IN_PARENTHESES, NULL },    { "<void test@~(", IN_LAST_WORD, NULL },
	{ "<int test@~(", IN_LAST_WORD, NULL },    { "", IN_LAST_WORD, NULL },
};
static const struct declaration ruby_tests[] = {
	{ "<it~{", UNNAMED, NULL },
	{ "<it ", IN_STRING, NULL },
	{ "<xit ", IN_STRING, NULL },
	{ "<fit ", IN_STRING, NULL },
	{ "<specify ", IN_STRING, NULL },
	{ "<test ", IN_STRING, NULL },
	{ "<def test@", IN_LAST_WORD, NULL },
	{ "<it~(", IN_STRING, NULL },
	{ "<xit~(", IN_STRING, NULL },
	{ "<specify~(", IN_STRING, NULL },
	{ "", IN_STRING, NULL },
};
static const struct declaration no_tests[] = { { "", IN_STRING, NULL } };

static const char *const javascript_asserts[] = { "<expect~(",   "<expect.@~(",    "<assert~(",
						  "<assert.@~(", "<assert@~(",     ".should.",
						  "<t.is~(",     "<t.deepEqual~(", "<t.true~(",
						  "<t.equal~(",  "<t.throws~(",    NULL };
static const char *const python_asserts[] = { "<assert ",         "<assert~(",   "<self.assert@~(",
					      "<pytest.raises~(", "<assert_@~(", "<self.fail~(",
					      "<pytest.fail~(",   NULL };
static const char *const go_asserts[] = { "<t.Error",     "<t.Fatal", "<t.Fail", "<assert.@~(",
					  "<require.@~(", "<b.Fatal", "<is.@~(", NULL };
static const char *const rust_asserts[] = { "<assert!",        "<assert_@!",
					    "<panic!",         "<unreachable!",
					    "<prop_assert@!",  "\\#[should_panic",
					    "<debug_assert@!", NULL };
static const char *const java_asserts[] = { "<assert@~(", "<assert ",     "<verify~(", "<fail~(",
					    "<expect@~(", ".andExpect~(", NULL };
static const char *const c_asserts[] = { "<assert~(",   "<assert_@~(",     "<ASSERT@~(",
					 "<EXPECT@~(",  "<TEST_ASSERT@~(", "<ck_assert@~(",
					 "<REQUIRE@~(", "<REQUIRE~(",      "<CHECK@~(",
					 "<CHECK~(",    "<cr_assert@~(",   "<check~(",
					 "<check_@~(",  "<expect_@~(",     NULL };
static const char *const ruby_asserts[] = { "<expect~(", "<expect~{",  "<expect {", "<assert@ ",
					    "<assert ",  "<assert@~(", "<refute@ ", "<refute ",
					    ".must_",    ".wont_",     ".should ",  NULL };
static const char *const no_asserts[] = { NULL };

static const char *const javascript_weak[] = {
	".toBeDefined~(", ".toBeTruthy~(",     ".not.toBeNull~(",  ".not.toBeUndefined~(",
	".not.toThrow~(", ".toBeInstanceOf~(", ".toBeGreaterThan", ".toBeLessThan",
	".toThrow()",     "expect.anything~(", "expect.any~(",     "<assert.ok~(",
	"<typeof>",       ".to.exist>",        ".to.be.ok>",       NULL
};
static const char *const python_weak[] = { "is not None>",
					   "assertIsNotNone~(",
					   "isinstance~(",
					   "assertIsInstance~(",
					   "hasattr~(",
					   "callable~(",
					   "<assertGreater",
					   "<assertLess",
					   "<raises~(~Exception~)",
					   "<assertRaises~(~Exception>",
					   NULL };
static const char *const go_weak[] = { ".NotNil~(", ".NotEmpty~(", ".NotPanics~(", "== nil>",
				       NULL };
static const char *const rust_weak[] = { ".is_ok()", ".is_some()", ".is_err()", NULL };
static const char *const java_weak[] = { "<assertNotNull~(",
					 "<assertDoesNotThrow~(",
					 "<assertInstanceOf~(",
					 ".isNotNull~(",
					 ".isGreaterThan",
					 ".isLessThan",
					 ".isNotEqualTo~(",
					 "<assertNotEquals~(",
					 "<assertThrows~(~Exception.",
					 "<assertThrows~(~Throwable.",
					 NULL };
static const char *const c_weak[] = { "!= NULL>", "!= nullptr>", "NOT_NULL", "NO_THROW",
				      "_GE~(",    "_GT~(",       "_LE~(",    "_LT~(",
				      "_NE~(",    "ANY_THROW",   NULL };
static const char *const ruby_weak[] = { "be_truthy>",
					 "not_to be_nil>",
					 "be_present>",
					 "not_to raise_error>",
					 "assert_not_nil>",
					 "refute_nil>",
					 "be_a~(",
					 "be_an~(",
					 NULL };

static const struct idioms all_idioms[] = {
	[DETECT_OTHER] = { no_tests, no_asserts, no_asserts },
	[DETECT_JAVASCRIPT] = { javascript_tests, javascript_asserts, javascript_weak },
	[DETECT_PYTHON] = { python_tests, python_asserts, python_weak },
	[DETECT_GO] = { go_tests, go_asserts, go_weak },
	[DETECT_RUST] = { rust_tests, rust_asserts, rust_weak },
	[DETECT_JAVA] = { java_tests, java_asserts, java_weak },
	[DETECT_C] = { c_tests, c_asserts, c_weak },
	[DETECT_RUBY] = { ruby_tests, ruby_asserts, ruby_weak },
};

/* ---- assertions ---- */

/* These compare constants. The shape of all literals is 0. */
static const char *const constant_shapes[] = {
	"expect(0).toBe(0)",
	"expect(0).toEqual(0)",
	"expect(0).toStrictEqual(0)",
	"expect(0).toBeTruthy()",
	"expect(0).toBeDefined()",
	"expect(0).to.be.0",
	"expect(0).to.equal(0)",
	"expect(0).to.eq(0)",
	"expect(0).toeq(0)",
	"expect(0).tobe(0)",
	"expect(0).tobe0",
	"expect(0).tobe_truthy",
	"assert(0)",
	"assert(0,0)",
	"assert.ok(0)",
	"assert.0(0)",
	"assert.equal(0,0)",
	"assert.strictEqual(0,0)",
	"assert.Equal(t,0,0)",
	"assert.True(t,0)",
	"require.True(t,0)",
	"require.Equal(t,0,0)",
	"assert0",
	"assert0,0",
	"assert0==0",
	"self.assertTrue(0)",
	"self.assertEqual(0,0)",
	"self.assertEquals(0,0)",
	"assert!(0)",
	"assert!(0,0)",
	"assert_eq!(0,0)",
	"assertTrue(0)",
	"assertEquals(0,0)",
	"assertThat(0).isTrue()",
	"Assert.assertTrue(0)",
	"EXPECT_TRUE(0)",
	"ASSERT_TRUE(0)",
	"EXPECT_EQ(0,0)",
	"ASSERT_EQ(0,0)",
	"TEST_ASSERT_TRUE(0)",
	"TEST_ASSERT(0)",
	"REQUIRE(0)",
	"CHECK(0)",
	"assert_equal0,0",
	"assert_equal(0,0)",
	"ck_assert(0)",
	"t.true(0)",
	"t.is(0,0)",
	"expect(0).toBe0",
	NULL,
};

static bool is_constant_shape(const char *shape)
{
	size_t size = strlen(shape);

	size -= size && shape[size - 1] == ';';
	for (const char *const *each = constant_shapes; *each; each++)
		if (strlen(*each) == size && strncmp(*each, shape, size) == 0)
			return true;
	return false;
}

/* An assertion that compares something with itself: expect(x).toBe(x), assertEquals(x, x). */
static bool compares_itself(const char *text)
{
	const char *open = strchr(text, '(');
	const char *middle = open ? strpbrk(open, "),") : NULL;
	const char *second = middle;
	size_t size = middle ? (size_t)(middle - open - 1) : 0;

	if (!size || !detect_match_is_word(open[1]) || memchr(open + 1, '(', size))
		return false;
	if (*middle == ')') {
		second = strchr(middle, '(');
		if (!second)
			return false;
	}
	second++;
	second += strspn(second, " ");
	return strncmp(second, open + 1, size) == 0 && second[size] == ')';
}

bool detect_tests_asserts(const struct detect_line *line, enum detect_language language)
{
	return detect_match_any(all_idioms[language].asserts, line->code);
}

bool detect_tests_is_trivial(const struct detect_line *line, enum detect_language language)
{
	return detect_tests_asserts(line, language) &&
	       (is_constant_shape(line->shape) || compares_itself(line->text) ||
		detect_match("||~true>", line->code, NULL) ||
		detect_match("<or True>", line->code, NULL));
}

/* ---- expectations ---- */

/* Returns how many more brackets are opened than closed. */
static long open_brackets(const char *code)
{
	long count = 0;

	for (; *code; code++) {
		count += strchr("([{", *code) != NULL;
		count -= strchr(")]}", *code) != NULL;
	}
	return count;
}

/* Names of what a test expects, in code and in strings, and rows of cases in attributes. */
static const char *const expected[] = { "<want~:",
					"<want~=",
					"<want@~:",
					"<want@~=",
					"<expected~:",
					"<expected~=",
					"<expected@~:",
					"<expected@~=",
					"<golden~=",
					"<golden@~=",
					"<EXPECTED@~=",
					"<EXPECTED~=",
					"\\@CsvSource~(",
					"\\@ValueSource~(",
					"test_case~(",
					"\\#[case~(",
					NULL };
static const char *const expected_keys[] = { "<want\"~:", "<want'~:", "<expected\"~:",
					     "<expected'~:", NULL };

static bool is_condition(const struct detect_line *line)
{
	return detect_match("<if>", line->code, NULL) == line->code ||
	       detect_match("<unless>", line->code, NULL) == line->code;
}

static bool is_named(const struct detect_line *line)
{
	return !is_condition(line) && (detect_match_any(expected, line->code) ||
				       detect_match_any(expected_keys, line->text));
}

/* Marks what the assertion, or the expected value, before it goes on with. */
static void mark_parts(struct detect_lines *lines, enum detect_language language)
{
	struct detect_line *assertion = NULL;
	long depth = 0;

	for (size_t i = 0; i < lines->count; i++) {
		struct detect_line *line = &lines->items[i];
		bool begins = line->asserts || is_named(line);

		line->part = depth > 0;
		line->expects = begins || line->part || line->row;
		assertion = line->asserts ? line : line->part ? assertion : NULL;
		if (assertion && detect_match_any(all_idioms[language].weak, line->code))
			assertion->weak = true;
		depth += begins || line->part ? open_brackets(line->code) : 0;
		depth = depth < 0 || strlen(line->code) >= DETECT_LINES_COLUMNS ? 0 : depth;
	}
}

/* An assertion, what it goes on with, an expected value with a name, a row of a table, or the
 * condition of a failure. */
static void mark_expectations(struct detect_lines *lines, enum detect_language language)
{
	struct detect_line *before = NULL;

	for (size_t i = 0; i < lines->count; i++)
		lines->items[i].asserts = detect_tests_asserts(&lines->items[i], language);
	mark_parts(lines, language);
	for (size_t i = 0; i < lines->count; i++) {
		struct detect_line *line = &lines->items[i];

		if (!*line->shape)
			continue;
		if (before && line->asserts && is_condition(before)) {
			before->expects = true;
			line->expects = false; /* it only says so */
		}
		before = line;
	}
}

/* ---- tests ---- */

static char *copy(const char *from, size_t size)
{
	char *text = mem_alloc(size + 1);

	memcpy(text, from, size);
	text[size] = '\0';
	return text;
}

/* Returns the first string at or after `at`, or NULL. */
static char *string_at(const char *at)
{
	const char *open = strpbrk(at, "\"'`");
	const char *close = open ? strchr(open + 1, *open) : NULL;

	return close ? copy(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* The name stands on the line of the declaration, or on one of the next if it is long. A table of
 * cases comes before the name. */
static char *find_string(const struct detect_lines *lines, size_t line, const char *from)
{
	enum { NEARBY = 40 };
	const char *text = lines->items[line].text;
	bool table = strstr(text, ".each") != NULL;
	const char *at = from;

	for (size_t i = line; i < lines->count && i < line + NEARBY; i++) {
		const char *after = table ? strstr(i == line ? at : lines->items[i].text, ")(")
					  : at;
		char *name = after ? string_at(after) : NULL;

		if (name)
			return name;
		table = table && !after;
		at = i + 1 < lines->count ? lines->items[i + 1].text : "";
	}
	return mem_dup("");
}

static char *last_word(const char *start, const char *end)
{
	const char *from;

	while (end > start && !detect_match_is_word(end[-1]))
		end--;
	for (from = end; from > start && detect_match_is_word(from[-1]);)
		from--;
	return copy(from, (size_t)(end - from));
}

static char *in_parentheses(const char *at)
{
	const char *end = strchr(at, ')');

	return copy(at, end ? (size_t)(end - at) : strlen(at));
}

/* Returns the statement in which the brackets were opened that are closed here. */
static size_t opened_at(struct detect_lines *lines, size_t line)
{
	long depth = 0;

	for (size_t i = line; detect_lines_step(lines, i); i--) {
		depth += open_brackets(lines->items[i].code);
		if (depth >= 0 || i == 0)
			return i;
	}
	return line;
}

/* A decorator, an attribute or a comment, on a line of its own. */
static bool is_attribute(const struct detect_line *line)
{
	size_t size = strlen(line->code);

	return !*line->shape || (strchr("@#", *line->code) && !strchr(";{}", line->code[size - 1]));
}

/* Returns the first of the attributes, decorators or comments above a declaration. */
static size_t first_above(struct detect_lines *lines, size_t line)
{
	while (line > 0 && detect_lines_step(lines, line - 1)) {
		size_t above = line - 1;
		char first = *lines->items[above].code;

		if (first == ')' || first == ']')
			above = opened_at(lines, above);
		if (!is_attribute(&lines->items[above]))
			break;
		line = above;
	}
	return line;
}

static bool has_attribute(struct detect_lines *lines, size_t first, size_t line,
			  const char *const *attributes)
{
	for (size_t i = line + 1; i-- > first && detect_lines_step(lines, i);)
		if (detect_match_any(attributes, lines->items[i].code))
			return true;
	return false;
}

static const struct declaration *declared_at(struct detect_lines *lines,
					     enum detect_language language, size_t line,
					     const char **ret_start, const char **ret_end)
{
	const struct declaration *each = all_idioms[language].declarations;

	for (; *each->pattern; each++) {
		*ret_start = detect_match(each->pattern, lines->items[line].code, ret_end);
		if (*ret_start &&
		    (!each->attributes ||
		     has_attribute(lines, first_above(lines, line), line, each->attributes)))
			return each;
	}
	return NULL;
}

static char *name_of(const struct detect_lines *lines, size_t line,
		     const struct declaration *declaration, const char *start, const char *end)
{
	const struct detect_line *at = &lines->items[line];
	const char *text = at->text + (end - at->code);

	switch (declaration->name) {
	case IN_STRING:
		return find_string(lines, line, text);
	case IN_PARENTHESES:
		return in_parentheses(text);
	case UNNAMED:
		return mem_dup("");
	default:
		return last_word(start, end);
	}
}

static void count_assertions(const struct detect_lines *lines, enum detect_language language,
			     struct detect_test *test)
{
	for (size_t i = test->first; i < test->end; i++) {
		const struct detect_line *line = &lines->items[i];

		if (!line->asserts || detect_tests_is_trivial(line, language))
			continue;
		test->assertions++;
		test->weak += line->weak;
	}
}

void detect_tests_find(struct detect_lines *lines, enum detect_language language,
		       struct detect_tests *ret_tests)
{
	*ret_tests = (struct detect_tests){ 0 };
	mark_expectations(lines, language);
	for (size_t i = 0; i < lines->count; i++) {
		const char *start, *end;
		const struct declaration *found = declared_at(lines, language, i, &start, &end);
		struct detect_test *test;

		if (!found)
			continue;
		ret_tests->items = mem_extend(ret_tests->items, ret_tests->count, sizeof *test);
		test = &ret_tests->items[ret_tests->count++];
		*test = (struct detect_test){ .name = name_of(lines, i, found, start, end),
					      .first = first_above(lines, i),
					      .declared = i,
					      .end = detect_lines_block(lines, language, i) };
		count_assertions(lines, language, test);
	}
}

void detect_tests_release(struct detect_tests *tests)
{
	for (size_t i = 0; i < tests->count; i++)
		free(tests->items[i].name);
	free(tests->items);
	*tests = (struct detect_tests){ 0 };
}
