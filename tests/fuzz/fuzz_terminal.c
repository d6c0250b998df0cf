// sources: src/fence/run/terminal_filter.c
/*
 * A command's output on its way to a terminal: however it is split, the result is the same, fits
 * its room, passes once more unchanged, and has no control that is not on the list.
 */
#include "fuzz.h"

#include "fence/run/terminal_filter.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14 };

struct output {
	char *bytes;
	size_t size;
};

static void filter(const char *data, size_t size, size_t piece, bool eight_bit,
		   struct output *ret_output)
{
	struct terminal_filter state;
	size_t used = 0;
	char *out = mem_alloc(TERMINAL_FILTER_ROOM(size) + 1);

	terminal_filter_init(&state, eight_bit);
	state.can_ask = true;
	for (size_t at = 0; at < size; at += piece) {
		size_t left = size - at < piece ? size - at : piece;
		AUTO_FREE char *room = mem_alloc(TERMINAL_FILTER_ROOM(left));
		size_t wrote = terminal_filter_feed(&state, data + at, left, room);

		if (wrote > TERMINAL_FILTER_ROOM(left) || used + wrote > TERMINAL_FILTER_ROOM(size))
			abort();
		memcpy(out + used, room, wrote);
		used += wrote;
		state.answers_used = 0;
	}
	*ret_output = (struct output){ out, used };

	AUTO_FREE char *last = mem_alloc(TERMINAL_FILTER_ROOM(0));

	terminal_filter_leave(&state, last);
	terminal_filter_return(&state, last);
}

/* After ESC, only what the tables allow; no C1 control in any form. */
static void check(const struct output *output, bool eight_bit)
{
	for (size_t i = 0; i < output->size; i++) {
		unsigned char byte = (unsigned char)output->bytes[i];
		unsigned char next = i + 1 < output->size ? (unsigned char)output->bytes[i + 1] : 0;

		if (byte == 0x7f || (byte < 0x20 && !strchr("\a\b\t\n\v\f\r\016\017\033", byte)) ||
		    (byte == 0x1b && (!next || !strchr("[78DEHMc=>()", next))) ||
		    (eight_bit && byte >= 0x80 && byte < 0xa0) ||
		    (!eight_bit && byte == 0xc2 && next < 0xa0))
			abort();
	}
}

static void run(const char *data, size_t size, size_t piece, bool eight_bit)
{
	struct output whole, pieces, again;

	filter(data, size, size, eight_bit, &whole);
	filter(data, size, piece, eight_bit, &pieces);
	check(&whole, eight_bit);
	filter(whole.bytes, whole.size, whole.size + 1, eight_bit, &again);
	if (whole.size != pieces.size || memcmp(whole.bytes, pieces.bytes, whole.size) != 0 ||
	    whole.size != again.size || memcmp(whole.bytes, again.bytes, whole.size) != 0)
		abort();
	free(whole.bytes);
	free(pieces.bytes);
	free(again.bytes);
}

void fuzz_terminal(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MOST)
		return;
	run((const char *)data, size, 1 + data[0] % 7, false);
	run((const char *)data, size, 1 + data[0] % 7, true);
}

FUZZ_TARGET(fuzz_terminal)
