/* The output of gh: see land_gh.h. */
#include "land/land_gh.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line of the head: "Name: value". */
static void add_header(struct https_response *response, const char *line, size_t size)
{
	AUTO_FREE char *copy = mem_format("%.*s", (int)size, line);

	for (char *c = copy; *c && *c != ':'; c++)
		*c = (char)tolower((unsigned char)*c);
	if (strchr(copy, ':'))
		list_add(&response->headers, copy);
}

int land_gh_read(const char *text, size_t size, struct https_response *ret_response)
{
	struct https_response response = { .body = BUFFER_INIT(LAND_GH_BYTES) };
	const char *end = text + size;
	const char *space = memchr(text, ' ', size < 16 ? size : 16);
	size_t digits = space ? strspn(space + 1, "0123456789") : 0;

	if (!text_after_prefix(text, "HTTP/") || digits != 3)
		return -1;
	response.status = (unsigned int)strtoul(space + 1, NULL, 10);
	for (const char *at = memchr(text, '\n', size); at;
	     at = memchr(at, '\n', (size_t)(end - at))) {
		const char *line = at + 1;
		size_t length = strcspn(line, "\r\n");

		at = line;
		if (length == 0 && *line) {
			line += strspn(line, "\r");
			line += *line == '\n';
			buffer_add(&response.body, line, (size_t)(end - line));
			*ret_response = response;
			return 0;
		}
		if (response.headers.count < HTTPS_HEADERS)
			add_header(&response, line, length);
	}
	https_message_release(&response);
	return -1;
}
