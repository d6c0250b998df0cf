/* Refusals in the format of each provider, providers' own limits, and masked secrets. */
#include "unit.h"

#include "meter/mask.h"
#include "meter/shape.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static bool refusal(enum usage_format format, enum shape_reason reason, const char *start,
		    const char *part)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(8192);
	const char *body;

	shape_refuse(&out, format, reason, "it is \"over\"", NULL, false);
	body = strstr(buffer_text(&out), "\r\n\r\n");
	return strncmp(buffer_text(&out), start, strlen(start)) == 0 && body &&
	       strstr(body, part) && strstr(body, "it is \\\"over\\\"") &&
	       (size_t)strtoul(strstr(buffer_text(&out), "Content-Length: ") + 16, NULL, 10) ==
		       strlen(body + 4);
}

static void refusals(void)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(8192);

	CHECK("a budget that is used up is 402, and for Codex a quota",
	      refusal(USAGE_ANTHROPIC, SHAPE_BUDGET, "HTTP/1.1 402 ",
		      "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\"") &&
		      refusal(USAGE_CHAT, SHAPE_BUDGET, "HTTP/1.1 402 ",
			      "\"code\":\"insufficient_quota\"") &&
		      refusal(USAGE_RESPONSES, SHAPE_BUDGET, "HTTP/1.1 429 ",
			      "\"type\":\"insufficient_quota\"") &&
		      refusal(USAGE_GEMINI, SHAPE_BUDGET, "HTTP/1.1 402 ",
			      "{\"error\":{\"code\":402,"));
	CHECK("other reasons have their own statuses",
	      refusal(USAGE_ANTHROPIC, SHAPE_KEY, "HTTP/1.1 401 ", "authentication_error") &&
		      refusal(USAGE_CHAT, SHAPE_LARGE, "HTTP/1.1 413 ", "request_too_large") &&
		      refusal(USAGE_RESPONSES, SHAPE_UPGRADE, "HTTP/1.1 426 ", "invalid_request"));
	CHECK("a stream of responses can end with a failure, others are cut",
	      shape_stream_end(&out, USAGE_RESPONSES, "over") &&
		      strstr(buffer_text(&out), "response.failed") &&
		      !shape_stream_end(&out, USAGE_ANTHROPIC, "over") &&
		      !shape_stream_end(&out, USAGE_CHAT, "over"));
}

static int64_t limit_of(const char *name, const char *value)
{
	struct shape_limit limit = { 0 };

	shape_limit_line(&limit, name, strlen(name), value, strlen(value), INT64_C(1795190400000));
	return limit.at_ms ? limit.at_ms - INT64_C(1795190400000) : 0;
}

/* Each unit, after the number 2. */
static bool reads_units(void)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {
		{ "ms", 2 },           { "s", 2000 },         { "sec", 2000 },
		{ "secs", 2000 },      { "second", 2000 },    { "seconds", 2000 },
		{ "m", 120000 },       { "min", 120000 },     { "mins", 120000 },
		{ "minute", 120000 },  { "minutes", 120000 }, { "h", 7200000 },
		{ "hr", 7200000 },     { "hrs", 7200000 },    { "hour", 7200000 },
		{ "hours", 7200000 },  { "d", 172800000 },    { "day", 172800000 },
		{ "days", 172800000 }, { "week", 0 },
	};
	bool held = true;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		char text[16];

		snprintf(text, sizeof text, "2%s", units[i].unit);
		held = limit_of("x-ratelimit-reset-tokens", text) == units[i].ms && held;
	}
	return held;
}

static void limits(void)
{
	CHECK("each unit of a span is read", reads_units());
	CHECK("retry-after is seconds or a date",
	      limit_of("Retry-After", "120") == 120000 &&
		      limit_of("retry-after", "Fri, 20 Nov 2026 16:00:10 GMT") == 10000 &&
		      limit_of("retry-after-ms", "1500") == 1500);
	CHECK("the provider's own headers are read",
	      limit_of("anthropic-ratelimit-requests-reset", "2026-11-20T16:01:00Z") == 60000 &&
		      limit_of("anthropic-ratelimit-unified-reset", "1795190460") == 60000 &&
		      limit_of("x-ratelimit-reset-tokens", "6m0s") == 360000 &&
		      limit_of("x-ratelimit-reset-requests", "250ms") == 250);
	CHECK("invalid times, and those long past or far ahead, are ignored",
	      limit_of("retry-after", "soon") == 0 && limit_of("retry-after", "-5") == 0 &&
		      limit_of("retry-after", "1e9") == 0 &&
		      limit_of("retry-after", "Fri, 20 Nov 2020 17:00:00 GMT") == 0 &&
		      limit_of("x-other", "5") == 0);
}

static int64_t body_limit(const char *message)
{
	struct shape_limit limit = { 0 };
	struct usage usage = { 0 };

	snprintf(usage.message, sizeof usage.message, "%s", message);
	shape_limit_body(&limit, &usage, INT64_C(1795190400000));
	return limit.at_ms ? limit.at_ms - INT64_C(1795190400000) : 0;
}

static void limits_in_words(void)
{
	AUTO_FREE char *text = mem_format("%*s. Please try again in 1h12m.", 3000, "x");

	CHECK("a time in words is read from a long message", body_limit(text) == 4320000);
	CHECK("in any case, with spaces and units in full",
	      body_limit("Try again in 3 days 4 hours 9 minutes.") == 274140000 &&
		      body_limit("Please retry in 51.2s.") == 51200 &&
		      body_limit("try again in 1 hour, 2 min and 3 secs") == 3723000);
	CHECK("the first readable time counts",
	      body_limit("Do not try again in vain; try again in 20s, not retry in 9m") == 20000);
	CHECK("words without a time give no time",
	      body_limit("try again in a while") == 0 &&
		      body_limit("try again in 5 bananas") == 0 &&
		      body_limit("try again in 5") == 0 && body_limit("try again in ") == 0);
}

/* Reads two headers, in both orders. Returns the time from now, or 0 if the order matters. */
static int64_t limit_of_two(const char *name, const char *value, const char *other,
			    const char *other_value)
{
	const int64_t now = INT64_C(1795190400000);
	struct shape_limit a = { 0 };
	struct shape_limit b = { 0 };

	shape_limit_line(&a, name, strlen(name), value, strlen(value), now);
	shape_limit_line(&a, other, strlen(other), other_value, strlen(other_value), now);
	shape_limit_line(&b, other, strlen(other), other_value, strlen(other_value), now);
	shape_limit_line(&b, name, strlen(name), value, strlen(value), now);
	return a.at_ms == b.at_ms && a.at_ms ? a.at_ms - now : 0;
}

static void limits_of_windows(void)
{
	CHECK("the limit that was reached outweighs other windows that reset later",
	      limit_of_two("anthropic-ratelimit-unified-reset", "1795190460",
			   "anthropic-ratelimit-unified-7d-reset", "1795700000") == 60000 &&
		      limit_of_two("retry-after", "60", "anthropic-ratelimit-unified-7d-reset",
				   "1795700000") == 60000);
	CHECK("of windows alone, the latest counts",
	      limit_of_two("x-ratelimit-reset-tokens", "6m0s", "x-ratelimit-reset-requests",
			   "250ms") == 360000);
}

static const char secret[] = "sk-ant-sk-ant-0123";

/* Passes a text through the mask, split at `at`. */
static bool masked(const char *text, size_t at, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer scratch = BUFFER_INIT(4096);
	struct mask mask;
	const char *bytes;
	size_t size;

	mask_init(&mask, secret);
	size = mask_feed(&mask, text, at, &scratch, &bytes);
	buffer_add(&out, bytes, size);
	size = mask_feed(&mask, text + at, strlen(text) - at, &scratch, &bytes);
	buffer_add(&out, bytes, size);
	size = mask_end(&mask, &bytes);
	buffer_add(&out, bytes, size);
	return strcmp(buffer_text(&out), expected) == 0;
}

static void secrets(void)
{
	static const char echo[] =
		"key sk-ant-sk-ant-sk-ant-0123 and sk-ant-sk-ant-0123sk-ant-sk-ant-0123, sk-ant-";
	static const char clean[] =
		"key sk-ant-xxxxxxxxxxxxxxxxxx and xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, sk-ant-";
	/* The second and third are in JSON nested in JSON. */
	static const char spelt[] =
		"\"sk-\\u0061nt-sk-ant-0123\\n\\\\u0073k-ant-sk-ant-0123 sk-\\\\u0061nt-sk-ant-\\\\\\\\u00303123"
		"sk-ant-sk-ant-012\\\\u0033 "
		"\\u0073\\u006b\\u002D\\u0061\\u006E\\u0074-sk-ant-\\u0030\\u0031\\u0032\\u0033\"";
	static const char blotted[] =
		"\"xxx\\u0078xxxxxxxxxxxxxx\\n\\\\u0078xxxxxxxxxxxxxxxxx sk-\\\\u0061nt-sk-ant-\\\\\\\\u00303123"
		"xxxxxxxxxxxxxxxxx\\\\u0078 "
		"\\u0078\\u0078\\u0078\\u0078\\u0078\\u0078xxxxxxxx\\u0078\\u0078\\u0078\\u0078\"";
	char text[] = "a/b\"c\\d a\\/b\\\"c\\\\d a/b a\\\\/b\\\\\\\"c\\\\d";
	struct mask mask;
	bool held = true;

	for (size_t at = 0; at < sizeof echo; at++)
		held = held && masked(echo, at, clean);
	CHECK("a secret is masked, wherever the text is split", held);
	held = true;
	for (size_t at = 0; at < sizeof spelt; at++)
		held = held && masked(spelt, at, blotted);
	CHECK("so is one that is partly or fully escaped", held);
	CHECK("a partial match is not touched", masked("sk-ant-\\u0073k-ant-0124 \\s \\u00", 9,
						       "sk-ant-\\u0073k-ant-0124 \\s \\u00"));
	CHECK("other bytes are not touched",
	      masked("nothing here", 4, "nothing here") && masked("", 0, ""));
	mask_init(&mask, "short");
	CHECK("a secret that is too short is ignored", mask.size == 0);
	mask_init(&mask, NULL);
	CHECK("no secret masks nothing", mask.size == 0);
	mask_text("a/b\"c\\d", text, strlen(text));
	CHECK("other JSON escapes, and a complete text, are masked",
	      strcmp(text, "xxxxxxx xxxxxxxxxx a/b xxxxxxxxxxxxx") == 0);
}

int main(void)
{
	refusals();
	limits();
	limits_in_words();
	limits_of_windows();
	secrets();
	return unit_failures > 0;
}
