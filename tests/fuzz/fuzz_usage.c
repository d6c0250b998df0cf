// sources: src/meter/form.c src/meter/usage_reader.c src/meter/form_anthropic.c
// sources: src/meter/form_gemini.c src/meter/form_openai.c src/meter/jsonscan.c src/meter/sse.c
/* Model responses. The first byte selects the format and how the rest is split. */
#include "fuzz.h"

#include "meter/usage.h"

#include <stdlib.h>
#include <string.h>

static struct usage_reader whole, split;

void fuzz_usage(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	size_t step;

	if (size < 2)
		return;
	usage_init(&whole, data[0] % USAGE_FORMATS, data[0] & 4);
	usage_init(&split, data[0] % USAGE_FORMATS, data[0] & 4);
	step = 1 + (data[0] >> 3);
	size--;
	usage_feed(&whole, text, size);
	for (size_t at = 0; at < size; at += step)
		usage_feed(&split, text + at, size - at < step ? size - at : step);
	if (memcmp(&whole.usage, &split.usage, sizeof whole.usage) != 0)
		abort();
	if (whole.usage.text_bytes > size || usage_estimate(&whole) > size)
		abort();
}

FUZZ_TARGET(fuzz_usage)
