/* Edits of the body of a request to a model: see request.h. */
#include "meter/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Keeps the edits sorted. */
static void add_edit(struct request_body *body, uint64_t at, uint64_t remove, const char *text)
{
	size_t i = body->edit_count++;

	for (; i > 0 && body->edits[i - 1].at > at; i--)
		body->edits[i] = body->edits[i - 1];
	body->edits[i] = (struct request_edit){ .at = at, .remove = remove };
	snprintf(body->edits[i].text, sizeof body->edits[i].text, "%s", text);
}

void request_body_limit(struct request_body *body, uint64_t tokens)
{
	bool nested = body->route->format == USAGE_GEMINI;
	bool null = body->config.end && body->config.kind == JSONSCAN_NULL;
	bool open = body->config.end && !null;
	const char *start = null ? "{" : "\"generationConfig\":{";
	char text[64];

	body->most = tokens;
	/* The thinking budget must be below the limit, or the provider refuses the request. */
	if (body->thinking.end && body->thinking.kind == JSONSCAN_NUMBER &&
	    body->thinking.number >= tokens) {
		snprintf(text, sizeof text, "%-*" PRIu64,
			 (int)(body->thinking.end - body->thinking.start), tokens / 2);
		add_edit(body, body->thinking.start, body->thinking.end - body->thinking.start,
			 text);
	}
	for (size_t i = 0; i < 2; i++) {
		const struct request_spot *spot = &body->limit[i];

		if (!spot->end || spot->number <= tokens)
			continue;
		/* Pad the number with blanks, so that nothing else moves. */
		snprintf(text, sizeof text, "%-*" PRIu64, (int)(spot->end - spot->start), tokens);
		add_edit(body, spot->start, spot->end - spot->start, text);
	}
	if (body->limit[0].end)
		return;
	snprintf(text, sizeof text, "%s\"%s\":%" PRIu64 "%s%s", nested && !open ? start : "",
		 body->schema->limit_key, tokens, nested && !open ? "}" : "",
		 null || (open && body->config.empty) ? "" : ",");
	if (null)
		add_edit(body, body->config.start, body->config.end - body->config.start, text);
	else
		add_edit(body, nested && open ? body->config.start + 1 : body->root, 0, text);
}

void request_body_ask_usage(struct request_body *body)
{
	const struct request_spot *options = &body->options;

	if (body->route->format != USAGE_CHAT || !body->stream || body->asks_usage)
		return;
	if (body->usage.end)
		add_edit(body, body->usage.start, body->usage.end - body->usage.start, "true");
	else if (options->end && options->kind == JSONSCAN_OBJECT)
		add_edit(body, options->start + 1, 0,
			 options->empty ? "\"include_usage\":true" : "\"include_usage\":true,");
	else if (options->end)
		add_edit(body, options->start, options->end - options->start,
			 "{\"include_usage\":true}");
	else
		add_edit(body, body->root, 0, "\"stream_options\":{\"include_usage\":true},");
}

int64_t request_body_growth(const struct request_body *body)
{
	int64_t growth = 0;

	for (size_t i = 0; i < body->edit_count; i++)
		growth += (int64_t)strlen(body->edits[i].text) - (int64_t)body->edits[i].remove;
	return growth;
}
