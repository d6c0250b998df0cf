// sources: src/decision/blocked.c src/decision/promise.c src/decision/told.c src/decision/lines.c
/*
 * The words of a blocked agent, and a message of the user: appended text changes the result as it
 * must, and the result is clean.
 */
#include "fuzz.h"

#include "decision/blocked.h"
#include "decision/told.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

/* Is this UTF-8 without control characters, except newlines if they are allowed? */
static bool is_clean(const char *text, bool newlines)
{
	for (size_t size = strlen(text); size > 0;) {
		uint32_t point = 0;
		size_t length = text_utf8(text, size, &point);

		if (!length || (point < 0x20 && !(newlines && point == '\n')) ||
		    (point >= 0x7f && point < 0xa0))
			return false;
		text += length;
		size -= length;
	}
	return true;
}

static void read_blocked(const uint8_t *data, size_t size)
{
	static const char more[] = "<blocked>a</blocked>";
	AUTO_FREE char *text = mem_alloc(size + sizeof more);
	char said[64];
	char same[64];
	bool blocked;

	memcpy(text, data, size);
	blocked = blocked_read(text, size, said, sizeof said);
	if (blocked && (!*said || !is_clean(said, false)))
		abort();
	text[size] = '*';
	if (blocked_read(text, size + 1, same, sizeof same) != blocked ||
	    (blocked && strcmp(same, said) != 0))
		abort();
	text[size] = 'x';
	if (blocked_read(text, size + 1, same, sizeof same))
		abort();
	memcpy(text + size, more, sizeof more - 1);
	if (!blocked_read(text, size + sizeof more - 1, same, sizeof same) ||
	    strcmp(same, "a") != 0)
		abort();
}

/* The supervisor cleans a message again, which must not change it. */
static void clean_message(const uint8_t *data, size_t size)
{
	struct error err;
	AUTO_FREE char *once = told_clean((const char *)data, size, &err);
	AUTO_FREE char *twice = once ? told_clean(once, strlen(once), &err) : NULL;
	AUTO_BUFFER struct buffer quoted = BUFFER_INIT(4 * TOLD_BYTES);
	char brief[32];

	if (!once)
		return;
	if (!twice || strcmp(once, twice) != 0 || !is_clean(once, true) ||
	    strlen(once) > TOLD_BYTES)
		abort();
	told_quote(once, &quoted);
	for (const char *at = buffer_text(&quoted); *at; at = strchr(at, '\n') + 1)
		if (*at != '>')
			abort();
	if (told_shorten(once, brief, sizeof brief) != strlen(brief) || !is_clean(brief, false))
		abort();
}

void fuzz_blocked(const uint8_t *data, size_t size)
{
	read_blocked(data, size);
	clean_message(data, size);
}

FUZZ_TARGET(fuzz_blocked)
