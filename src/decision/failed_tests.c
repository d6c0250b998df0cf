/* Names of failed tests: see failed_tests.h. */
#include "decision/failed_tests.h"

#include "decision/lines.h"

#include <stdbool.h>
#include <string.h>

enum { LINE_BYTES = 512, NAME_BYTES = 120 };

struct reading {
	struct list *names;
	size_t indent; /* of the last failure that may be in a group */
	bool ctest;    /* its list of failed tests has begun */
};

/* A part of a line. */
struct part {
	const char *text;
	size_t size;
};

static struct part part_until(const char *text, const char *end)
{
	return (struct part){ text, end ? (size_t)(end - text) : strlen(text) };
}

/* Cuts a duration such as " (1.2ms)" or " 5ms" off the end. */
static struct part without_time(struct part name)
{
	size_t size = name.size;

	if (size && name.text[size - 1] == ')')
		size--;
	if (size < 2 || name.text[size - 1] != 's')
		return name;
	size--;
	if (name.text[size - 1] == 'm')
		size--;
	if (size && name.text[size - 1] == ' ')
		size--;

	size_t end = size;

	while (size && (lines_digit(name.text[size - 1]) || name.text[size - 1] == '.'))
		size--;
	if (size == end)
		return name;
	if (size && name.text[size - 1] == '(')
		size--;
	if (!size || name.text[size - 1] != ' ')
		return name;
	name.size = size - 1;
	return name;
}

static bool begins(const char *line, const char *begin)
{
	return strncmp(line, begin, strlen(begin)) == 0;
}

/* "not ok 1 - NAME", also in a subtest. */
static struct part of_tap(const char *line)
{
	const char *name = begins(line, "not ok ") ? strstr(line, " - ") : NULL;

	if (!name || lines_find(name, " # todo") || lines_find(name, " # skip"))
		return (struct part){ 0 };
	return part_until(name + 3, NULL);
}

/* node's other format, vitest and jest: a cross before the name, with a duration after it. */
static struct part of_cross(const char *line)
{
	static const char *const crosses[] = { "\xe2\x9c\x96 ", "\xe2\x9c\x95 ", "\xc3\x97 ",
					       "\xe2\x9c\x97 " };

	for (size_t i = 0; i < sizeof crosses / sizeof *crosses; i++)
		if (begins(line, crosses[i]) && !strstr(line, "failing tests:"))
			return without_time(part_until(line + strlen(crosses[i]), NULL));
	return (struct part){ 0 };
}

/* pytest: "FAILED file::NAME - reason"; unittest: "FAIL: NAME (class)". */
static struct part of_python(const char *line)
{
	const char *rest = begins(line, "FAILED ")  ? line + 7
			   : begins(line, "ERROR ") ? line + 6
						    : NULL;

	if (rest && strstr(rest, "::"))
		return part_until(rest, strstr(rest, " - "));
	rest = begins(line, "FAIL: ") ? line + 6 : begins(line, "ERROR: ") ? line + 7 : NULL;
	if (rest && begins(rest, "test") && strchr(rest, '('))
		return part_until(rest, NULL);
	return (struct part){ 0 };
}

/* go: "--- FAIL: NAME (0.00s)"; cargo: "test NAME ... FAILED". */
static struct part of_compiled(const char *line)
{
	const char *end = strstr(line, " ... FAILED");

	if (begins(line, "--- FAIL: "))
		return without_time(part_until(line + 10, NULL));
	if (begins(line, "test ") && end)
		return part_until(line + 5, end);
	return (struct part){ 0 };
}

/* "[ERROR] NAME -- Time elapsed: 0.02 s <<< FAILURE!", but not the count of a class. */
static struct part of_maven(const char *line)
{
	const char *end = strstr(line, "Time elapsed: ");

	if (!begins(line, "[ERROR] ") || !end || !strstr(end, " <<< ") ||
	    strstr(line, "Tests run:"))
		return (struct part){ 0 };
	while (end > line + 8 && strchr(" -", end[-1]))
		end--;
	return part_until(line + 8, end);
}

/* "3 - NAME (Failed)", in a list at the end. */
static struct part of_ctest(struct reading *reading, const char *line)
{
	const char *name = line + strspn(line, "0123456789");
	const char *end = strrchr(line, '(');

	reading->ctest |= begins(line, "The following tests FAILED:");
	if (!reading->ctest || name == line || !begins(name, " - ") || !end || end < name + 4)
		return (struct part){ 0 };
	return part_until(name + 3, end - 1);
}

static void add(struct reading *reading, struct part name)
{
	char text[NAME_BYTES];
	struct lines_line line = { name.text, name.size };

	if (name.size && lines_clean(&line, text, sizeof text, NULL) &&
	    reading->names->count < FAILED_TESTS_MOST && !list_has(reading->names, text))
		list_add(reading->names, text);
}

/* Returns whether a failure is a group: it is less indented than the failures in it, before. */
static bool is_group(struct reading *reading, size_t indent)
{
	bool group = indent < reading->indent;

	reading->indent = indent;
	return group;
}

static void read_line(struct reading *reading, const char *line)
{
	size_t indent = strspn(line, " ");
	struct part grouped = of_tap(line + indent);

	line += indent;
	if (!grouped.size)
		grouped = of_cross(line);
	if (grouped.size) {
		if (!is_group(reading, indent))
			add(reading, grouped);
		return;
	}
	add(reading, of_python(line));
	add(reading, of_compiled(line));
	add(reading, of_maven(line));
	add(reading, of_ctest(reading, line));
}

void failed_tests_read(const char *output, size_t size, struct list *names)
{
	struct reading reading = { .names = names };
	const char *end = output + size;
	struct lines_line raw;
	char line[LINE_BYTES];

	while (names->count < FAILED_TESTS_MOST && lines_next(&output, end, &raw))
		if (lines_clean(&raw, line, sizeof line, NULL))
			read_line(&reading, line);
}
