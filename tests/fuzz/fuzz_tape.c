// sources: src/tape/tape_match.c src/tape/tape_normalize.c src/tape/tape_read.c
// sources: src/tape/tape_conversation.c src/tape/tape.c src/tape/tape_write.c -ljansson
/*
 * A tape that somebody has edited or, if it does not start like a tape, the body of a request. A
 * tape can be written and read again with the same bytes, and a request that was written is found.
 */
#include "fuzz.h"

#include "tape/tape.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t unused[TAPE_EXCHANGES];

/* Builds the conversation of an exchange as a request would have it. */
static void follow(const struct tape *tape, uint32_t last, struct tape_talk *talk)
{
	size_t count = last ? tape->messages[last - 1].place : 0;

	talk->turns = mem_zero((count + 1) * sizeof *talk->turns);
	talk->count = count;
	for (; last; last = tape->messages[last - 1].before) {
		const struct tape_message *message = &tape->messages[last - 1];
		struct tape_turn *turn = &talk->turns[message->place - 1];

		turn->text = mem_alloc(message->size + 1);
		memcpy(turn->text, message->text, message->size + 1);
		turn->size = message->size;
		memcpy(turn->role, message->role, sizeof turn->role);
		memcpy(turn->key, message->key, sizeof turn->key);
	}
}

static void check_same(const struct tape_exchange *a, const struct tape_exchange *b)
{
	if (a->body.used != b->body.used || a->whole != b->whole || a->status != b->status ||
	    a->end_ms != b->end_ms || strcmp(a->headers, b->headers) != 0 ||
	    a->burst_count != b->burst_count ||
	    (a->body.used && memcmp(a->body.data, b->body.data, a->body.used) != 0))
		abort();
}

static void read_tape(const char *bytes, size_t size)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct tape written = { 0 };
	struct tape again;
	struct tape tape;
	struct error err;

	if (tape_read(bytes, size, &tape, &err) < 0)
		return;
	buffer_add_text(&text, tape_first_line);
	for (size_t i = 0; i < tape.count; i++) {
		struct tape_exchange *exchange = &tape.exchanges[i];
		char difference[TAPE_DIFFERENCE];

		follow(&tape, exchange->last, &exchange->talk);
		if (tape_find(&tape, &exchange->talk, unused, false) == SIZE_MAX)
			abort();
		exchange->talk.stream = !exchange->talk.stream;
		tape_difference(&tape, &exchange->talk, unused, difference);
		exchange->talk.stream = !exchange->talk.stream;
		if (tape_write(&written, exchange, &text) < 0)
			abort();
	}
	if (tape_read(buffer_text(&text), text.used, &again, &err) < 0 || again.count != tape.count)
		abort();
	for (size_t i = 0; i < tape.count; i++)
		check_same(&tape.exchanges[i], &again.exchanges[i]);
	tape_release(&again);
	tape_release(&written);
	tape_release(&tape);
}

static void read_request(const char *bytes, size_t size)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct tape_exchange exchange = { .method = "POST",
					  .path = "/",
					  .status = 200,
					  .whole = true,
					  .talk = { .route = "messages", .provider = "anthropic" },
					  .body = BUFFER_INIT(TAPE_BODY) };
	struct tape_names names = { 0 };
	struct tape written = { 0 };
	struct tape tape;
	struct error err;

	tape_names_add(&names, "/srv/a", "<home>", true);
	tape_names_add(&names, "user", "<token>", false);
	tape_talk_read(&exchange.talk, bytes, size, &names);
	tape_exchange_add(&exchange, 1, bytes, size);
	buffer_add_text(&text, tape_first_line);
	if (tape_write(&written, &exchange, &text) < 0 ||
	    tape_read(buffer_text(&text), text.used, &tape, &err) < 0)
		abort();
	if (tape_find(&tape, &exchange.talk, unused, false) != 0 ||
	    tape.exchanges[0].body.used != size ||
	    (size && memcmp(tape.exchanges[0].body.data, bytes, size) != 0))
		abort();
	tape_exchange_release(&exchange);
	tape_release(&written);
	tape_release(&tape);
}

void fuzz_tape(const uint8_t *data, size_t size)
{
	if (size >= 4 && memcmp(data, tape_first_line, 4) == 0)
		read_tape((const char *)data, size);
	else
		read_request((const char *)data, size);
}

FUZZ_TARGET(fuzz_tape)
