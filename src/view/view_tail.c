/* The end of a log: see view_tail.h. */
#include "view/view_tail.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *view_tail_read(const char *path, size_t most, size_t *ret_size)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE char *bytes = mem_alloc(most);
	struct stat status;
	char *result;
	ssize_t n;

	if (fd < 0 || fstat(fd, &status) < 0)
		return NULL;
	n = pread(fd, bytes, most, status.st_size > (off_t)most ? status.st_size - (off_t)most : 0);
	if (n <= 0)
		return NULL;
	*ret_size = (size_t)n;
	result = bytes;
	bytes = NULL;
	return result;
}

static bool is_blank(char byte)
{
	return byte == '\n' || byte == ' ' || byte == '\r' || byte == '\t';
}

char *view_tail_line(const char *bytes, size_t size)
{
	size_t from;

	while (size && is_blank(bytes[size - 1]))
		size--;
	for (from = size; from && bytes[from - 1] != '\n' && bytes[from - 1] != '\r';)
		from--;
	from += text_last(bytes + from, size - from, VIEW_TAIL_LINE);
	/* The text may start in the middle of a UTF-8 character. */
	while (from < size && ((unsigned char)bytes[from] & 0xc0) == 0x80)
		from++;
	if (from == size)
		return NULL;

	char *line = mem_format("%.*s", (int)(size - from), bytes + from);

	view_tail_plain(line);
	return line;
}

/* Returns the length of an escape sequence with parameters (CSI) at text, or 0. */
static size_t sequence_at(const char *text)
{
	size_t size = 2;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	while (text[size] >= 0x20 && text[size] < 0x40)
		size++;
	return text[size] >= 0x40 && text[size] < 0x7f ? size + 1 : 0;
}

void view_tail_plain(char *text)
{
	char *to = text;

	while (*text) {
		size_t skip = sequence_at(text);

		if (!skip)
			*to++ = *text == '\t' ? ' ' : *text;
		text += skip ? skip : 1;
	}
	*to = '\0';
}
