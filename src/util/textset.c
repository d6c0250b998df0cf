/* A set of texts: see textset.h. */
#include "util/textset.h"

#include "util/mem.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool textset_has(const struct textset *set, const char *text)
{
	return tfind(text, &set->root, by_text);
}

bool textset_add(struct textset *set, const char *text)
{
	if (textset_has(set, text))
		return false;
	if (!tsearch(mem_dup(text), &set->root, by_text))
		abort();
	return true;
}

void textset_release(struct textset *set)
{
	tdestroy(set->root, free);
	set->root = NULL;
}
