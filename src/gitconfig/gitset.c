/* A set of texts: see gitset.h. */
#include "gitconfig/gitset.h"

#include "util/mem.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool gitset_has(const struct gitset *set, const char *text)
{
	return tfind(text, &set->root, by_text);
}

bool gitset_add(struct gitset *set, const char *text)
{
	if (gitset_has(set, text))
		return false;
	if (!tsearch(mem_dup(text), &set->root, by_text))
		abort();
	return true;
}

void gitset_release(struct gitset *set)
{
	tdestroy(set->root, free);
	set->root = NULL;
}
