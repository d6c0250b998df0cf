/* The contents of a tape: messages by key and by name, exchanges and their bursts. See tape.h. */
#include "tape/tape.h"

#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER_MS = 5 }; /* bytes within this time are one burst */

const char tape_first_line[] = "ringfence tape 1\n";

static size_t hash(const char *text)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (size_t)(sum ^ sum >> 32);
}

static const char *name_of(const struct tape *tape, uint32_t number, bool label)
{
	const struct tape_message *message = &tape->messages[number - 1];

	return label ? message->label : message->key;
}

/* Returns the slot that holds a name, or the free one where it belongs. */
static uint32_t *slot_of(const struct tape *tape, const struct tape_index *index, const char *name,
			 bool label)
{
	size_t at = hash(name) & (index->size - 1);

	while (index->slots[at] && strcmp(name_of(tape, index->slots[at], label), name) != 0)
		at = (at + 1) & (index->size - 1);
	return &index->slots[at];
}

static void grow(const struct tape *tape, struct tape_index *index, bool label)
{
	struct tape_index larger = { .size = index->size ? 2 * index->size : 64,
				     .used = index->used };

	larger.slots = mem_zero(larger.size * sizeof *larger.slots);
	for (size_t i = 0; i < index->size; i++)
		if (index->slots[i])
			*slot_of(tape, &larger, name_of(tape, index->slots[i], label),
				 label) = index->slots[i];
	free(index->slots);
	*index = larger;
}

static void enter(const struct tape *tape, struct tape_index *index, uint32_t number, bool label)
{
	uint32_t *slot;

	if (2 * (index->used + 1) > index->size)
		grow(tape, index, label);
	slot = slot_of(tape, index, name_of(tape, number, label), label);
	index->used += *slot == 0;
	/* A key finds its first message, a name its last. */
	if (*slot == 0 || label)
		*slot = number;
}

uint32_t tape_find_message(const struct tape *tape, const char key[TAPE_KEY])
{
	return tape->by_key.size ? *slot_of(tape, &tape->by_key, key, false) : 0;
}

uint32_t tape_find_label(const struct tape *tape, const char *label)
{
	return tape->by_label.size ? *slot_of(tape, &tape->by_label, label, true) : 0;
}

uint32_t tape_add_message(struct tape *tape, const char *label, const char *role, uint32_t before,
			  const char *text, size_t size)
{
	const struct tape_message *parent = before ? &tape->messages[before - 1] : NULL;
	struct tape_message message = { .before = before,
					.place = parent ? parent->place + 1 : 1,
					.size = size };

	if (tape->message_count == TAPE_MESSAGES)
		return 0;
	snprintf(message.label, sizeof message.label, "%s", label);
	snprintf(message.role, sizeof message.role, "%s", role);
	tape_key(parent ? parent->key : "", message.role, text, size, message.key);
	message.text = mem_alloc(size + 1);
	if (size > 0)
		memcpy(message.text, text, size);
	message.text[size] = '\0';
	if (!tape->messages || tape->message_count == tape->message_room) {
		tape->message_room = tape->message_room ? 2 * tape->message_room : 64;
		tape->messages = mem_resize(tape->messages, tape->message_room,
					    sizeof *tape->messages);
	}
	tape->messages[tape->message_count++] = message;
	enter(tape, &tape->by_key, (uint32_t)tape->message_count, false);
	enter(tape, &tape->by_label, (uint32_t)tape->message_count, true);
	return (uint32_t)tape->message_count;
}

void tape_exchange_add(struct tape_exchange *exchange, uint32_t at_ms, const char *bytes,
		       size_t size)
{
	struct tape_burst *last = exchange->burst_count
					  ? &exchange->bursts[exchange->burst_count - 1]
					  : NULL;

	if (!last || (at_ms - last->at_ms >= TOGETHER_MS && exchange->burst_count < TAPE_BURSTS)) {
		exchange->bursts = mem_resize(exchange->bursts, exchange->burst_count + 1,
					      sizeof *exchange->bursts);
		exchange->bursts[exchange->burst_count++] =
			(struct tape_burst){ at_ms, exchange->body.used };
	}
	buffer_add(&exchange->body, bytes, size);
}

void tape_exchange_release(struct tape_exchange *exchange)
{
	tape_talk_release(&exchange->talk);
	buffer_release(&exchange->body);
	free(exchange->headers);
	free(exchange->bursts);
	*exchange = (struct tape_exchange){ 0 };
}

void tape_release(struct tape *tape)
{
	for (size_t i = 0; i < tape->message_count; i++)
		free(tape->messages[i].text);
	for (size_t i = 0; i < tape->count; i++)
		tape_exchange_release(&tape->exchanges[i]);
	free(tape->messages);
	free(tape->exchanges);
	free(tape->by_key.slots);
	free(tape->by_label.slots);
	*tape = (struct tape){ 0 };
}
