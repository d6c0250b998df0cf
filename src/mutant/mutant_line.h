/* Finds the mutants of one line: in its operators and constants, and as a statement. */
#ifndef MUTANT_MUTANT_LINE_H
#define MUTANT_MUTANT_LINE_H

#include "detect/detect_lines.h"
#include "mutant/mutant.h"

/* A line of a file, and where its mutants go. */
struct mutant_line {
	const struct mutant_text *text;
	enum detect_language language;
	const char *code;     /* without comments and the contents of strings (detect_lines.h) */
	const char *previous; /* the code of the line before it that has any, or "" */
	size_t offset;        /* of the code in the text */
	size_t number;        /* from 1 */
	size_t found;         /* mutants of this line so far */
	struct mutant_list *mutants;
};

/* Adds a mutant that replaces some bytes of the code. Takes the text, which is on the heap. */
void mutant_line_add(struct mutant_line *line, const char *at, size_t size, char *text,
		     const char *says);

/* Operators and constants. */
void mutant_line_operators(struct mutant_line *line);

/* A condition, a returned value, or the whole statement. */
void mutant_line_statement(struct mutant_line *line);

/* The text of the file at a place in the code, on the heap. */
char *mutant_line_copy(const struct mutant_line *line, const char *at, size_t size);

/* Returns the length of the word at a place in the code, or 0. */
size_t mutant_line_word(const char *at);

/* Reports whether the code at this place begins with this word. */
bool mutant_line_has_word(const char *at, const char *word);

#endif
