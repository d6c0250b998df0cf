/* Writes an exchange as text: see tape.h. */
#include "tape/tape.h"

#include "util/text/text.h"

#include <string.h>

enum { PIECE = 32 << 10 }; /* most bytes of a line of an answer */

static void add_lines(struct buffer *out, const char *prefix, const char *text, size_t size)
{
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t line = end ? (size_t)(end - text) : size;

		buffer_add_text(out, prefix);
		buffer_add(out, text, line);
		buffer_add_text(out, "\n");
		line += end != NULL;
		text += line;
		size -= line;
	}
}

/* Appends a line of an answer, or part of one; text is copied as it is. */
static void add_piece(struct buffer *out, const char *bytes, size_t size, bool ended)
{
	AUTO_BUFFER struct buffer shown = BUFFER_INIT(8 * (size_t)PIECE);
	size_t slashes = 0;

	for (size_t i = 0; i < size; i++)
		slashes += bytes[i] == '\\';
	text_escape_bytes(&shown, bytes, size);
	/* If only backslashes were escaped, no escapes are needed. */
	if (shown.used == size + slashes) {
		buffer_add_text(out, ended ? "|" : ">");
		buffer_add(out, bytes, size);
	} else {
		buffer_add_text(out, ended ? "!|" : "!>");
		buffer_add(out, buffer_text(&shown), shown.used);
	}
	buffer_add_text(out, "\n");
}

static void add_body(struct buffer *out, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t line = end ? (size_t)(end - bytes) : size;
		bool ended = end && line <= PIECE;

		if (line > PIECE) {
			line = PIECE;
			while (line > PIECE - 4 && ((unsigned char)bytes[line] & 0xc0) == 0x80)
				line--;
		}
		add_piece(out, bytes, line, ended);
		bytes += line + ended;
		size -= line + ended;
	}
}

/* Appends the new part of the conversation. Returns 0, or -1 if there are too many messages. */
static int add_talk(struct tape *tape, const struct tape_talk *talk, struct buffer *out)
{
	size_t known = talk->count;
	uint32_t before = 0;

	while (known > 0 && !(before = tape_find_message(tape, talk->turns[known - 1].key)))
		known--;
	if (before)
		buffer_printf(out, "after %s %zu\n", tape->messages[before - 1].label, known);
	for (size_t i = known; i < talk->count; i++) {
		const struct tape_turn *turn = &talk->turns[i];

		before = tape_add_message(tape, turn->key, turn->role, before, turn->text,
					  turn->size);
		if (!before)
			return -1;
		buffer_printf(out, "message %s %s\n", tape->messages[before - 1].label, turn->role);
		add_lines(out, "  ", turn->text, turn->size);
	}
	return 0;
}

int tape_write(struct tape *tape, const struct tape_exchange *exchange, struct buffer *out)
{
	const struct tape_talk *talk = &exchange->talk;

	if (tape->count + tape->written >= TAPE_EXCHANGES)
		return -1;
	buffer_printf(out, "\nexchange %s %s\nroute %s %s\n", exchange->method, exchange->path,
		      talk->route, talk->provider);
	if (talk->model[0]) {
		buffer_add_text(out, "model ");
		text_json(out, talk->model);
		buffer_add_text(out, "\n");
	}
	buffer_add_text(out, talk->stream ? "stream\n" : "");
	buffer_add_text(out, exchange->free ? "free\n" : "");
	if (talk->system[0])
		buffer_printf(out, "system %s\n", talk->system);
	if (talk->tools[0])
		buffer_printf(out, "tools %s\n", talk->tools);
	if (add_talk(tape, talk, out) < 0)
		return -1;
	if (exchange->status) {
		buffer_printf(out, "answer %u\n", exchange->status);
		if (exchange->headers)
			add_lines(out, "header ", exchange->headers, strlen(exchange->headers));
		for (size_t i = 0; i < exchange->burst_count; i++) {
			size_t start = exchange->bursts[i].start;
			size_t end = i + 1 < exchange->burst_count ? exchange->bursts[i + 1].start
								   : exchange->body.used;

			buffer_printf(out, "at %u\n", exchange->bursts[i].at_ms);
			add_body(out, exchange->body.data + start, end - start);
		}
	}
	buffer_printf(out, "%s %u\n", exchange->whole ? "end" : "cut", exchange->end_ms);
	if (buffer_overflowed(out) || buffer_overflowed(&exchange->body))
		return -1;
	tape->written++;
	return 0;
}
