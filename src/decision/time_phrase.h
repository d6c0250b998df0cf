/*
 * One expression of time, read but not yet placed: for reset.c.
 *
 * The text is prepared: ASCII without control characters, once in lower case (which is read) and
 * once as it was (which tells zones from words), both of the same size and ending in NUL.
 */
#ifndef DECISION_TIME_PHRASE_H
#define DECISION_TIME_PHRASE_H

#include "decision/lines.h"

#include <stdbool.h>
#include <stdint.h>

enum { GUARD_ZONE_NAME_MAX = 64 };

struct time_phrase {
	bool has_delay, has_epoch, has_clock, has_date, has_year, has_weekday, has_shift,
		has_offset;
	int64_t delay_ms;
	int64_t epoch_ms;
	int64_t clock_s; /* since midnight */
	int64_t year, month, day;
	int64_t weekday;  /* 0 is Sunday */
	int64_t shift;    /* 0 is today, 1 tomorrow */
	int64_t offset_s; /* of a zone that is a number */
	char zone[GUARD_ZONE_NAME_MAX + 1];
};

struct time_phrase_reader {
	const char *lower; /* what is read next */
	const char *exact; /* the same place */
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

/* Is the words' last letter the last of a word? Moves behind them then. */
bool time_phrase_word(struct time_phrase_reader *reader, const char *words);
void time_phrase_skip(struct time_phrase_reader *reader, const char *characters);

/* Each returns 1 if it was there, 0 if not (and nothing was read), -1 if it cannot be right. */
int time_phrase_number(struct time_phrase_reader *reader, struct time_phrase *moment);
int time_phrase_delay(struct time_phrase_reader *reader, struct time_phrase *moment);
int time_phrase_civil(struct time_phrase_reader *reader, struct time_phrase *moment);

#endif
