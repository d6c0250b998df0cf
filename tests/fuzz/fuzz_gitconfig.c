// sources: src/gitconfig/gitconfig.c
/* Git configuration files and .gitmodules from an untrusted project. */
#include "fuzz.h"

#include "gitconfig/gitconfig.h"

#include <stdlib.h>
#include <string.h>

static int look(void *context, const struct gitconfig_entry *entry)
{
	(void)context;
	if (!*entry->key || strchr(entry->key, '\n'))
		abort();
	return strcmp(entry->key, "stop") == 0;
}

void fuzz_gitconfig(const uint8_t *data, size_t size)
{
	gitconfig_each((const char *)data, size, look, NULL);
}

FUZZ_TARGET(fuzz_gitconfig)
