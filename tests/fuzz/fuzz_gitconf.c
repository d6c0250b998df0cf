// sources:
/* Configurations of git, and .gitmodules, as a project could hold them. */
#include "fuzz.h"

#include "util/gitconf.h"

#include <stdlib.h>
#include <string.h>

static int look(void *context, const struct gitconf_entry *entry)
{
	(void)context;
	if (!*entry->key || strchr(entry->key, '\n'))
		abort();
	return strcmp(entry->key, "stop") == 0;
}

void fuzz_gitconf(const uint8_t *data, size_t size)
{
	gitconf_each((const char *)data, size, look, NULL);
}

FUZZ_TARGET(fuzz_gitconf)
