/* The output of a tool as text: see agent.h. */
#include "agent/agent.h"

#include "agent/jsonline.h"

enum { DEEPEST = 6 };

static void add_value(struct jsonline value, int depth, struct buffer *out);

/* Adds the elements of an array, a line each. */
static void add_elements(struct jsonline array, int depth, struct buffer *out)
{
	struct jsonline element;
	size_t cursor = 0;

	while (jsonline_next(array, &cursor, NULL, &element)) {
		if (out->used && out->data[out->used - 1] != '\n')
			buffer_add_text(out, "\n");
		add_value(element, depth + 1, out);
	}
}

/* Adds the first of the fields in which tools put their text. */
static void add_fields(struct jsonline object, int depth, struct buffer *out)
{
	enum { TEXT, OUTPUT, CONTENT, COUNT };
	struct jsonline_field fields[COUNT] = { { "text", { 0 } },
						{ "output", { 0 } },
						{ "content", { 0 } } };

	jsonline_object(object, fields, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		if (fields[i].value.at) {
			add_value(fields[i].value, depth + 1, out);
			return;
		}
	}
}

static void add_value(struct jsonline value, int depth, struct buffer *out)
{
	if (!value.size || depth > DEEPEST)
		return;
	if (value.at[0] == '"')
		jsonline_text(value, AGENT_TEXT_MAX, out);
	else if (value.at[0] == '[')
		add_elements(value, depth, out);
	else if (value.at[0] == '{')
		add_fields(value, depth, out);
}

void agent_event_output(const struct agent_event *event, struct buffer *out)
{
	if (event->output)
		add_value((struct jsonline){ event->output, event->output_size }, 0, out);
}
