// sources: src/builtin/tool/replace.c
/*
 * Edits of files. The first two bytes give the sizes of the text to find and of its replacement;
 * the rest is the file.
 */
#include "fuzz.h"

#include "builtin/tool/replace.h"

#include <stdlib.h>
#include <string.h>

void fuzz_replace(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 20);
	const char *text = (const char *)data + 2;
	struct error err;
	size_t places;
	size_t line;

	if (size < 4 || size - 2 < (size_t)(data[0] >> 1) + data[1] || !(data[0] >> 1))
		return;

	const struct replace change = { .what = { text, data[0] >> 1 },
					.with = { text + (data[0] >> 1), data[1] },
					.all = data[0] & 1 };
	const struct replace_span file = { text + (data[0] >> 1) + data[1],
					   size - 2 - (data[0] >> 1) - data[1] };

	if (replace_text("f", file, &change, &out, &places, &line, &err) < 0) {
		if (strlen(err.text) == 0 || out.used)
			abort();
		return;
	}
	if (places == 0 || line == 0 || (places > 1 && !change.all))
		abort();
}

FUZZ_TARGET(fuzz_replace)
