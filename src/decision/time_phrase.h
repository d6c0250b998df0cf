/*
 * Parses one expression of time without resolving it: internal to reset.c.
 *
 * The text is prepared: ASCII without control characters, in lower case (which is parsed) and in
 * its original case (which distinguishes zones from words). Both have the same size and end in NUL.
 */
#ifndef DECISION_TIME_PHRASE_H
#define DECISION_TIME_PHRASE_H

#include "decision/lines.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIME_PHRASE_ZONE_MAX = 64 };

struct time_phrase {
	bool has_delay, has_epoch, has_clock, has_date, has_year, has_weekday, has_shift,
		has_offset;
	int64_t delay_ms;
	int64_t epoch_ms;
	int64_t clock_s; /* since midnight */
	int64_t year, month, day;
	int64_t weekday;  /* 0 is Sunday */
	int64_t shift;    /* 0 is today, 1 tomorrow */
	int64_t offset_s; /* of a numeric zone */
	char zone[TIME_PHRASE_ZONE_MAX + 1];
};

struct time_phrase_reader {
	const char *lower; /* the next character */
	const char *exact; /* the same position in the original text */
};

static inline void time_phrase_move(struct time_phrase_reader *reader, const char *to)
{
	reader->exact += to - reader->lower;
	reader->lower = to;
}

static inline bool time_phrase_joins(char c)
{
	return lines_letter(c) || lines_digit(c) || c == '_';
}

/* Reads the words if they end at a word boundary. Returns whether they were there. */
bool time_phrase_word(struct time_phrase_reader *reader, const char *words);
void time_phrase_skip(struct time_phrase_reader *reader, const char *characters);

/* Each returns 1 if it read something, 0 if it read nothing, or -1 if the text is invalid. */
int time_phrase_number(struct time_phrase_reader *reader, struct time_phrase *moment);
int time_phrase_delay(struct time_phrase_reader *reader, struct time_phrase *moment);
int time_phrase_civil(struct time_phrase_reader *reader, struct time_phrase *moment);

#endif
