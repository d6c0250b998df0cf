/* Mutants of source code, and which files are broken to prove a check. */
#include "unit.h"

#include "mutant/breakage.h"
#include "mutant/mutant_find.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

/* All mutants of the lines from `first`, in the order in which they are found: what the lines
 * become, separated by " | ". The caller frees it. */
static char *mutants_of(const char *path, const char *source, size_t first, size_t count)
{
	const struct mutant_text text = { path, source, strlen(source) };
	const struct mutant_find_range changed = { first, count };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	struct mutant_list mutants = { 0 };

	mutant_find_all(&text, &changed, 1, &mutants);
	for (size_t i = 0; i < mutants.count; i++) {
		size_t size;
		AUTO_FREE char *whole = mutant_apply(&mutants.items[i], &text, &size);
		const char *line = whole;

		for (size_t skip = 1; skip < mutants.items[i].line; skip++)
			line = strchr(line, '\n') + 1;
		line += strspn(line, " \t");
		buffer_printf(&out, "%s%.*s", i ? " | " : "", (int)strcspn(line, "\n"), line);
	}
	mutant_release(&mutants);
	return mem_dup(buffer_text(&out));
}

static bool has(const char *path, const char *source, const char *expected)
{
	AUTO_FREE char *found = mutants_of(path, source, 1, SIZE_MAX);

	if (strcmp(found, expected) != 0)
		fprintf(stderr, "%s: %s\n\tfound    %s\n\texpected %s\n", path, source, found,
			expected);
	return strcmp(found, expected) == 0;
}

static const struct row {
	const char *path, *source, *expected;
} operators[] = {
	{ "a.js", "x = a <= b", "x = a < b" },
	{ "a.js", "x = a === b", "x = a !== b" },
	{ "a.py", "x = a == b", "x = a != b" },
	{ "a.go", "x = a < b && c > d",
	  "x = a <= b && c > d | x = a < b || c > d | x = a < b && c >= d" },
	{ "a.py", "x = a and b or c", "x = a or b or c | x = a and b and c" },
	{ "a.rb", "x = a || b", "x = a && b" },
	{ "a.c", "x = a + b - c;", "x = a - b - c; | x = a + b + c;" },
	{ "a.java", "x = a*b;", "x = a/b;" },
	{ "a.rs", "let x = a % b;", "let x = a * b;" },
	{ "a.py", "x = a // b", "x = a * b" },
	{ "a.py", "x = a is None", "x = a is not None" },
	{ "a.py", "x = a is not None", "x = a is None" },
	{ "a.js", "let x = 9;", "let x = 10;" },
	{ "a.ts", "const x = [0, true];", "const x = [1, true]; | const x = [0, false];" },
	{ "a.py", "x = True", "x = False" },
};

/* Text that looks like an operator or a number, but is another thing. */
static const struct row others[] = {
	{ "a.ts", "const m = new Map<string, Set<T>>();", "" },
	{ "a.js", "const f = (a) => g(a);", "" },
	{ "a.jsx", "const v = <div a={b}>text</div>;", "" },
	{ "a.rs", "let f = move || g();", "" },
	{ "a.rs", "fn f<'a>(x: &'a str) -> Vec<u8> {", "" },
	{ "a.go", "ch <- v", "" },
	{ "a.go", "func f(p *T) {", "" },
	{ "a.c", "char *p = &q;", "" },
	{ "a.cpp", "T &&x = f(y);", "" },
	{ "a.c", "#include <stdio.h>", "" },
	{ "a.c", "#define SIZE 10", "" },
	{ "a.py", "def f(*args, **options):", "" },
	{ "a.py", "x = -y", "" },
	{ "a.py", "import a1", "" },
	{ "a.py", "x = \"a + 1\" # a + 1", "" },
	{ "a.js", "x = 'a < b'; // 1 + 2", "" },
	{ "a.js", "x = `${a + 1}`", "" },
	{ "a.js", "/* 1 + 2 */", "" },
	{ "a.js", "x = 1.5 + 0x10", "x = 1.5 - 0x10" },
	{ "a.js", "x = a1 + 'b'", "" },
	{ "a.py", "@retry(3)", "" },
	{ "a.txt", "a + 1", "" },
	{ "tests/a.js", "x = a + 1", "" },
	{ "a_test.go", "x = a + 1", "" },
	{ "test_a.py", "x = a + 1", "" },
};

static const struct row statements[] = {
	{ "a.js", "if (f(a)) {", "if (!(f(a))) {" },
	{ "a.js", "} else if (f(a)) {", "} else if (!(f(a))) {" },
	{ "a.js", "if (f(a,", "" },
	{ "a.java", "if (a.isEmpty()) return;", "if (!(a.isEmpty())) return;" },
	{ "a.c", "if (p)", "if (!(p))" },
	{ "a.py", "if f(a):", "if not (f(a)):" },
	{ "a.py", "elif a:", "elif not (a):" },
	{ "a.go", "if ok {", "if !(ok) {" },
	{ "a.go", "if err := f(); ok {", "" },
	{ "a.rs", "if a.ok() {", "if !(a.ok()) {" },
	{ "a.rs", "if let Some(x) = y {", "" },
	{ "a.rb", "unless a.ok?", "unless !(a.ok?)" },
	{ "a.js", "return f(a);", "return undefined;" },
	{ "a.py", "return f(a)", "return None" },
	{ "a.py", "return f(a,", "" },
	{ "a.py", "return None", "" },
	{ "a.rs", "return f(a);", "return Default::default();" },
	{ "a.rb", "return a", "return nil" },
	{ "a.js", "return 'a';", "return undefined;" },
	{ "a.js", "f(a);", ";" },
	{ "a.js", "f(a)", "" },
	{ "a.js", "this.a = b;", ";" },
	{ "a.py", "self.a = b", "pass" },
	{ "a.py", "f(a)", "pass" },
	{ "a.py", "a = b", "" },
	{ "a.py", "print(a)", "" },
	{ "a.c", "p->next = q;", ";" },
	{ "a.c", "int x = f(a);", "" },
	{ "a.c", "i++;", ";" },
	{ "a.go", "f(a)", "" },
	{ "a.rb", "f(a)", "nil" },
	{ "a.java", "list.add(x);", ";" },
	{ "a.rs", "v.push(x);", ";" },
};

static void check_all(const char *sentence, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(sentence, has(rows[i].path, rows[i].source, rows[i].expected));
}

static void a_part_of_a_statement_is_no_statement(void)
{
	CHECK("a part of a statement is not removed", has("a.py", "x = g(\nf(a)\n)", ""));
	CHECK("a part of a statement is not removed", has("a.js", "x = [\nf(a);\n]", ""));
}

static void only_changed_lines_are_mutated(void)
{
	AUTO_FREE char *second = mutants_of("a.js", "x = a + b\nx = c + d\nx = e + f\n", 2, 1);
	AUTO_FREE char *none = mutants_of("a.js", "x = a + b\n", 2, 1);

	CHECK("only changed lines are mutated", strcmp(second, "x = c - d") == 0);
	CHECK("only changed lines are mutated", strcmp(none, "") == 0);
}

static void tests_in_a_rust_file_are_not_mutated(void)
{
	CHECK("tests in a Rust file are not mutated",
	      has("a.rs", "#[cfg(test)]\nmod tests {\nlet x = a + b;\n}\nlet y = a + b;\n",
		  "let y = a - b;"));
}

static void strings_of_several_lines_are_not_mutated(void)
{
	CHECK("strings of several lines are not mutated",
	      has("a.py", "\"\"\"\nx = a + b\n\"\"\"\n", ""));
	CHECK("strings of several lines are not mutated", has("a.c", "/*\nx = a + b;\n*/", ""));
}

/* The chosen mutants: lines and texts. The caller frees it. */
static char *choose(const char *source, size_t most)
{
	const struct mutant_text text = { "a.js", source, strlen(source) };
	const struct mutant_find_range changed = { 1, SIZE_MAX };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	struct mutant_list mutants = { 0 };

	mutant_find_all(&text, &changed, 1, &mutants);
	mutant_choose(&mutants, most);
	for (size_t i = 0; i < mutants.count; i++)
		buffer_printf(&out, "%zu:%s ", mutants.items[i].line, mutants.items[i].text);
	mutant_release(&mutants);
	return mem_dup(buffer_text(&out));
}

static void each_line_has_its_turn(void)
{
	const char *source = "x = a + b + c + d + e\nx = f * g\nx = h && i\n";
	AUTO_FREE char *three = choose(source, 3);
	AUTO_FREE char *all = choose(source, 100);
	AUTO_FREE char *again = choose(source, 100);

	CHECK("each line has its turn before one has a second",
	      strstr(three, "1:") && strstr(three, "2:") && strstr(three, "3:"));
	CHECK("there are no more than were asked for", strlen(three) < strlen(all));
	CHECK("the choice is always the same", strcmp(all, again) == 0);
	CHECK("fewer mutants are the first of more", strncmp(all, three, strlen(three)) == 0);
}

static void code_that_cannot_be_read_is_recognised(void)
{
	const char *broken = "  File \"a.py\", line 3\nSyntaxError: invalid syntax\n";
	const char *failed = "FAILED test_a.py::test_a - assert 1 == 2\n";

	CHECK("code that cannot be read is recognised", mutant_is_invalid(broken, strlen(broken)));
	CHECK("a failed test is not taken for it", !mutant_is_invalid(failed, strlen(failed)));
}

static void source_code_is_broken_and_nothing_else(void)
{
	CHECK("source code is broken", breakage_of("src/a.ts") == BREAKAGE_CODE);
	CHECK("source code is broken", breakage_of("lib/a.php") == BREAKAGE_CODE);
	CHECK("a script is told from other code", breakage_of("bin/a.sh") == BREAKAGE_SCRIPT);
	CHECK("tests are not broken", breakage_of("tests/a.ts") == BREAKAGE_NONE);
	CHECK("tests are not broken", breakage_of("src/a.test.ts") == BREAKAGE_NONE);
	CHECK("other files are not broken", breakage_of("README.md") == BREAKAGE_NONE);
	CHECK("other files are not broken", breakage_of("package.json") == BREAKAGE_NONE);
	CHECK("other files are not broken", breakage_of("noxfile.py") == BREAKAGE_NONE);
}

int main(void)
{
	check_all("an operator or constant is replaced", operators,
		  sizeof operators / sizeof *operators);
	check_all("what only looks like an operator stays", others, sizeof others / sizeof *others);
	check_all("a statement is changed as a whole", statements,
		  sizeof statements / sizeof *statements);
	a_part_of_a_statement_is_no_statement();
	only_changed_lines_are_mutated();
	tests_in_a_rust_file_are_not_mutated();
	strings_of_several_lines_are_not_mutated();
	each_line_has_its_turn();
	code_that_cannot_be_read_is_recognised();
	source_code_is_broken_and_nothing_else();
	return unit_failures > 0;
}
