/*
 * The forms in which providers say what was used: for each a table of the values that count, and a function that takes
 * them. The rest of the reader is in usage_reader.c.
 */
#ifndef METER_FORM_H
#define METER_FORM_H

#include "meter/usage.h"

struct form {
	const struct jsonscan_node *nodes;
	size_t count;
	jsonscan_fn *take;
	uint8_t text; /* the node in which a body that is not streamed has its text */
};

extern const struct form form_anthropic, form_chat, form_responses, form_gemini;

/* What they share. */
void form_text(struct usage_reader *reader, const struct jsonscan_value *value);
void form_word(const struct jsonscan_value *value, char *ret_word, size_t size);
bool form_says(const struct jsonscan_value *value, const char *word);
void form_number(const struct jsonscan_value *value, uint64_t *ret_number);
void form_prompt(struct usage_reader *reader, const struct jsonscan_value *value);
void form_answer(struct usage_reader *reader, const struct jsonscan_value *value);
void form_divide(
	struct usage_reader *reader); /* cached and written tokens are a part of the prompt */

#endif
