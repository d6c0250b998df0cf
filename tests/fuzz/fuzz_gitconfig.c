// sources: src/fence/gitconfig.c src/util/mem.c
/* The configuration of a repository in the project. */
#include "fuzz.h"

#include "fence/gitconfig.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void check(void *context, bool hooks, const char *value)
{
	(void)context;
	(void)hooks;
	if (!*value || strchr(value, '\n') || strchr(value, '"'))
		abort();
}

void fuzz_gitconfig(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	gitconfig_each_path(text, check, NULL);
}

FUZZ_TARGET(fuzz_gitconfig)
