// sources: src/loop/state/loop_index.c
/* An index of loops, as any process may have left it; also with the right hash. */
#include "fuzz.h"

#include "loop/state/loop_index.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = 16 };

static void parse(const uint8_t *data, size_t size, bool with_hash)
{
	AUTO_FREE char *bytes = mem_zero(size + 1);
	AUTO_FREE char **lines = NULL;
	struct loop_index_mark mark;
	char hash[HASH + 1];
	long count;

	memcpy(bytes, data, size);
	if (with_hash && size > HASH) {
		snprintf(hash, sizeof hash, "%016" PRIx64,
			 loop_index_hash(bytes + HASH + 1, size - HASH - 1));
		memcpy(bytes, hash, HASH);
		bytes[HASH] = ' ';
	}
	count = loop_index_parse(bytes, size, ".index", &mark, &lines);
	for (long i = 0; i < count; i++)
		if (!*lines[i] ||
		    strlen(lines[i]) + 1 + strlen(lines[i] + strlen(lines[i]) + 1) > size)
			abort();
}

void fuzz_loop_index(const uint8_t *data, size_t size)
{
	parse(data, size, false);
	parse(data, size, true);
}

FUZZ_TARGET(fuzz_loop_index)
