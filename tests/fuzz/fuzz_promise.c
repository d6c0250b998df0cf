// sources: src/decision/promise.c src/decision/boxes.c src/decision/lines.c
/*
 * A final message and a task list: appended text changes the result as it must, and nothing else.
 */
#include "fuzz.h"

#include "decision/boxes.h"
#include "decision/promise.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_promise(const uint8_t *data, size_t size)
{
	static const char more[] = "\n- [ ] one more";
	AUTO_FREE char *text = mem_alloc(size + sizeof more);
	bool promised;
	struct boxes before;
	struct boxes after;

	memcpy(text, data, size);
	promised = promise_found(text, size, NULL);
	text[size] = '*';
	if (promise_found(text, size + 1, NULL) != promised)
		abort();
	text[size] = 'x';
	if (promise_found(text, size + 1, NULL))
		abort();
	boxes_count(text, size, &before);
	memcpy(text + size, more, sizeof more - 1);
	boxes_count(text, size + sizeof more - 1, &after);
	/* An open box at the end is always seen: no earlier text can hide remaining work. */
	if (after.open != before.open + 1 || after.ticked != before.ticked)
		abort();
}

FUZZ_TARGET(fuzz_promise)
