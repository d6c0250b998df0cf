/* Mutants of a line: see mutant_line.h. */
#include "mutant/mutant_line.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MUTANTS = 20000 };

static uint64_t hash(uint64_t sum, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u; /* FNV-1a */
	return sum * 0x100000001b3u;
}

static uint64_t rank_of(const struct mutant_line *line, const char *at, const char *text)
{
	uint64_t sum = hash(0xcbf29ce484222325u, line->text->path, strlen(line->text->path));

	sum = hash(sum, line->code, strlen(line->code));
	sum = hash(sum, at, strlen(at));
	sum = hash(sum, text, strlen(text));
	return sum ^ (sum >> 29);
}

char *mutant_line_copy(const struct mutant_line *line, const char *at, size_t size)
{
	char *copy = mem_alloc(size + 1);

	memcpy(copy, line->text->data + line->offset + (at - line->code), size);
	for (size_t i = 0; i < size; i++)
		copy[i] = copy[i] ? copy[i] : ' ';
	copy[size] = '\0';
	return copy;
}

void mutant_line_add(struct mutant_line *line, const char *at, size_t size, char *text,
		     const char *says)
{
	struct mutant_list *mutants = line->mutants;

	if (mutants->count >= MOST_MUTANTS) {
		free(text);
		return;
	}
	mutants->items = mem_extend(mutants->items, mutants->count, sizeof *mutants->items);
	mutants->items[mutants->count++] =
		(struct mutant){ .path = mem_dup(line->text->path),
				 .offset = line->offset + (size_t)(at - line->code),
				 .size = size,
				 .line = line->number,
				 .before = mutant_line_copy(line, at, size),
				 .text = text,
				 .says = says,
				 .rank = rank_of(line, at, text) };
	line->found++;
}

size_t mutant_line_word(const char *at)
{
	size_t size = 0;

	while (detect_match_is_word(at[size]))
		size++;
	return size;
}

bool mutant_line_has_word(const char *at, const char *word)
{
	return mutant_line_word(at) == strlen(word) && strncmp(at, word, strlen(word)) == 0;
}
