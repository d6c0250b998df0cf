// sources:
/* Untrusted names and texts: escaping, JSON, times, amounts, paths. */
#include "fuzz.h"

#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

/* An accepted value, written and read again, is accepted. */
static void round_trip(const char *text)
{
	AUTO_BUFFER struct buffer shown = BUFFER_INIT(100);
	uint64_t bytes = 0;
	uint64_t again = 0;
	uint64_t number = 0;

	if (text_bytes(text, &bytes) == 0) {
		text_add_bytes(&shown, bytes);
		if (text_bytes(buffer_text(&shown), &again) < 0 || again != bytes || bytes == 0)
			abort();
	}
	if (text_count(text, &number) == 0 && (number == 0 || number > UINT64_C(1) << 31))
		abort();
	if (text_thousandths(text, &number) == 0 && (number == 0 || number > 1000999999))
		abort();
}

void fuzz_text(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	AUTO_BUFFER struct buffer json = BUFFER_INIT(1 << 24);
	uint64_t ms = 0;

	memcpy(text, data, size);
	text[size] = '\0';

	AUTO_FREE char *shown = text_escaped(text);
	AUTO_FREE char *path = path_absolute(text, "/base");

	for (const char *at = shown; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			abort();
	text_json(&json, text);
	for (size_t i = 0; i < json.used; i++)
		if ((unsigned char)json.data[i] < 0x20)
			abort();
	if (path[0] != '/' || strstr(path, "//") || strstr(path, "/../") ||
	    (path[1] && path[strlen(path) - 1] == '/'))
		abort();
	if (text_duration_ms(text, &ms) == 0 && ms == 0)
		abort();
	round_trip(text);
	if (size < 200)
		text_distance(text, "accept-weaker");
}

FUZZ_TARGET(fuzz_text)
