// sources: src/mutant/mutant.c src/mutant/mutant_find.c src/mutant/mutant_line.c
// sources: src/mutant/mutant_operators.c src/mutant/mutant_statement.c
// sources: src/detect/detect_file.c src/detect/detect_lines.c src/detect/detect_match.c
// sources: src/project/check_files.c src/project/path_group.c
/* A source file: its path, a NUL, and its text. */
#include "fuzz.h"

#include "mutant/mutant_find.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* A mutant changes one line, and nothing around it. */
static void check(const struct mutant *mutant, const struct mutant_text *text)
{
	size_t size;
	AUTO_FREE char *result = mutant_apply(mutant, text, &size);
	size_t after = text->size - mutant->offset - mutant->size;

	if (size != text->size - mutant->size + strlen(mutant->text) ||
	    memcmp(result, text->data, mutant->offset) != 0 ||
	    memcmp(result + size - after, text->data + text->size - after, after) != 0 ||
	    strcmp(mutant->before, mutant->text) == 0 || strchr(mutant->before, '\n'))
		abort();
}

void fuzz_mutant(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	size_t length = strnlen(bytes, size);
	AUTO_FREE char *path = mem_format("%.*s", (int)length, bytes);
	const size_t rest = length < size ? length + 1 : length;
	const struct mutant_text text = { path, bytes + rest, size - rest };
	const struct mutant_find_range changed = { 1, SIZE_MAX };
	struct mutant_list mutants = { 0 };

	mutant_find_all(&text, &changed, 1, &mutants);
	for (size_t i = 0; i < mutants.count; i++)
		check(&mutants.items[i], &text);
	mutant_choose(&mutants, 10);
	if (mutants.count > 10)
		abort();
	mutant_release(&mutants);
	mutant_is_invalid(text.data, text.size);
}

FUZZ_TARGET(fuzz_mutant)
