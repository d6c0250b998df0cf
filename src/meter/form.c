/* Functions shared by the formats: see form.h. */
#include "meter/form.h"

#include <string.h>

void form_text(struct usage_reader *reader, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_STRING)
		return;
	reader->usage.text_bytes += value->bytes;
	reader->usage.deltas++;
}

void form_word(const struct jsonscan_value *value, char *ret_word, size_t size)
{
	size_t kept = value->kept < size - 1 ? value->kept : size - 1;

	if (value->kind != JSONSCAN_STRING)
		return;
	memcpy(ret_word, value->text, kept);
	ret_word[kept] = '\0';
}

void form_time(const struct jsonscan_value *value, char ret_time[USAGE_TIME])
{
	if ((value->kind != JSONSCAN_STRING && value->kind != JSONSCAN_NUMBER) ||
	    value->kept >= USAGE_TIME)
		return;
	memcpy(ret_time, value->text, value->kept);
	ret_time[value->kept] = '\0';
}

void form_frame(struct usage_reader *reader, const struct jsonscan_value *value)
{
	reader->usage.framed |= value->kind == JSONSCAN_OBJECT || value->kind == JSONSCAN_LIST;
}

bool form_says(const struct jsonscan_value *value, const char *word)
{
	return value->kind == JSONSCAN_STRING && strcmp(value->text, word) == 0;
}

void form_number(const struct jsonscan_value *value, uint64_t *ret_number)
{
	if (value->kind == JSONSCAN_NUMBER)
		*ret_number = value->number;
}

void form_divide(struct usage_reader *reader)
{
	uint64_t *tokens = reader->usage.use.tokens;
	uint64_t prompt = reader->prompt;
	uint64_t cached = reader->cached < prompt ? reader->cached : prompt;
	uint64_t written = reader->written < prompt - cached ? reader->written : prompt - cached;

	tokens[PRICE_READ] = cached;
	tokens[PRICE_WRITE_5M] = written;
	tokens[PRICE_INPUT] = prompt - cached - written;
}

void form_prompt(struct usage_reader *reader, const struct jsonscan_value *value)
{
	form_number(value, &reader->prompt);
	reader->usage.has_input |= value->kind == JSONSCAN_NUMBER;
}

void form_answer(struct usage_reader *reader, const struct jsonscan_value *value)
{
	form_number(value, &reader->usage.use.tokens[PRICE_OUTPUT]);
	reader->usage.has_output |= value->kind == JSONSCAN_NUMBER;
}
