/* A region at the bottom of the terminal: see live.h. */
#include "cli/view/live.h"

#include "cli/view/live_text.h"
#include "cli/view/page.h"
#include "util/clock.h"
#include "util/env.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIVE_BYTES = 1 << 16 };

void live_begin(struct live *live)
{
	const char *terminal = env_get("TERM");

	*live = (struct live){ .on = isatty(STDOUT_FILENO) && terminal && *terminal &&
				     strcmp(terminal, "dumb") != 0 &&
				     page_width() >= LIVE_TEXT_NARROW,
			       .seen = BUFFER_INIT(LIVE_BYTES) };
}

/* Is this process in the foreground? One that was continued with `bg` draws nothing. */
static bool owns_terminal(void)
{
	return tcgetpgrp(STDOUT_FILENO) == getpgrp();
}

/* Returns the rows that a line takes. When a terminal becomes narrower, it wraps lines. */
static int rows_of(const char *line, size_t size, int width)
{
	AUTO_BUFFER struct buffer bare = BUFFER_INIT(LIVE_BYTES);
	int columns;

	for (size_t i = 0; i < size; i++) {
		if (line[i] == '\033')
			while (i < size && line[i] != 'm')
				i++;
		else
			buffer_add(&bare, line + i, 1);
	}
	columns = page_columns(buffer_text(&bare));
	return width > 0 && columns > width ? (columns + width - 1) / width : 1;
}

/* Appends what moves the cursor to the region's first column and removes everything below. */
static void add_erasure(const struct live *live, struct buffer *out)
{
	int width = page_width();
	int rows = live->below;

	for (size_t at = 0; at < live->seen.used;) {
		const char *line = live->seen.data + at;
		size_t size =
			(size_t)((const char *)memchr(line, '\n', live->seen.used - at) - line);

		rows += rows_of(line, size, width);
		at += size + 1;
	}
	if (live->seen.used)
		buffer_printf(out, "\r\033[%dA\033[J", rows);
}

static void put_out(const struct buffer *bytes)
{
	fwrite(bytes->used ? bytes->data : "", 1, bytes->used, stdout);
	fflush(stdout);
}

void live_leave(struct live *live)
{
	live->seen.used = 0;
	live->below = 0;
}

void live_hide(struct live *live)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(LIVE_BYTES);

	if (!live->seen.used)
		return;
	add_erasure(live, &out);
	put_out(&out);
	live_leave(live);
}

void live_drop_keys(struct live *live)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	char bytes[256];
	ssize_t n;

	if (!live->on || !isatty(STDIN_FILENO) || !owns_terminal())
		return;
	while (poll(&keys, 1, 0) > 0 && (n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < n; i++)
			live->below += bytes[i] == '\n';
}

void live_draw(struct live *live, struct buffer *lines)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(2 * LIVE_BYTES);
	bool same = live->seen.used == lines->used && lines->used &&
		    memcmp(live->seen.data, lines->data, lines->used) == 0;

	if (!live->on || same || !owns_terminal() || buffer_overflowed(lines))
		return;
	add_erasure(live, &out);
	buffer_add(&out, lines->data, lines->used);
	put_out(&out);
	live_leave(live);
	buffer_add(&live->seen, lines->data, lines->used);
	live->at_ms = (int64_t)clock_steady_ms();
}

int live_wait_ms(const struct live *live)
{
	int64_t left_ms = live->at_ms + LIVE_DRAW_MS - (int64_t)clock_steady_ms();

	return left_ms > 0 ? (int)left_ms : 0;
}

void live_end(struct live *live)
{
	live_hide(live);
	buffer_release(&live->seen);
}
