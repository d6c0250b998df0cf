/* Error responses for clients, and reset times of providers: see shape.h. */
#include "meter/shape.h"

#include "util/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct form {
	unsigned int status;
	const char *phrase;
	const char *type;   /* for Anthropic and OpenAI */
	const char *code;   /* for OpenAI */
	const char *google; /* status for Google */
};

static const struct form forms[SHAPE_REASONS] = {
	/* Claude Code, Gemini and opencode stop at once after 402. */
	[SHAPE_BUDGET] = { 402, "Payment Required", "billing_error", "insufficient_quota",
			   "FAILED_PRECONDITION" },
	[SHAPE_RUNAWAY] = { 402, "Payment Required", "billing_error", "insufficient_quota",
			    "FAILED_PRECONDITION" },
	[SHAPE_KEY] = { 401, "Unauthorized", "authentication_error", "invalid_api_key",
			"UNAUTHENTICATED" },
	[SHAPE_REQUEST] = { 400, "Bad Request", "invalid_request_error", "invalid_request",
			    "INVALID_ARGUMENT" },
	[SHAPE_ROUTE] = { 404, "Not Found", "not_found_error", "unknown_url", "NOT_FOUND" },
	[SHAPE_LARGE] = { 413, "Content Too Large", "request_too_large", "request_too_large",
			  "INVALID_ARGUMENT" },
	[SHAPE_MODEL] = { 400, "Bad Request", "invalid_request_error", "model_not_found",
			  "INVALID_ARGUMENT" },
	[SHAPE_UPSTREAM] = { 502, "Bad Gateway", "api_error", "server_error", "UNAVAILABLE" },
	[SHAPE_BUSY] = { 503, "Service Unavailable", "overloaded_error", "server_error",
			 "UNAVAILABLE" },
	[SHAPE_SLOW] = { 408, "Request Timeout", "invalid_request_error", "invalid_request",
			 "DEADLINE_EXCEEDED" },
	[SHAPE_UPGRADE] = { 426, "Upgrade Required", "invalid_request_error", "invalid_request",
			    "INVALID_ARGUMENT" },
};

/* Codex retries after 402 but stops after a used-up quota. Other clients of OpenAI's formats,
 * such as opencode, retry after 429. Codex uses Responses, the others Chat. */
static struct form form_of(enum usage_format format, enum shape_reason reason)
{
	struct form form = forms[reason];

	if ((reason == SHAPE_BUDGET || reason == SHAPE_RUNAWAY) && format == USAGE_RESPONSES) {
		form.status = 429;
		form.phrase = "Too Many Requests";
	}
	return form;
}

static void add_body(struct buffer *body, enum usage_format format, const struct form *form,
		     const char *text, const char *param)
{
	switch (format) {
	case USAGE_ANTHROPIC:
		buffer_printf(body, "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":",
			      form->type);
		text_json(body, text);
		buffer_add_text(body, "}}");
		break;
	case USAGE_GEMINI:
		buffer_printf(body, "{\"error\":{\"code\":%u,\"status\":\"%s\",\"message\":",
			      form->status, form->google);
		text_json(body, text);
		buffer_add_text(body, "}}");
		break;
	default:
		buffer_add_text(body, "{\"error\":{\"message\":");
		text_json(body, text);
		buffer_add_text(body, ",\"param\":");
		if (param)
			text_json(body, param);
		else
			buffer_add_text(body, "null");
		buffer_printf(body, ",\"type\":\"%s\",\"code\":\"%s\"}}",
			      strcmp(form->code, "insufficient_quota") == 0 ? form->code
									    : form->type,
			      form->code);
		break;
	}
}

void shape_refuse(struct buffer *out, enum usage_format format, enum shape_reason reason,
		  const char *text, const char *param, bool keep)
{
	AUTO_BUFFER struct buffer body = BUFFER_INIT(4096);
	const struct form form = form_of(format, reason);

	add_body(&body, format, &form, text, param);
	buffer_printf(out,
		      "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		      "%s%s\r\n",
		      form.status, form.phrase, body.used,
		      reason == SHAPE_BUSY || reason == SHAPE_SLOW ? "Retry-After: 1\r\n"
								   : "x-should-retry: false\r\n",
		      keep ? "" : "Connection: close\r\n");
	buffer_add(out, buffer_text(&body), body.used);
}

bool shape_stream_end(struct buffer *out, enum usage_format format, const char *text)
{
	if (format != USAGE_RESPONSES)
		return false; /* cut the stream; every retry gets the refusal */
	buffer_add_text(
		out,
		"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\","
		"\"error\":{\"code\":\"insufficient_quota\",\"message\":");
	text_json(out, text);
	buffer_add_text(out, "}}}\n\n");
	return true;
}

static bool is(const char *name, size_t size, const char *word)
{
	return size == strlen(word) && strncasecmp(name, word, size) == 0;
}

/* Reads a number, possibly with decimals, in thousandths. */
static bool read_thousandths(const char *text, int64_t *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || value < 0 || value > 1e10)
		return false;
	*ret_value = (int64_t)(value * 1000);
	return true;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" or "2026-11-17T03:00:00Z". */
static bool read_date(const char *text, int64_t *ret_ms)
{
	struct tm parts = { 0 };
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts);

	if (!end) {
		parts = (struct tm){ 0 };
		end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
		if (end && *end == '.')
			end += 1 + strspn(end + 1, "0123456789");
		if (end && strcmp(end, "Z") == 0)
			end++;
		else if (end && strcmp(end, "+00:00") == 0)
			end += 6;
		else
			return false;
	}
	if (*end)
		return false;
	*ret_ms = (int64_t)timegm(&parts) * 1000;
	return true;
}

static double unit_ms(const char *unit, size_t size)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {
		{ "ms", 1 },        { "s", 1000 },       { "sec", 1000 },      { "secs", 1000 },
		{ "second", 1000 }, { "seconds", 1000 }, { "m", 60000 },       { "min", 60000 },
		{ "mins", 60000 },  { "minute", 60000 }, { "minutes", 60000 }, { "h", 3600000 },
		{ "hr", 3600000 },  { "hrs", 3600000 },  { "hour", 3600000 },  { "hours", 3600000 },
		{ "d", 86400000 },  { "day", 86400000 }, { "days", 86400000 },
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (is(unit, size, units[i].unit))
			return units[i].ms;
	return 0;
}

static size_t letters(const char *text)
{
	size_t size = 0;

	while (isalpha((unsigned char)text[size]))
		size++;
	return size;
}

/* Reads a number with its unit, such as "6m" or "4 hours". Returns the bytes consumed, or 0. */
static size_t read_part(const char *text, double *ret_ms)
{
	char *end = (char *)text;
	double value = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
	const char *unit = end + strspn(end, " ");
	size_t size = letters(unit);
	double ms = unit_ms(unit, size);

	if (end == text || value > 1e9 || ms == 0)
		return 0;
	*ret_ms = value * ms;
	return (size_t)(unit - text) + size;
}

/* Reads "6m0s", "1.5s" or "250ms", OpenAI's notation for reset times. */
static bool read_span(const char *text, int64_t *ret_ms)
{
	double sum = 0;
	double ms = 0;

	while (*text) {
		size_t size = read_part(text, &ms);

		if (!size)
			return false;
		text += size;
		sum += ms;
	}
	*ret_ms = (int64_t)sum;
	return true;
}

/* Reads the span at the start of a text, in which words may be apart: "1 hour, 2 min and 3 s". */
static bool read_phrase(const char *text, int64_t *ret_ms)
{
	double sum = 0;
	double ms = 0;
	size_t size = read_part(text, &ms);

	if (size == 0)
		return false;
	while (size > 0) {
		sum += ms;
		text += size;
		text += strspn(text, " ,");
		if (strncmp(text, "and ", 4) == 0)
			text += 4;
		size = read_part(text, &ms);
	}
	*ret_ms = sum < 1e15 ? (int64_t)sum : INT64_C(1000000000000000);
	return true;
}

static bool ends_with(const char *name, size_t size, const char *end)
{
	return size > strlen(end) && is(name + size - strlen(end), strlen(end), end);
}

/* Over a year ahead is a mistake. */
static void note_limit(struct shape_limit *limit, int64_t ms, bool reached, int64_t now_ms)
{
	bool better = reached == limit->reached ? ms > limit->at_ms : reached;

	if (!better || ms < now_ms - 60000 || ms - now_ms >= INT64_C(366) * 86400000)
		return;
	*limit = (struct shape_limit){ .at_ms = ms, .reached = reached };
}

/* Reads the time in "Please try again in 1h12m.", or "in 3 days 4 hours". */
static bool read_words(const char *message, int64_t *ret_ms)
{
	static const char *const starts[] = { "try again in ", "retry in " };

	for (; *message; message++)
		for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
			if (strncasecmp(message, starts[i], strlen(starts[i])) == 0 &&
			    read_phrase(message + strlen(starts[i]), ret_ms))
				return true;
	return false;
}

void shape_limit_body(struct shape_limit *limit, const struct usage *usage, int64_t now_ms)
{
	int64_t ms;

	if (read_date(usage->resets_at, &ms) || read_thousandths(usage->resets_at, &ms))
		note_limit(limit, ms, true, now_ms);
	if (usage->resets_in[0] &&
	    (read_thousandths(usage->resets_in, &ms) || read_span(usage->resets_in, &ms)))
		note_limit(limit, now_ms + ms, true, now_ms);
	if (read_words(usage->message, &ms))
		note_limit(limit, now_ms + ms, true, now_ms);
}

void shape_limit_line(struct shape_limit *limit, const char *name, size_t name_size,
		      const char *value, size_t value_size, int64_t now_ms)
{
	char text[64];
	int64_t ms;
	bool found = false;
	bool reached = is(name, name_size, "retry-after") ||
		       is(name, name_size, "retry-after-ms") ||
		       is(name, name_size, "anthropic-ratelimit-unified-reset");

	if (value_size >= sizeof text)
		return;
	memcpy(text, value, value_size);
	text[value_size] = '\0';
	if (is(name, name_size, "retry-after-ms")) {
		found = read_thousandths(text, &ms);
		ms = found ? now_ms + ms / 1000 : 0;
	} else if (is(name, name_size, "retry-after")) {
		found = read_thousandths(text, &ms);
		ms = found ? now_ms + ms : 0;
		if (!found)
			found = read_date(text, &ms);
	} else if (name_size > 20 && is(name, 20, "anthropic-ratelimit-") &&
		   ends_with(name, name_size, "-reset")) {
		found = read_date(text, &ms);
		/* Subscriptions: seconds since the epoch. */
		if (!found && read_thousandths(text, &ms))
			found = true;
	} else if (name_size > 18 && is(name, 18, "x-ratelimit-reset-")) {
		found = read_span(text, &ms);
		ms = found ? now_ms + ms : 0;
	}
	if (found)
		note_limit(limit, ms, reached, now_ms);
}
