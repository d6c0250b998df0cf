// sources: src/credential/credential.c src/credential/credential_shape.c
/* A file that may hold credentials. */
#include "fuzz.h"

#include "credential/credential.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void fuzz_credential(const uint8_t *data, size_t size)
{
	enum { MOST = 8 };
	struct credential_finding findings[MOST];
	size_t count = credential_scan((const char *)data, size, findings, MOST);

	if (count > MOST)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!findings[i].line || (i && findings[i].line <= findings[i - 1].line))
			abort();
		for (const char *at = findings[i].shown; *at; at++)
			if (!isprint((unsigned char)*at))
				abort();
	}
}

FUZZ_TARGET(fuzz_credential)
