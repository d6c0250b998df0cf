/* Finding mutants: see mutant_find.h. */
#include "mutant/mutant_find.h"

#include "detect/detect_match.h"
#include "mutant/mutant_line.h"

#include <string.h>

/* Reports whether the line only names what the file uses or is. */
static bool is_declaration(enum detect_language language, const char *code)
{
	static const char *const words[] = { "import",    "from",  "package", "use",
					     "using",     "mod",   "extern",  "require",
					     "interface", "class", "struct",  "enum" };

	if (language == DETECT_C && *code == '#')
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (mutant_line_has_word(code, words[i]))
			return true;
	return *code == '@' || strncmp(code, "#[", 2) == 0;
}

static bool is_changed(const struct mutant_find_range *changed, size_t count, size_t number)
{
	for (size_t i = 0; i < count; i++)
		if (number >= changed[i].first && number - changed[i].first < changed[i].count)
			return true;
	return false;
}

/* Returns the end of the tests that begin at this line, or the line. Rust has them in its source
 * files. */
static size_t skip_tests(struct detect_lines *lines, enum detect_language language, size_t from)
{
	return language == DETECT_RUST &&
			       detect_match("\\#[cfg(test)]", lines->items[from].code, NULL)
		       ? detect_lines_block(lines, language, from + 1)
		       : from;
}

static void find_in_lines(const struct mutant_text *text, enum detect_language language,
			  struct detect_lines *lines, const struct mutant_find_range *changed,
			  size_t count, struct mutant_list *mutants)
{
	const char *at = text->data;
	const char *previous = "";

	for (size_t i = 0, tests = 0; i < lines->count; i++) {
		const struct detect_line *code = &lines->items[i];
		const char *end = memchr(at, '\n', text->size - (size_t)(at - text->data));
		struct mutant_line line = { .text = text,
					    .language = language,
					    .code = code->code,
					    .previous = previous,
					    .offset = (size_t)(at - text->data) + code->indent,
					    .number = i + 1,
					    .mutants = mutants };

		if (tests <= i && i + 1 < lines->count)
			tests = skip_tests(lines, language, i);
		if (tests <= i && is_changed(changed, count, i + 1) &&
		    !is_declaration(language, code->code)) {
			mutant_line_operators(&line);
			mutant_line_statement(&line);
		}
		previous = *code->shape ? code->code : previous;
		at = end ? end + 1 : at;
	}
}

void mutant_find_all(const struct mutant_text *text, const struct mutant_find_range *changed,
		     size_t count, struct mutant_list *mutants)
{
	const struct detect_text source = { .data = text->data, .size = text->size };
	struct detect_file file = detect_file_of(text->path);
	struct detect_lines lines;

	if (file.language == DETECT_OTHER || file.test || file.recorded)
		return;
	detect_lines_read(&source, file.language, &lines);
	find_in_lines(text, file.language, &lines, changed, count, mutants);
	detect_lines_release(&lines);
}
