// sources: src/cli/view/live_text.c src/cli/view/page.c src/cli/view/color.c src/view/view_tail.c
/* Untrusted text in the live region: whatever an agent or a check prints, every line fits, and
 * nothing steers the terminal. The first byte chooses the width. */
#include "fuzz.h"

#include "cli/view/live_text.h"
#include "cli/view/page.h"
#include "util/mem.h"
#include "view/view_tail.h"

#include <stdlib.h>
#include <string.h>

static void check_line(const char *line, size_t size, int width)
{
	AUTO_FREE char *text = mem_format("%.*s", (int)size, line);

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			abort();
	if (page_columns(text) >= width)
		abort();
}

void fuzz_live_text(const uint8_t *data, size_t size)
{
	const struct view_limits limits = { .of = { { 1, 20, 50 }, { 1, 2, 500 }, { 0, 0, 0 } } };
	int width = LIVE_TEXT_NARROW + (size ? data[0] : 0);
	AUTO_FREE char *line = size ? view_tail_line((const char *)data + 1, size - 1) : NULL;
	const struct view_now now = {
		.step = LOOP_STEP_checks, .status = "running", .check = "make", .line = line
	};
	const struct live_text text = { .now = &now, .limits = &limits, .width = width };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	const char *at;

	live_text_add(&text, &out);
	at = buffer_text(&out);
	for (int lines = 0; *at; lines++) {
		size_t part = strcspn(at, "\n");

		if (lines == LIVE_TEXT_LINES || !at[part])
			abort();
		check_line(at, part, width);
		at += part + 1;
	}
}

FUZZ_TARGET(fuzz_live_text)
