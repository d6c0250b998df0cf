// sources: src/gitconfig/gitdir.c src/gitconfig/gitconfig.c
/* Paths of an agent's tree, in the spelling that all file systems agree on. */
#include "fuzz.h"

#include "gitconfig/gitdir.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_gitdir(const uint8_t *data, size_t size)
{
	AUTO_FREE char *path = mem_format("%.*s", (int)size, (const char *)data);
	AUTO_FREE char *folded = gitdir_fold(path);

	if (strlen(folded) > strlen(path) || strpbrk(folded, ":ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		abort();
}

FUZZ_TARGET(fuzz_gitdir)
