// sources: src/builtin/tool/pattern.c
/* Regular expressions from models. */
#include "fuzz.h"

#include "builtin/tool/pattern.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_pattern(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	AUTO_FREE char *text = mem_zero(size + 1);

	memcpy(text, data, size);
	pattern_translate(text, &out);
	if (out.used > 12 * size)
		abort();
}

FUZZ_TARGET(fuzz_pattern)
