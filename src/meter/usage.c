/* What a model's answer says that was used: see usage.h. */
#include "meter/usage.h"

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

static const struct form *const forms[USAGE_FORMATS] = {
	[USAGE_ANTHROPIC] = &form_anthropic,
	[USAGE_CHAT] = &form_chat,
	[USAGE_RESPONSES] = &form_responses,
	[USAGE_GEMINI] = &form_gemini,
};

static void take_data(void *context, const char *bytes, size_t size)
{
	struct usage_reader *reader = context;

	jsonscan_feed(&reader->scan, bytes, size);
}

static void end_event(void *context, size_t at)
{
	struct usage_reader *reader = context;
	bool extra = reader->has_usage && reader->has_choices && reader->empty_choices;

	reader->has_usage = reader->has_choices = reader->empty_choices = false;
	jsonscan_reset(&reader->scan);
	if (reader->event)
		reader->event(reader->context, at, extra);
}

void usage_init(struct usage_reader *reader, enum usage_format format, bool stream)
{
	*reader = (struct usage_reader){ .format = format, .stream = stream };
	reader->scan = (struct jsonscan){ .nodes = forms[format]->nodes,
					  .count = forms[format]->count,
					  .tell = forms[format]->take,
					  .context = reader };
	reader->sse = (struct sse){ .data = take_data, .end = end_event, .context = reader };
}

void usage_feed(struct usage_reader *reader, const char *bytes, size_t size)
{
	if (reader->stream)
		sse_feed(&reader->sse, bytes, size);
	else
		jsonscan_feed(&reader->scan, bytes, size);
}

uint64_t usage_estimate(const struct usage_reader *reader)
{
	const struct usage *usage = &reader->usage;
	uint64_t bytes = usage->text_bytes +
			 jsonscan_pending(&reader->scan, forms[reader->format]->text);
	uint64_t tokens = (bytes + 1) / 2;

	return tokens > usage->deltas ? tokens : usage->deltas;
}
