/* Reads tapes strictly: see tape.h. */
#include "tape/tape.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The parts of an exchange, in order. */
enum part {
	PART_NONE,
	PART_EXCHANGE,
	PART_ROUTE,
	PART_MODEL,
	PART_STREAM,
	PART_FREE,
	PART_SYSTEM,
	PART_TOOLS,
	PART_AFTER,
	PART_MESSAGE,
	PART_ANSWER,
	PART_HEADER,
	PART_AT,
	PART_END,
};

struct reader {
	const char *bytes;
	size_t size, at;
	size_t line; /* number of the current line */
	const char *text;
	size_t length;
	struct tape *tape;
	struct tape_exchange now;
	enum part part;
	struct buffer message_text; /* text of the current message */
	char label[TAPE_LABEL], role[TAPE_ROLE];
	bool in_message;
	struct buffer headers;
	size_t header_count;
	struct error *err;
};

static int fail(struct reader *reader, const char *why)
{
	return error_set(reader->err, "line %zu: %s", reader->line, why);
}

/* Advances to the next line, without its newline; false if no complete line is left. */
static bool next_line(struct reader *reader)
{
	const char *from = reader->bytes + reader->at;
	size_t left = reader->size - reader->at;
	const char *end = left ? memchr(from, '\n', left) : NULL;

	if (!end)
		return false;
	reader->text = from;
	reader->length = (size_t)(end - from);
	reader->at += reader->length + 1;
	reader->line++;
	return true;
}

/* Reads a word from the line. Returns 0, or -1 if it is missing or too long. */
static int read_word(struct reader *reader, char *ret_word, size_t room)
{
	size_t size = 0;

	while (size < reader->length && isgraph((unsigned char)reader->text[size]))
		size++;
	if (size == 0 || size >= room || (size < reader->length && reader->text[size] != ' '))
		return -1;
	memcpy(ret_word, reader->text, size);
	ret_word[size] = '\0';
	size += size < reader->length;
	reader->text += size;
	reader->length -= size;
	return 0;
}

static int read_number(struct reader *reader, uint32_t *ret_number)
{
	uint64_t number = 0;
	char word[12];

	if (read_word(reader, word, sizeof word) < 0)
		return -1;
	for (const char *at = word; *at; at++) {
		if (!isdigit((unsigned char)*at))
			return -1;
		number = number * 10 + (unsigned int)(*at - '0');
	}
	if (number > UINT32_MAX)
		return -1;
	*ret_number = (uint32_t)number;
	return 0;
}

static int finish_message(struct reader *reader)
{
	uint32_t number;

	if (!reader->in_message)
		return 0;
	reader->in_message = false;
	number = tape_add_message(reader->tape, reader->label, reader->role, reader->now.last,
				  buffer_text(&reader->message_text), reader->message_text.used);
	reader->message_text.used = 0;
	if (!number)
		return fail(reader, "too many messages");
	reader->now.last = number;
	return 0;
}

static int read_exchange(struct reader *reader)
{
	size_t line = reader->line;

	if (reader->tape->count == TAPE_EXCHANGES)
		return fail(reader, "too many exchanges");
	reader->now = (struct tape_exchange){ .line = line, .body = BUFFER_INIT(TAPE_BODY) };
	if (read_word(reader, reader->now.method, sizeof reader->now.method) < 0 ||
	    read_word(reader, reader->now.path, sizeof reader->now.path) < 0 || reader->length)
		return fail(reader, "an exchange needs a method and a path");
	return 0;
}

static int read_route(struct reader *reader)
{
	struct tape_talk *talk = &reader->now.talk;

	if (read_word(reader, talk->route, sizeof talk->route) < 0 ||
	    read_word(reader, talk->provider, sizeof talk->provider) < 0 || reader->length)
		return fail(reader, "a route needs a name and a provider");
	return 0;
}

/* The name is quoted; quotes and backslashes in it are escaped with a backslash. */
static int read_model(struct reader *reader)
{
	char model[TAPE_MODEL];
	size_t used = 0;

	if (reader->length < 2 || reader->text[0] != '"' || reader->text[reader->length - 1] != '"')
		return fail(reader, "the model's name must be in quotation marks");
	for (size_t i = 1; i + 1 < reader->length; i++) {
		i += reader->text[i] == '\\' && i + 2 < reader->length;
		if (used == TAPE_MODEL - 1)
			return fail(reader, "the model's name is too long");
		model[used++] = reader->text[i];
	}
	tape_model(reader->now.talk.model, model, used);
	return 0;
}

static int read_flag(struct reader *reader, bool *flag)
{
	if (reader->length)
		return fail(reader, "this line must not have a value");
	*flag = true;
	return 0;
}

static int read_rest(struct reader *reader, char *ret_text, size_t room)
{
	if (reader->length == 0 || reader->length >= room ||
	    memchr(reader->text, '\0', reader->length))
		return fail(reader, "this value is empty or too long");
	memcpy(ret_text, reader->text, reader->length);
	ret_text[reader->length] = '\0';
	return 0;
}

static int read_after(struct reader *reader)
{
	char label[TAPE_LABEL];
	uint32_t count;
	uint32_t number;

	if (read_word(reader, label, sizeof label) < 0 || read_number(reader, &count) < 0 ||
	    reader->length)
		return fail(reader, "`after` needs a message's name and its position");
	number = tape_find_label(reader->tape, label);
	if (!number)
		return fail(reader, "no earlier message has this name");
	if (reader->tape->messages[number - 1].place != count)
		return fail(reader,
			    "the message with this name has another position in its conversation");
	reader->now.last = number;
	return 0;
}

static int read_message(struct reader *reader)
{
	if (read_word(reader, reader->label, sizeof reader->label) < 0 ||
	    read_word(reader, reader->role, sizeof reader->role) < 0 || reader->length)
		return fail(reader, "a message needs a name and a role");
	reader->in_message = true;
	return 0;
}

static int read_answer(struct reader *reader)
{
	uint32_t status;

	if (read_number(reader, &status) < 0 || reader->length || status < 200 || status > 599)
		return fail(reader, "an answer needs a status from 200 to 599");
	reader->now.status = status;
	return 0;
}

static int read_header(struct reader *reader)
{
	const char *colon = memchr(reader->text, ':', reader->length);
	size_t name = colon ? (size_t)(colon - reader->text) : 0;

	if (name == 0 || name + 2 > reader->length || colon[1] != ' ')
		return fail(reader, "a header must have the form `name: value`");
	for (size_t i = 0; i < reader->length; i++)
		if (reader->text[i] < 0x20 || reader->text[i] > 0x7e ||
		    (i < name && !isalnum((unsigned char)reader->text[i]) &&
		     reader->text[i] != '-'))
			return fail(reader, "this header contains invalid characters");
	if (++reader->header_count > TAPE_HEADERS)
		return fail(reader, "too many headers");
	buffer_add(&reader->headers, reader->text, reader->length);
	buffer_add_text(&reader->headers, "\n");
	return 0;
}

static int read_at(struct reader *reader)
{
	struct tape_exchange *now = &reader->now;
	uint32_t at_ms;

	if (read_number(reader, &at_ms) < 0 || reader->length ||
	    (now->burst_count && at_ms < now->bursts[now->burst_count - 1].at_ms))
		return fail(reader, "`at` needs milliseconds, not fewer than before");
	if (now->burst_count == TAPE_BURSTS)
		return fail(reader, "the answer is in too many pieces");
	now->bursts = mem_resize(now->bursts, now->burst_count + 1, sizeof *now->bursts);
	now->bursts[now->burst_count++] = (struct tape_burst){ at_ms, now->body.used };
	return 0;
}

static int read_end(struct reader *reader, bool whole)
{
	struct tape_exchange *now = &reader->now;
	struct tape *tape = reader->tape;

	if (read_number(reader, &now->end_ms) < 0 || reader->length)
		return fail(reader, "`end` and `cut` need milliseconds");
	if (whole && !now->status)
		return fail(reader, "`end` needs an answer before it");
	now->whole = whole;
	now->headers = mem_dup(buffer_text(&reader->headers));
	reader->headers.used = 0;
	reader->header_count = 0;
	if (tape->count == tape->room) {
		tape->room = tape->room ? 2 * tape->room : 16;
		tape->exchanges = mem_resize(tape->exchanges, tape->room, sizeof *tape->exchanges);
	}
	tape->exchanges[tape->count++] = *now;
	*now = (struct tape_exchange){ 0 };
	tape->size = reader->at;
	return 0;
}

static int digit(char byte)
{
	if (isdigit((unsigned char)byte))
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Reads bytes of the answer. */
static int read_bytes(struct reader *reader)
{
	bool escaped = reader->text[0] == '!';
	const char *at = reader->text + escaped + 1;
	const char *end = reader->text + reader->length;
	struct buffer *body = &reader->now.body;

	if (escaped && (reader->length < 2 || !strchr("|>", reader->text[1]) || !reader->text[1]))
		return fail(reader, "`!` must be followed by `|` or `>`");
	if (!escaped)
		buffer_add(body, at, (size_t)(end - at));
	while (escaped && at < end) {
		char byte = *at;

		if (byte == '\\' && end - at >= 2 && at[1] == '\\') {
			at++;
		} else if (byte == '\\') {
			int high = end - at >= 4 && at[1] == 'x' ? digit(at[2]) : -1;
			int low = high >= 0 ? digit(at[3]) : -1;

			if (high < 0 || low < 0)
				return fail(
					reader,
					"a backslash must be followed by another one or by xNN");
			byte = (char)(high * 16 + low);
			at += 3;
		}
		buffer_add(body, &byte, 1);
		at++;
	}
	if (reader->text[escaped] == '|')
		buffer_add_text(body, "\n");
	return buffer_overflowed(body) ? fail(reader, "the answer is too long") : 0;
}

static const struct {
	const char *word;
	enum part part;
} words[] = {
	{ "exchange", PART_EXCHANGE }, { "route", PART_ROUTE },   { "model", PART_MODEL },
	{ "stream", PART_STREAM },     { "free", PART_FREE },     { "system", PART_SYSTEM },
	{ "tools", PART_TOOLS },       { "after", PART_AFTER },   { "message", PART_MESSAGE },
	{ "answer", PART_ANSWER },     { "header", PART_HEADER }, { "at", PART_AT },
	{ "end", PART_END },           { "cut", PART_END },
};

static int read_part(struct reader *reader, enum part part, const char *word)
{
	struct tape_talk *talk = &reader->now.talk;

	switch (part) {
	case PART_EXCHANGE:
		return read_exchange(reader);
	case PART_ROUTE:
		return read_route(reader);
	case PART_MODEL:
		return read_model(reader);
	case PART_STREAM:
		return read_flag(reader, &talk->stream);
	case PART_FREE:
		return read_flag(reader, &reader->now.free);
	case PART_SYSTEM:
		return read_rest(reader, talk->system, sizeof talk->system);
	case PART_TOOLS:
		return read_rest(reader, talk->tools, sizeof talk->tools);
	case PART_AFTER:
		return read_after(reader);
	case PART_MESSAGE:
		return read_message(reader);
	case PART_ANSWER:
		return read_answer(reader);
	case PART_HEADER:
		return read_header(reader);
	case PART_AT:
		return read_at(reader);
	default:
		return read_end(reader, word[0] == 'e');
	}
}

/* Returns whether this part may follow the previous one. */
static bool may_follow(const struct reader *reader, enum part part)
{
	if (part == PART_EXCHANGE)
		return reader->part == PART_NONE;
	if (reader->part == PART_NONE)
		return false;
	if (part > PART_ROUTE && reader->part < PART_ROUTE)
		return false;
	if ((part == PART_HEADER || part == PART_AT) && !reader->now.status)
		return false;
	return part > reader->part ||
	       (part == reader->part &&
		(part == PART_MESSAGE || part == PART_HEADER || part == PART_AT));
}

static int read_line(struct reader *reader)
{
	char word[16];
	size_t i = 0;

	if (reader->length > TAPE_LINE)
		return fail(reader, "the line is too long");
	if (reader->part == PART_NONE && (reader->length == 0 || reader->text[0] == '#')) {
		reader->tape->size = reader->at;
		return 0;
	}
	if (reader->in_message && reader->length >= 2 && memcmp(reader->text, "  ", 2) == 0) {
		buffer_add(&reader->message_text, reader->text + 2, reader->length - 2);
		buffer_add_text(&reader->message_text, "\n");
		return 0;
	}
	if (reader->part == PART_AT && reader->length && reader->text[0] &&
	    strchr("|>!", reader->text[0]))
		return read_bytes(reader);
	if (read_word(reader, word, sizeof word) < 0)
		return fail(reader, "unknown kind of line");
	while (i < sizeof words / sizeof *words && strcmp(words[i].word, word) != 0)
		i++;
	if (i == sizeof words / sizeof *words)
		return fail(reader, "unknown kind of line");
	if (!may_follow(reader, words[i].part))
		return fail(reader, "this line is out of place");
	if (finish_message(reader) < 0 || read_part(reader, words[i].part, word) < 0)
		return -1;
	reader->part = words[i].part == PART_END ? PART_NONE : words[i].part;
	return 0;
}

int tape_read(const char *bytes, size_t size, struct tape *ret_tape, struct error *err)
{
	struct tape tape = { 0 };
	struct reader reader = { .bytes = bytes,
				 .size = size,
				 .tape = &tape,
				 .message_text = BUFFER_INIT(TAPE_MOST),
				 .headers = BUFFER_INIT(TAPE_HEADERS * (size_t)TAPE_LINE),
				 .err = err };
	size_t first = strlen(tape_first_line);
	int result = 0;

	if (size > TAPE_MOST)
		return error_set(err, "the tape is larger than %d MiB", TAPE_MOST >> 20);
	if (size < first ? size > 0 && memcmp(bytes, tape_first_line, size) != 0
			 : memcmp(bytes, tape_first_line, first) != 0)
		return error_set(err, "line 1: this is not a tape (its first line must be `%.*s`)",
				 (int)first - 1, tape_first_line);
	if (size >= first && next_line(&reader)) {
		tape.size = reader.at;
		while (result == 0 && next_line(&reader))
			result = read_line(&reader);
	}
	tape.torn = tape.size < size;
	tape_exchange_release(&reader.now);
	buffer_release(&reader.message_text);
	buffer_release(&reader.headers);
	if (result < 0)
		tape_release(&tape);
	else
		*ret_tape = tape;
	return result;
}
