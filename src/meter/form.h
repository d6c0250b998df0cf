/* The providers' response formats: for each, a table of the JSON values to look for, and a
 * function that handles them. The rest of the reader is in usage_reader.c. */
#ifndef METER_FORM_H
#define METER_FORM_H

#include "meter/usage.h"

struct form {
	const struct jsonscan_node *nodes;
	size_t count;
	jsonscan_fn *on_value;
	uint8_t text; /* the node that holds the text of a body that is not streamed */
};

extern const struct form form_anthropic, form_chat, form_responses, form_gemini;

/* Shared by the formats. form_divide() subtracts cached and written tokens from the prompt. */
void form_text(struct usage_reader *reader, const struct jsonscan_value *value);
void form_word(const struct jsonscan_value *value, char *ret_word, size_t size);
bool form_says(const struct jsonscan_value *value, const char *word);
void form_time(const struct jsonscan_value *value, char ret_time[USAGE_TIME]);
void form_frame(struct usage_reader *reader, const struct jsonscan_value *value);
void form_number(const struct jsonscan_value *value, uint64_t *ret_number);
void form_prompt(struct usage_reader *reader, const struct jsonscan_value *value);
void form_answer(struct usage_reader *reader, const struct jsonscan_value *value);
void form_divide(struct usage_reader *reader);

#endif
