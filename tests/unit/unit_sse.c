/* Server-sent events: lines, fields, and the bytes that belong to an event. */
#include "unit.h"

#include "meter/sse.h"

#include <string.h>

static char seen[256]; /* data as it came, and the place of each end in brackets */

static void data(void *context, const char *bytes, size_t size)
{
	(void)context;
	strncat(seen, bytes, size);
}

static void end(void *context, size_t at)
{
	size_t used = strlen(seen);

	(void)context;
	snprintf(seen + used, sizeof seen - used, "[%zu]", at);
}

static bool reads(const char *text, const char *expected)
{
	struct sse sse = { .data = data, .end = end };

	seen[0] = '\0';
	sse_feed(&sse, text, strlen(text));
	if (strcmp(seen, expected) != 0)
		printf("# '%s'\n", seen);
	return strcmp(seen, expected) == 0;
}

static bool reads_pieces(const char *text, const char *expected)
{
	struct sse sse = { .data = data, .end = end };

	seen[0] = '\0';
	for (size_t i = 0; text[i]; i++)
		sse_feed(&sse, text + i, 1);
	if (strcmp(seen, expected) != 0)
		printf("# '%s'\n", seen);
	return strcmp(seen, expected) == 0;
}

int main(void)
{
	CHECK("lines end with LF, CR or both", reads("data: a\n\n", "a\n[9]") &&
						       reads("data: a\r\r", "a\n[9]") &&
						       reads("data: a\r\n\r\n", "a\n[11]"));
	CHECK("both are one end, in pieces as well",
	      reads_pieces("data: a\r\n\r\n", "a\n[1]") && reads_pieces("data: a\r\r", "a\n[1]"));
	CHECK("bytes after an event do not belong to it",
	      reads("data: a\r\rdata: b\n\n", "a\n[9]b\n[18]") &&
		      reads("data: a\r\n\r\nx", "a\n[11]") && reads("data:a\n\nx", "a\n[8]"));
	CHECK("one blank after the colon is not data",
	      reads("data:a\n\n", "a\n[8]") && reads("data:  a\n\n", " a\n[10]"));
	CHECK("several lines of data are one event", reads("data: a\ndata: b\n\n", "a\nb\n[17]"));
	CHECK("a line without data is an empty one", reads("data:\n\n", "\n[7]"));
	CHECK("other fields and comments are not data",
	      reads("event: a\nid: b\n: c\ndatas: d\ndat: e\n\n", "[36]") &&
		      reads("data-long: a\nlongfield: b\n\n", "[27]"));
	CHECK("a field without a colon is not data", reads("data\n\n", "[6]"));
	CHECK("a byte order mark is skipped, once", reads("\xef\xbb\xbf"
							  "data: a\n\n",
							  "a\n[12]") &&
							    reads("data: a\n\xef\xbb\xbf"
								  "data: b\n\n",
								  "a\n[20]"));
	CHECK("colons in data are data", reads("data: a:b\n\n", "a:b\n[11]"));
	return unit_failures > 0;
}
