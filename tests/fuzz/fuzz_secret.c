// sources: src/fence/plan/secret.c src/fence/plan/names.c
/* The look at a file of the project that may hold a secret, and the names that lead to one. */
#include "fuzz.h"

#include "fence/plan/secret.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void fuzz_secret(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *path = strndup(text, size);

	/* A private key is also a credential. */
	if (secret_in_text(NAMES_SECRET_IF_KEY, text, size) &&
	    !secret_in_text(NAMES_SECRET_IF_FOUND, text, size))
		abort();
	secret_in_text(NAMES_SECRET_OR_CERTIFICATE, text, size);
	names_find("/root", path, DT_REG);
	names_find("", path, DT_LNK);
	names_above("", path);
	free(path);
}

FUZZ_TARGET(fuzz_secret)
