/* The parser for server-sent events: see sse.h. */
#include "meter/sse.h"

#include <string.h>

enum { IN_FIELD, BEFORE_DATA, IN_DATA, IN_OTHER };

static void end_line(struct sse *sse, size_t at)
{
	bool blank = sse->state == IN_FIELD && sse->used == 0;

	if (sse->state == IN_DATA || sse->state == BEFORE_DATA)
		sse->data(sse->context, "\n", 1);
	sse->state = IN_FIELD;
	sse->used = 0;
	if (blank)
		sse->end(sse->context, at);
}

static size_t to_line_end(const char *bytes, size_t size)
{
	const char *lf = memchr(bytes, '\n', size);
	size_t most = lf ? (size_t)(lf - bytes) : size;
	const char *cr = memchr(bytes, '\r', most);

	return cr ? (size_t)(cr - bytes) : most;
}

static void in_field(struct sse *sse, char byte)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (byte == ':') {
		sse->state = sse->used == 4 && memcmp(sse->field, "data", 4) == 0 ? BEFORE_DATA
										  : IN_OTHER;
		return;
	}
	if (sse->used == SSE_FIELD) {
		sse->state = IN_OTHER;
		return;
	}
	sse->field[sse->used++] = byte;
	if (!sse->begun && sse->used == 3) {
		sse->begun = true;
		if (memcmp(sse->field, mark, 3) == 0)
			sse->used = 0;
	}
}

void sse_feed(struct sse *sse, const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size) {
		char byte = bytes[i];
		bool second = byte == '\n' && sse->after_cr;

		sse->after_cr = byte == '\r';
		if (second) {
			i++;
		} else if (byte == '\n' || byte == '\r') {
			i++;
			/* The LF of a CRLF belongs to the event, if it has arrived. */
			end_line(sse, i + (byte == '\r' && i < size && bytes[i] == '\n'));
		} else if (sse->state == IN_FIELD) {
			in_field(sse, byte);
			i++;
		} else if (sse->state == BEFORE_DATA) {
			sse->state = IN_DATA;
			i += byte == ' ';
		} else {
			size_t consumed = to_line_end(bytes + i, size - i);

			if (sse->state == IN_DATA)
				sse->data(sse->context, bytes + i, consumed);
			i += consumed;
		}
	}
}
