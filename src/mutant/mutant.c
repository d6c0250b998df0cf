/* Mutants of source code: see mutant.h. */
#include "mutant/mutant.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- choosing ---- */

static int by_rank(const void *a, const void *b)
{
	const struct mutant *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	if (order == 0)
		order = (one->line > other->line) - (one->line < other->line);
	if (order == 0)
		order = (one->rank > other->rank) - (one->rank < other->rank);
	return order ? order : (one->offset > other->offset) - (one->offset < other->offset);
}

static int by_turn(const void *a, const void *b)
{
	const struct mutant *one = a, *other = b;
	int order = (one->turn > other->turn) - (one->turn < other->turn);

	if (order == 0)
		order = (one->rank > other->rank) - (one->rank < other->rank);
	return order ? order : by_rank(a, b);
}

static bool on_one_line(const struct mutant *one, const struct mutant *other)
{
	return one->line == other->line && strcmp(one->path, other->path) == 0;
}

static void release_one(struct mutant *mutant)
{
	free(mutant->path);
	free(mutant->before);
	free(mutant->text);
}

void mutant_choose(struct mutant_list *mutants, size_t most)
{
	struct mutant *items = mutants->items;

	if (!mutants->count)
		return;
	qsort(items, mutants->count, sizeof *items, by_rank);
	for (size_t i = 0; i < mutants->count; i++)
		items[i].turn = i && on_one_line(&items[i - 1], &items[i]) ? items[i - 1].turn + 1
									   : 0;
	qsort(items, mutants->count, sizeof *items, by_turn);
	while (mutants->count > most)
		release_one(&items[--mutants->count]);
}

char *mutant_apply(const struct mutant *mutant, const struct mutant_text *text, size_t *ret_size)
{
	size_t added = strlen(mutant->text);
	size_t after = mutant->offset + mutant->size;
	char *result = mem_alloc(text->size - mutant->size + added + 1);

	memcpy(result, text->data, mutant->offset);
	memcpy(result + mutant->offset, mutant->text, added);
	memcpy(result + mutant->offset + added, text->data + after, text->size - after);
	*ret_size = text->size - mutant->size + added;
	result[*ret_size] = '\0';
	return result;
}

void mutant_release(struct mutant_list *mutants)
{
	for (size_t i = 0; i < mutants->count; i++)
		release_one(&mutants->items[i]);
	free(mutants->items);
	*mutants = (struct mutant_list){ 0 };
}

/* ---- what became of one ---- */

/* As compilers and interpreters say that they cannot read a file. */
static const char *const complaints[] = {
	"SyntaxError",         "IndentationError", "syntax error",       "could not compile",
	"COMPILATION ERROR",   "[build failed]",   "cannot find symbol", "error TS",
	"error: expected",     "error[E",          "compilation failed", "Compilation failed",
	"error: incompatible",
};

bool mutant_is_invalid(const char *output, size_t size)
{
	for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
		if (memmem(output, size, complaints[i], strlen(complaints[i])))
			return true;
	return false;
}
