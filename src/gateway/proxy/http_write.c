/* Rewrites HTTP heads, and finds the end of chunked bodies: see http.h. */
#include "gateway/proxy/http.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Headers that are for one connection only, or are rewritten. */
bool http_line_dropped(struct http_text name, const struct http_message *message)
{
	static const char *const names[] = { "Connection",
					     "Proxy-Connection",
					     "Keep-Alive",
					     "TE",
					     "Trailer",
					     "Upgrade",
					     "Host",
					     "Proxy-Authorization",
					     "Content-Length",
					     "Proxy-Authenticate",
					     "Proxy-Authentication-Info",
					     "Transfer-Encoding" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (http_text_is(name, names[i]))
			return true;
	for (size_t i = 0; i < message->named_count; i++)
		if (message->named[i].size == name.size &&
		    strncasecmp(message->named[i].at, name.at, name.size) == 0)
			return true;
	return false;
}

static void write_lines(const struct http_message *message, struct buffer *out)
{
	struct http_text rest = message->lines;

	while (rest.size > 2) {
		const char *end = memmem(rest.at, rest.size, "\r\n", 2);
		const char *colon = memchr(rest.at, ':', rest.size);

		if (!end || end == rest.at || !colon || colon > end)
			break;
		if (!http_line_dropped((struct http_text){ rest.at, (size_t)(colon - rest.at) },
				       message))
			buffer_add(out, rest.at, (size_t)(end - rest.at) + 2);
		rest.size -= (size_t)(end - rest.at) + 2;
		rest.at = end + 2;
	}
	if (message->body == HTTP_LENGTH)
		buffer_printf(out, "Content-Length: %" PRIu64 "\r\n", message->length);
	else if (message->body == HTTP_CHUNKS)
		buffer_add_text(out, "Transfer-Encoding: chunked\r\n");
}

void http_request_write(const struct http_request *request, const struct rule_target *target,
			struct buffer *out)
{
	const struct http_text *path = &request->path;
	bool six = target->address.family == 6;

	buffer_add(out, request->method.at, request->method.size);
	buffer_add_text(out, path->size == 0 || path->at[0] != '/' ? " /" : " ");
	buffer_add(out, path->at ? path->at : "", path->size);
	buffer_printf(out, " HTTP/1.%u\r\nHost: %s%s%s", request->message.minor, six ? "[" : "",
		      target->host, six ? "]" : "");
	if (target->port != 80)
		buffer_printf(out, ":%u", target->port);
	buffer_add_text(out, "\r\n");
	write_lines(&request->message, out);
	buffer_add_text(out, "\r\n");
}

void http_response_write(const struct http_response *response, bool keep, struct buffer *out)
{
	buffer_printf(out, "HTTP/1.1 %03u", response->status);
	buffer_add(out, response->reason.at, response->reason.size);
	buffer_add_text(out, "\r\n");
	write_lines(&response->message, out);
	if (response->status >= 200)
		buffer_printf(out, "Connection: %s\r\n", keep ? "keep-alive" : "close");
	buffer_add_text(out, "\r\n");
}

enum { SIZE, EXTENSION, SIZE_END, DATA, DATA_CR, DATA_LF, TRAILER, LINE, LINE_END, LAST_END };
enum { LONGEST_LINE = 16384 };

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses one byte of the framing. Returns the next state, or -1. */
static int step(struct http_chunks *chunks, char c)
{
	int digit;

	switch (chunks->state) {
	case SIZE:
		digit = hex_digit(c);
		if (digit >= 0 && chunks->digits < 15) {
			chunks->left = chunks->left * 16 + (uint64_t)digit;
			chunks->digits++;
			return SIZE;
		}
		if (chunks->digits == 0 || digit >= 0)
			return -1;
		if (c == ';' && !chunks->strict)
			return EXTENSION;
		return c == '\r' ? SIZE_END : -1;
	case EXTENSION:
		if (++chunks->line > LONGEST_LINE ||
		    ((unsigned char)c < ' ' && c != '\t' && c != '\r'))
			return -1;
		return c == '\r' ? SIZE_END : EXTENSION;
	case SIZE_END:
		return c != '\n' ? -1 : chunks->left ? DATA : TRAILER;
	case DATA_CR:
		return c == '\r' ? DATA_LF : -1;
	case DATA_LF:
		chunks->digits = 0;
		return c == '\n' ? SIZE : -1;
	case TRAILER:
		if (c == '\r')
			return LAST_END;
		return chunks->strict || c == '\n' ? -1 : LINE;
	case LINE:
		if (++chunks->line > LONGEST_LINE || c == '\n')
			return -1;
		return c == '\r' ? LINE_END : LINE;
	case LINE_END:
		return c == '\n' ? TRAILER : -1;
	default: /* LAST_END */
		chunks->done = c == '\n';
		return chunks->done ? LAST_END : -1;
	}
}

ssize_t http_chunks_take(struct http_chunks *chunks, const char *bytes, size_t size,
			 struct http_text *ret_data)
{
	size_t at = 0;

	*ret_data = (struct http_text){ bytes, 0 };
	while (at < size && !chunks->done) {
		if (chunks->state == DATA) {
			size_t taken = size - at < chunks->left ? size - at : (size_t)chunks->left;

			*ret_data = (struct http_text){ bytes + at, taken };
			chunks->left -= taken;
			if (chunks->left == 0)
				chunks->state = DATA_CR;
			return (ssize_t)(at + taken);
		}

		int next = step(chunks, bytes[at++]);

		if (next < 0)
			return -1;
		chunks->state = (unsigned int)next;
	}
	return (ssize_t)at;
}

void http_chunk_write(const char *bytes, size_t size, struct buffer *out)
{
	static const char digits[] = "0123456789abcdef";
	char head[2 * sizeof size + 2];
	size_t at = sizeof head - 2;

	if (size == 0)
		return;
	/* Called for each event of a stream: printf would dominate the cost. */
	head[at] = '\r';
	head[at + 1] = '\n';
	for (size_t left = size; left > 0; left /= 16)
		head[--at] = digits[left % 16];
	buffer_add(out, head + at, sizeof head - at);
	buffer_add(out, bytes, size);
	buffer_add(out, "\r\n", 2);
}

ssize_t http_chunks_scan(struct http_chunks *chunks, const char *bytes, size_t size)
{
	struct http_text data;
	size_t at = 0;

	while (at < size && !chunks->done) {
		ssize_t taken = http_chunks_take(chunks, bytes + at, size - at, &data);

		if (taken < 0)
			return -1;
		at += (size_t)taken;
	}
	return (ssize_t)at;
}
