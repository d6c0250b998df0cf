/*
 * Decides what a confined command may send to the caller's terminal. Pure: bytes in, bytes out.
 *
 * The output is parsed as terminals do, with the C1 controls in all their forms. Only whole
 * characters and whole sequences that the tables list pass, in their plainest form; everything else
 * is dropped, and so is every string (OSC, DCS, APC, PM, SOS), however long. The terminal is
 * therefore never left within a sequence, and it does not matter where the output is split.
 *
 * Two questions that programs wait for are answered here, without asking the terminal. A third one,
 * for the cursor's position, passes while the caller can take the answer.
 */
#ifndef FENCE_RUN_TERMINAL_FILTER_H
#define FENCE_RUN_TERMINAL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest control sequence that passes, without its introducer. */
enum { TERMINAL_FILTER_LONGEST = 256 };

/* Room for the output of `size` bytes of input, and of terminal_filter_leave(). */
#define TERMINAL_FILTER_ROOM(size) (3 * (size) + TERMINAL_FILTER_LONGEST + 8)

/* The most positions that are asked for at once. */
enum { TERMINAL_FILTER_ASKED = 16 };

struct terminal_filter {
	bool eight_bit; /* the terminal does not read UTF-8: bytes 0x80 to 0x9f are controls */
	bool can_ask;   /* the caller reads what the terminal answers */
	unsigned int state;
	unsigned char character[4]; /* an incomplete UTF-8 character */
	size_t character_used;
	char held[TERMINAL_FILTER_LONGEST]; /* an incomplete sequence */
	size_t held_used;
	uint32_t on;    /* a bit for each row of the table of features that is not as it was */
	uint32_t saved; /* those of `on` that a saved cursor may bring back */
	char answers[64];
	size_t answers_used;   /* the caller gives these bytes to the command, and sets it to 0 */
	unsigned int asked;    /* positions that were asked for and not answered yet */
	unsigned int answered; /* the state of terminal_filter_typed() */
};

void terminal_filter_init(struct terminal_filter *filter, bool eight_bit);

/* Filters output into `out`, which has TERMINAL_FILTER_ROOM(size). Returns the bytes written. */
size_t terminal_filter_feed(struct terminal_filter *filter, const char *bytes, size_t size,
			    char *out);

/* Looks for answers of the terminal in what is typed. */
void terminal_filter_typed(struct terminal_filter *filter, const char *bytes, size_t size);

/* Writes what gives the terminal back as it was: modes off, colours and characters as usual.
 * Returns the bytes written. An unfinished sequence is forgotten. */
size_t terminal_filter_leave(struct terminal_filter *filter, char *out);

/* Writes what undoes terminal_filter_leave(), for a command that was stopped and continues. */
size_t terminal_filter_return(const struct terminal_filter *filter, char *out);

#endif
