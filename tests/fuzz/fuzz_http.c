// sources: src/gateway/proxy/http.c src/gateway/proxy/http_write.c
/* Heads of requests and responses, and chunked bodies. */
#include "fuzz.h"

#include "gateway/proxy/http.h"

#include <stdlib.h>
#include <string.h>

/* Rewriting adds a header or two, so only a head with the maximum number may become too long. */
static bool at_the_edge(const char *wrong)
{
	return wrong && strstr(wrong, "too many headers");
}

/* A rewritten request is unambiguous: parsed again, it is the same, and nothing follows it. */
static void check_request(const char *bytes, size_t size, enum http_form form)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct rule_target target = { .host = "host.example", .port = 80 };
	struct http_request request;
	struct http_request again;

	if (http_request_read(bytes, size, form, &request) || request.connect)
		return;
	http_request_write(&request, &target, &out);

	const char *wrong = http_request_read(out.data, out.used, HTTP_ORIGIN, &again);

	if (at_the_edge(wrong))
		return;
	if (wrong || http_head_size(out.data, out.used, 0) != (ssize_t)out.used ||
	    again.message.body != request.message.body ||
	    again.message.length != request.message.length || again.authorization.at ||
	    strcmp(again.host_line, "host.example") != 0 || again.message.upgrade)
		abort();
}

static void check_response(const char *bytes, size_t size, bool to_head)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct http_response response;
	struct http_response again;

	if (http_response_read(bytes, size, to_head, &response))
		return;
	http_response_write(&response, false, &out);

	const char *wrong = http_response_read(out.data, out.used, to_head, &again);

	if (at_the_edge(wrong))
		return;
	if (wrong || http_head_size(out.data, out.used, 0) != (ssize_t)out.used ||
	    again.status != response.status || again.message.body != response.message.body ||
	    again.message.length != response.message.length)
		abort();
}

/* Without chunk framing: the same end, and no more data than input bytes. */
static void check_data(const char *bytes, size_t size, bool strict, ssize_t expected)
{
	struct http_chunks chunks = { .strict = strict };
	size_t at = 0;
	size_t sum = 0;

	while (at < size && !chunks.done) {
		struct http_text data;
		ssize_t n = http_chunks_take(&chunks, bytes + at, size - at, &data);

		if (n < 0) {
			if (expected >= 0)
				abort();
			return;
		}
		if (n == 0 || (data.size > 0 &&
			       (data.at < bytes + at || data.at + data.size > bytes + at + n)))
			abort();
		sum += data.size;
		at += (size_t)n;
	}
	if ((ssize_t)at != expected || sum > at)
		abort();
}

/* At once or byte by byte: the same end. */
static void check_chunks(const char *bytes, size_t size, bool strict)
{
	struct http_chunks whole = { .strict = strict };
	struct http_chunks single = { .strict = strict };
	ssize_t used = http_chunks_scan(&whole, bytes, size);
	ssize_t sum = 0;

	for (size_t i = 0; i < size && !single.done; i++) {
		ssize_t n = http_chunks_scan(&single, bytes + i, 1);

		if (n < 0) {
			if (used >= 0)
				abort();
			return;
		}
		sum += n;
	}
	if (used != sum || whole.done != single.done)
		abort();
	check_data(bytes, size, strict, used);
}

void fuzz_http(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	ssize_t head = http_head_size(bytes, size, 0);

	if (head > (ssize_t)size)
		abort();
	if (head > 0) {
		check_request(bytes, (size_t)head, HTTP_PROXY);
		check_request(bytes, (size_t)head, HTTP_ORIGIN);
		check_response(bytes, (size_t)head, false);
		check_response(bytes, (size_t)head, true);
	}
	check_chunks(bytes, size, false);
	check_chunks(bytes, size, true);
}

FUZZ_TARGET(fuzz_http)
