/* Finds the exchange that answers a request, or describes how the request differs: see tape.h. */
#include "tape/tape.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

/* most bytes shown of a line, and of those before the difference */
enum { SHOWN = 120, BEFORE = 40 };

static bool same_route(const struct tape_exchange *exchange, const struct tape_talk *talk)
{
	return strcmp(exchange->talk.route, talk->route) == 0 &&
	       strcmp(exchange->talk.provider, talk->provider) == 0;
}

static const char *last_key(const struct tape *tape, const struct tape_exchange *exchange)
{
	return exchange->last ? tape->messages[exchange->last - 1].key : "";
}

static bool same_talk(const struct tape *tape, const struct tape_exchange *exchange,
		      const struct tape_talk *talk)
{
	return same_route(exchange, talk) &&
	       strcmp(last_key(tape, exchange),
		      talk->count ? talk->turns[talk->count - 1].key : "") == 0;
}

static bool same_kind(const struct tape_exchange *exchange, const struct tape_talk *talk)
{
	return exchange->talk.stream == talk->stream &&
	       strcmp(exchange->talk.model, talk->model) == 0;
}

/* The client's own part of a request only decides between identical conversations. */
static unsigned int similarity(const struct tape_exchange *exchange, const struct tape_talk *talk)
{
	return 1 + 2u * (strcmp(exchange->talk.system, talk->system) == 0) +
	       (strcmp(exchange->talk.tools, talk->tools) == 0);
}

size_t tape_find(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		 bool repeat)
{
	size_t found = SIZE_MAX;
	size_t spent = SIZE_MAX;
	unsigned int best = 0;

	for (size_t i = 0; i < tape->count; i++) {
		const struct tape_exchange *exchange = &tape->exchanges[i];

		if (!same_talk(tape, exchange, talk) || !same_kind(exchange, talk))
			continue;
		if (used[i])
			spent = i;
		else if (similarity(exchange, talk) > best) {
			best = similarity(exchange, talk);
			found = i;
		}
	}
	return found == SIZE_MAX && repeat ? spent : found;
}

/* Returns how many messages from the beginning are the same. */
static size_t common_messages(const struct tape *tape, const struct tape_exchange *exchange,
			      const struct tape_talk *talk)
{
	for (uint32_t at = exchange->last; at; at = tape->messages[at - 1].before) {
		const struct tape_message *message = &tape->messages[at - 1];

		if (message->place <= talk->count &&
		    strcmp(message->key, talk->turns[message->place - 1].key) == 0)
			return message->place;
	}
	return 0;
}

/* Returns the conversation's message at this position, or NULL. */
static const struct tape_message *message_at(const struct tape *tape, uint32_t last, size_t place)
{
	const struct tape_message *message = NULL;

	for (; last; last = message->before) {
		message = &tape->messages[last - 1];
		if (message->place == place)
			return message;
	}
	return NULL;
}

static size_t line_size(const char *text, size_t size)
{
	const char *end = size ? memchr(text, '\n', size) : NULL;

	return end ? (size_t)(end - text) : size;
}

static bool same_line(const char *a, size_t a_size, const char *b, size_t b_size)
{
	AUTO_BUFFER struct buffer one = BUFFER_INIT(TAPE_MOST);
	AUTO_BUFFER struct buffer two = BUFFER_INIT(TAPE_MOST);

	tape_normalize(&one, a, a_size);
	tape_normalize(&two, b, b_size);
	return one.used == two.used && (one.used == 0 || memcmp(one.data, two.data, one.used) == 0);
}

static void add_excerpt(struct buffer *out, const char *line, size_t size, size_t from)
{
	size_t start = from > BEFORE ? from - BEFORE : 0;
	size_t part = size > start ? size - start : 0;

	while (start > 0 && ((unsigned char)line[start] & 0xc0) == 0x80)
		start--, part++;
	if (part > SHOWN)
		part = SHOWN;
	while (part > 0 && start + part < size &&
	       ((unsigned char)line[start + part] & 0xc0) == 0x80)
		part--;
	buffer_add_text(out, start > 0 ? "\"..." : "\"");
	text_escape_bytes(out, line + start, part);
	buffer_add_text(out, start + part < size ? "...\"" : "\"");
}

/* Describes the first line in which two texts differ. */
static void add_lines(struct buffer *out, const char *recorded, size_t recorded_size,
		      const char *received, size_t received_size)
{
	for (size_t number = 1;; number++) {
		size_t a = line_size(recorded, recorded_size);
		size_t b = line_size(received, received_size);
		size_t same = 0;

		if (recorded_size == 0 || received_size == 0 ||
		    !same_line(recorded, a, received, b)) {
			while (same < a && same < b && recorded[same] == received[same])
				same++;
			buffer_printf(out, ", line %zu: recorded ", number);
			if (recorded_size)
				add_excerpt(out, recorded, a, same);
			else
				buffer_add_text(out, "nothing more");
			buffer_add_text(out, ", received ");
			if (received_size)
				add_excerpt(out, received, b, same);
			else
				buffer_add_text(out, "nothing more");
			return;
		}
		a += a < recorded_size;
		b += b < received_size;
		recorded += a;
		recorded_size -= a;
		received += b;
		received_size -= b;
	}
}

static void add_difference(struct buffer *out, const struct tape *tape,
			   const struct tape_exchange *exchange, const struct tape_talk *talk)
{
	size_t place = common_messages(tape, exchange, talk) + 1;
	const struct tape_message *recorded = message_at(tape, exchange->last, place);
	const struct tape_turn *received = place <= talk->count ? &talk->turns[place - 1] : NULL;

	if (!recorded && !received && strcmp(exchange->talk.model, talk->model) != 0)
		buffer_printf(out, "the model: recorded \"%s\", received \"%s\"",
			      exchange->talk.model, talk->model);
	else if (!recorded && !received)
		buffer_printf(out, "recorded %s, received %s",
			      talk->stream ? "without streaming" : "with streaming",
			      talk->stream ? "with streaming" : "without streaming");
	else if (recorded && received && strcmp(recorded->role, received->role) != 0) {
		buffer_printf(out, "message %zu: recorded %s ", place, recorded->role);
		add_excerpt(out, recorded->text, line_size(recorded->text, recorded->size), 0);
		buffer_printf(out, ", received %s ", received->role);
		add_excerpt(out, received->text, line_size(received->text, received->size), 0);
	} else if (recorded && received) {
		buffer_printf(out, "message %zu (%s)", place, received->role);
		add_lines(out, recorded->text, recorded->size, received->text, received->size);
	} else if (recorded) {
		buffer_printf(out, "message %zu (%s) was recorded but not received: ", place,
			      recorded->role);
		add_excerpt(out, recorded->text, line_size(recorded->text, recorded->size), 0);
	} else {
		buffer_printf(out, "message %zu (%s) was received but not recorded: ", place,
			      received->role);
		add_excerpt(out, received->text, line_size(received->text, received->size), 0);
	}
}

/*
 * Same, for the conversations that end with each message. One pass is enough, because each message
 * follows its predecessor on the tape.
 */
static uint32_t *all_common_messages(const struct tape *tape, const struct tape_talk *talk)
{
	uint32_t *common = mem_zero((tape->message_count + 1) * sizeof *common);

	for (size_t i = 1; i <= tape->message_count; i++) {
		const struct tape_message *message = &tape->messages[i - 1];
		bool same = message->place <= talk->count &&
			    strcmp(message->key, talk->turns[message->place - 1].key) == 0;

		common[i] = same ? message->place : common[message->before];
	}
	return common;
}

void tape_difference(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		     char ret_text[TAPE_DIFFERENCE])
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(8192);
	AUTO_FREE uint32_t *commons = all_common_messages(tape, talk);
	const struct tape_exchange *nearest = NULL;
	size_t common = 0;
	size_t same = 0;
	size_t kind = 0;

	for (size_t i = 0; i < tape->count; i++) {
		const struct tape_exchange *exchange = &tape->exchanges[i];
		size_t here;

		if (!same_route(exchange, talk))
			continue;
		kind++;
		same += used[i] && same_talk(tape, exchange, talk) && same_kind(exchange, talk);
		here = commons[exchange->last];
		if (!used[i] && (!nearest || here > common)) {
			nearest = exchange;
			common = here;
		}
	}
	if (same)
		buffer_printf(&out,
			      "the tape has this request %zu time%s, but it was sent once more",
			      same, same == 1 ? "" : "s");
	else if (!kind)
		buffer_printf(&out, "the tape has no request of this kind (%s of %s)", talk->route,
			      talk->provider);
	else if (!nearest)
		buffer_add_text(&out,
				"all exchanges on the tape are used, but another request was sent");
	else
		add_difference(&out, tape, nearest, talk);
	if (nearest && !same)
		buffer_printf(&out, " (line %zu of the tape)", nearest->line);
	snprintf(ret_text, TAPE_DIFFERENCE, "%s", buffer_text(&out));
}
