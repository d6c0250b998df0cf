/* Line widths: see page.h. */
#include "cli/view/page.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int width_of(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int page_width(void)
{
	return width_of(STDOUT_FILENO);
}

/* The columns of a character: some ranges are two columns wide, combining characters have none. */
static int columns_of(uint32_t point)
{
	static const struct {
		uint32_t first, last;
		int columns;
	} ranges[] = {
		{ 0x0300, 0x036f, 0 }, { 0x1100, 0x115f, 2 },   { 0x200b, 0x200d, 0 },
		{ 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },
		{ 0xfe00, 0xfe0f, 0 }, { 0xfe30, 0xfe6f, 2 },   { 0xff00, 0xff60, 2 },
		{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}

/* Returns the number of bytes that fit in `most` columns. */
static size_t measure(const char *text, size_t size, int most, int *ret_columns)
{
	size_t at = 0;

	*ret_columns = 0;
	while (at < size) {
		uint32_t point = 0;
		size_t length = text_utf8(text + at, size - at, &point);
		int columns = length ? columns_of(point) : 1;

		if (*ret_columns + columns > most)
			break;
		*ret_columns += columns;
		at += length ? length : 1;
	}
	return at;
}

int page_columns(const char *text)
{
	int columns;

	measure(text, strlen(text), INT32_MAX / 2, &columns);
	return columns;
}

size_t page_first(const char *text, int columns)
{
	int used;

	return measure(text, strlen(text), columns, &used);
}

void page_wrap(struct buffer *out, const char *text, int from, int indent, int width)
{
	int column = from;
	bool begun = false; /* the line has a word */

	if (!width) {
		buffer_add_text(out, text);
		return;
	}
	while (*text) {
		size_t size = strcspn(text, " ");
		int columns;

		measure(text, size, INT32_MAX / 2, &columns);
		if (begun && size && column + 1 + columns > width) {
			buffer_printf(out, "\n%*s", indent, "");
			column = indent;
			begun = false;
		}
		buffer_printf(out, "%s%.*s", begun ? " " : "", (int)size, text);
		column += columns + begun;
		begun = true;
		text += size;
		text += *text == ' ';
	}
}

void page_print(const char *text, int indent)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);

	page_wrap(&out, text, indent, indent, page_width());
	puts(buffer_text(&out));
}

void page_print_line(enum color colour, const char *text, int indent)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	AUTO_FREE char *shown = text_escaped(text);

	page_wrap(&out, shown, 0, indent, page_width());
	printf("%s%s%s\n", color_on(colour), buffer_text(&out), color_off(colour));
	fflush(stdout);
}

void page_report(const char *prefix, const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	AUTO_FREE char *shown = text_escaped(text);
	AUTO_FREE char *line = mem_format("%s %s", prefix, shown);

	page_wrap(&out, line, 0, 2, width_of(STDERR_FILENO));
	fprintf(stderr, "%s\n", buffer_text(&out));
}
