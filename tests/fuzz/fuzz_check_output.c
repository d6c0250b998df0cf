// sources: src/decision/check_output.c src/decision/excerpt.c src/decision/excerpt_signature.c
// sources: src/decision/check_summary.c src/decision/failed_tests.c
// sources: src/decision/lines.c
/* A check's output: read, quoted and compared. */
#include "fuzz.h"

#include "decision/check_output.h"
#include "decision/check_summary.h"
#include "decision/excerpt.h"
#include "decision/failed_tests.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Every line is a quotation or our own, and contains no terminal control. */
static void check_excerpt(const char *text, size_t size)
{
	bool start = true;

	for (size_t i = 0; i < size; i++) {
		if (start && strncmp(text + i, "> ", 2) != 0 && strncmp(text + i, "[... ", 5) != 0)
			abort();
		start = text[i] == '\n';
		if (((unsigned char)text[i] < 0x20 && !start) || text[i] == 0x7f)
			abort();
	}
	if (!start)
		abort();
}

/* One line within its limit, without terminal controls. */
static void check_line(const char *line, size_t used, size_t room)
{
	if (used >= room || strlen(line) != used)
		abort();
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			abort();
}

/* A command whose output may go elsewhere has no summary, whatever else it says. */
static void check_command(const char *text, size_t size)
{
	AUTO_FREE char *command = mem_zero(size + 1);

	memcpy(command, text, size);
	if (check_summary_expected(command) && strpbrk(command, "|<>`$"))
		abort();
}

void fuzz_check_output(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t max = size % 2 ? size % 700 : EXCERPT_MAX;
	size_t room = 1 + max % 300;
	AUTO_FREE char *line = mem_zero(room);
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct check_output check;

	check_output_read(text, size, &check);
	if (check.passed < 0 || check.failed < 0 ||
	    (check.vacuous && check.passed + check.failed > 0))
		abort();
	if (check.total < -1 || (check.total > 0 && !check.counted))
		abort();
	check_command(text, size);
	excerpt_make(&out, text, size, max);
	if (out.used > max)
		abort();
	check_excerpt(buffer_text(&out), out.used);
	check_line(line, excerpt_first_line(buffer_text(&out), line, room), room);
	check_line(line, excerpt_last_line(text, size, line, room), room);

	__attribute__((cleanup(list_release))) struct list names = { 0 };

	failed_tests_read(text, size, &names);
	if (names.count > FAILED_TESTS_MOST)
		abort();
	for (size_t i = 0; i < names.count; i++)
		check_line(names.items[i], strlen(names.items[i]), 121);
	if (excerpt_signature(text, size) != excerpt_signature(text, size))
		abort();
}

FUZZ_TARGET(fuzz_check_output)
