"""The mutator: which changes it makes, and how it knows them again. (It is run by hand.)"""

import importlib.util
import os

from harness import equal, expect

_path = os.path.join(os.path.dirname(__file__), "../mutate/operators.py")
_spec = importlib.util.spec_from_file_location("operators", _path)
operators = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(operators)

SOURCE = """/* if (comments < are) not changed */
static const char *const names[] = { "a,b", "c" };

int open_it(const char *path, size_t size)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW);

	if (fd < 0 || !size)
		return -1;
	for (size_t i = 0; i <= size; i++)
		take("x < y", i + 1);
	if (fsync(fd) < 0)
		return error_sys(err, "sync '%s'", path);
	return 0;
}
"""


def changes(source):
    return {(mutant.operator, mutant.change()[1]) for mutant in operators.of_source("x.c", source)}


def test_each_operator_makes_its_change_and_no_comment_or_text_is_changed(t):
    equal(sorted(changes(SOURCE)), sorted({
        ("rows", 'static const char *const names[] = { "c" };'),
        ("rows", 'static const char *const names[] = { "a,b", };'),
        ("flags", "AUTO_FD fd = open(path, O_RDONLY | 0);"),
        ("logic", "if (fd < 0 && !size)"),
        ("conditions", "if (!(fd < 0 || !size))"),
        ("negations", "if (fd < 0 || size)"),
        ("swallowed", "return 0;"),
        ("relations", "for (size_t i = 0; i < size; i++)"),
        ("steps", "for (size_t i = 1; i <= size; i++)"),
        ("steps", 'take("x < y", i + 0);'),
        ("calls", ";"),
        ("relations", "if (fsync(fd) <= 0)"),
        ("conditions", "if (!(fsync(fd) < 0))"),
        ("syncs", "if (0 < 0)"),
        ("swallowed", 'return (error_sys(err, "sync \'%s\'", path), 0);'),
    }), "the changes")


def test_a_mutant_is_the_same_after_an_edit_elsewhere(t):
    before = {mutant.identity(): mutant.order(1) for mutant in operators.of_source("x.c", SOURCE)}
    moved = "int other;\n\n" + SOURCE.replace("/* if", "/* If")
    equal({mutant.identity(): mutant.order(1) for mutant in operators.of_source("x.c", moved)}, before, "the mutants")
    expect(all(mutant.mutated() != SOURCE for mutant in operators.of_source("x.c", SOURCE)), "every mutant changes something")


def test_rows_of_named_tables_and_of_texts_are_deleted_one_by_one(t):
    rows = [mutant.change() for mutant in operators.of_table("x.c", SOURCE, ["names"])]
    equal(len(rows), 2, "rows of the table")
    lines = [mutant.mutated() for mutant in operators.of_lines("x.txt", "# a\n\nb 1\nc 2\n", r"^(?!#|\n).*\n")]
    equal(lines, ["# a\n\nc 2\n", "# a\n\nb 1\n"], "the texts")


def test_descriptors_are_not_compared_with_zero(t):
    source = "void end(struct a *a)\n{\n\tif (a->held >= 0)\n\t\tfd_close(&a->held);\n\tif (a->size >= 0)\n\t\tgo(a);\n}\n"
    relations = {after for operator, after in changes(source) if operator == "relations"}
    equal(relations, {"if (a->size > 0)"}, "the relations")
