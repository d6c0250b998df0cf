/* Parses HTTP heads: see http.h. http_write.c writes them. */
#include "gateway/proxy/http.h"

#include <string.h>
#include <strings.h>

static bool is_token(unsigned char c)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr(others, c));
}

bool http_text_is(struct http_text text, const char *word)
{
	/* Compare the first letter first: it usually differs, and each header is compared with
	 * many names. */
	if (text.size && (text.at[0] ^ word[0]) & ~0x20)
		return false;
	return text.size == strlen(word) && strncasecmp(text.at, word, text.size) == 0;
}

ssize_t http_head_size(const char *bytes, size_t size, size_t from)
{
	size_t at = from > 3 ? from - 3 : 0;

	while (at < size) {
		const char *end = memchr(bytes + at, '\n', size - at);

		if (!end)
			return 0;
		at = (size_t)(end - bytes) + 1;
		if (at < 2 || bytes[at - 2] != '\r')
			return -1;
		if (at >= 4 && bytes[at - 4] == '\r' && bytes[at - 3] == '\n')
			return (ssize_t)at;
	}
	return 0;
}

/* Consumes the next line, without its end. */
static bool next_line(struct http_text *text, struct http_text *ret_line)
{
	const char *end = text->size ? memmem(text->at, text->size, "\r\n", 2) : NULL;

	if (!end)
		return false;
	*ret_line = (struct http_text){ text->at, (size_t)(end - text->at) };
	text->size -= ret_line->size + 2;
	text->at = end + 2;
	return true;
}

/* Consumes the text up to a blank. */
static bool next_word(struct http_text *text, struct http_text *ret_word)
{
	const char *end = text->size ? memchr(text->at, ' ', text->size) : NULL;

	if (!end)
		return false;
	*ret_word = (struct http_text){ text->at, (size_t)(end - text->at) };
	text->size -= ret_word->size + 1;
	text->at = end + 1;
	return true;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct http_text trimmed(struct http_text text)
{
	while (text.size && blank(text.at[0])) {
		text.at++;
		text.size--;
	}
	while (text.size && blank(text.at[text.size - 1]))
		text.size--;
	return text;
}

/* Consumes the next element of a comma-separated list. */
static bool next_element(struct http_text *text, struct http_text *ret_element)
{
	while (text->size) {
		const char *comma = memchr(text->at, ',', text->size);
		size_t size = comma ? (size_t)(comma - text->at) : text->size;
		struct http_text element = trimmed((struct http_text){ text->at, size });

		text->at += size + (comma != NULL);
		text->size -= size + (comma != NULL);
		if (element.size) {
			*ret_element = element;
			return true;
		}
	}
	return false;
}

static bool read_version(struct http_text word, unsigned int *ret_minor)
{
	if (word.size != 8 || memcmp(word.at, "HTTP/1.", 7) != 0 || word.at[7] < '0' ||
	    word.at[7] > '1')
		return false;
	*ret_minor = (unsigned int)(word.at[7] - '0');
	return true;
}

/* Parses "name:port", "[address]:port", or either without a port. Returns false if it is invalid
 * or too long. */
static bool read_authority(struct http_text text, uint16_t usual_port, char ret_host[GATEWAY_HOST],
			   uint16_t *ret_port)
{
	struct http_text host = text;
	struct http_text port = { 0 };
	unsigned long number = 0;
	const char *end;

	if (text.size && text.at[0] == '[') {
		end = memchr(text.at, ']', text.size);
		if (!end)
			return false;
		host = (struct http_text){ text.at + 1, (size_t)(end - text.at) - 1 };
		port = (struct http_text){ end + 1, text.size - host.size - 2 };
		if (port.size && port.at[0] != ':')
			return false;
		if (!memchr(host.at, ':', host.size))
			return false;
	} else if ((end = memchr(text.at, ':', text.size))) {
		host.size = (size_t)(end - text.at);
		port = (struct http_text){ end, text.size - host.size };
	}
	if (host.size == 0 || host.size >= GATEWAY_HOST || memchr(host.at, '\0', host.size))
		return false;
	*ret_port = usual_port;
	if (port.size) {
		for (size_t i = 1; i < port.size; i++) {
			if (port.at[i] < '0' || port.at[i] > '9' || port.size > 6)
				return false;
			number = number * 10 + (unsigned long)(port.at[i] - '0');
		}
		if (number == 0 || number > 65535 || port.at[1] == '0')
			return false;
		*ret_port = (uint16_t)number;
	}
	memcpy(ret_host, host.at, host.size);
	ret_host[host.size] = '\0';
	return *ret_port != 0;
}

static const char *read_target(struct http_text target, enum http_form form,
			       struct http_request *request)
{
	for (size_t i = 0; i < target.size; i++)
		if (target.at[i] <= ' ' || target.at[i] > '~' || target.at[i] == '#')
			return "invalid character in the URI";
	if (request->connect) {
		if (form != HTTP_PROXY)
			return "CONNECT is not allowed within a tunnel";
		return read_authority(target, 0, request->host, &request->port)
			       ? NULL
			       : "CONNECT needs host:port";
	}
	if (form == HTTP_ORIGIN) {
		if (target.size == 0 || target.at[0] != '/')
			return "only a path is allowed here";
		request->path = target;
		return NULL;
	}
	if (target.size && target.at[0] == '/')
		return "this is a proxy: it needs an absolute URI (http://host/path)";
	if (target.size > 8 && strncasecmp(target.at, "https://", 8) == 0)
		return "use CONNECT for https";
	if (target.size < 8 || strncasecmp(target.at, "http://", 7) != 0)
		return "only http:// and CONNECT are supported";

	struct http_text authority = { target.at + 7, target.size - 7 };
	size_t size = 0;

	while (size < authority.size && authority.at[size] != '/' && authority.at[size] != '?')
		size++;
	request->path = (struct http_text){ authority.at + size, authority.size - size };
	authority.size = size;
	if (memchr(authority.at, '@', authority.size))
		return "a user name in a URI is not allowed";
	return read_authority(authority, 80, request->host, &request->port) ? NULL
									    : "the URI has no host";
}

/* Parses "123" and nothing else. */
static bool read_length(struct http_text value, uint64_t *ret_length)
{
	uint64_t length = 0;

	if (value.size == 0 || value.size > 18)
		return false;
	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return false;
		length = length * 10 + (uint64_t)(value.at[i] - '0');
	}
	*ret_length = length;
	return true;
}

/* Headers that decide where a message ends, or who receives it, must not be listed in
 * Connection. */
static bool may_be_named(struct http_text name)
{
	static const char *const never[] = { "host",         "content-length", "transfer-encoding",
					     "content-type", "authorization",  "expect",
					     "cookie",       "cache-control" };

	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (http_text_is(name, never[i]))
			return false;
	return true;
}

static const char *read_connection(struct http_text value, struct http_message *message)
{
	struct http_text element;

	while (next_element(&value, &element)) {
		for (size_t i = 0; i < element.size; i++)
			if (!is_token((unsigned char)element.at[i]))
				return "invalid word in Connection";
		if (!may_be_named(element))
			return "Connection names an end-to-end header";
		if (http_text_is(element, "close"))
			message->keep = false;
		else if (http_text_is(element, "keep-alive") && message->minor == 0)
			message->keep = true;
		if (message->named_count == HTTP_NAMED)
			return "Connection names too many headers";
		message->named[message->named_count++] = element;
	}
	return NULL;
}

static const char *read_line(struct http_text name, struct http_text value,
			     struct http_message *message)
{
	struct http_text element;

	if (http_text_is(name, "Content-Length")) {
		if (message->body != HTTP_NOTHING)
			return "more than one length";
		if (!read_length(value, &message->length))
			return "Content-Length is not a number";
		message->body = HTTP_LENGTH;
	} else if (http_text_is(name, "Transfer-Encoding")) {
		if (message->body != HTTP_NOTHING)
			return "more than one length";
		if (!http_text_is(value, "chunked"))
			return "unsupported transfer coding: only chunked is supported";
		if (message->minor == 0)
			return "HTTP/1.0 does not support chunked encoding";
		message->body = HTTP_CHUNKS;
	} else if (http_text_is(name, "Connection") || http_text_is(name, "Proxy-Connection")) {
		return read_connection(value, message);
	} else if (http_text_is(name, "Upgrade")) {
		while (next_element(&value, &element))
			if (!http_text_is(element, "h2c"))
				message->upgrade = true;
	} else if (http_text_is(name, "Expect")) {
		if (!http_text_is(value, "100-continue") || message->expects)
			return "unsupported expectation: only 100-continue is supported";
		message->expects = true;
	}
	return NULL;
}

static const char *split_line(struct http_text line, struct http_text *ret_name,
			      struct http_text *ret_value)
{
	const char *colon = memchr(line.at, ':', line.size);

	if (!colon || colon == line.at)
		return "a header has no name";
	*ret_name = (struct http_text){ line.at, (size_t)(colon - line.at) };
	for (size_t i = 0; i < ret_name->size; i++)
		if (!is_token((unsigned char)line.at[i]))
			return "invalid character in the name of a header";
	*ret_value = trimmed((struct http_text){ colon + 1, line.size - ret_name->size - 1 });
	for (size_t i = 0; i < ret_value->size; i++) {
		unsigned char c = (unsigned char)ret_value->at[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return "control character in the head";
	}
	return NULL;
}

bool http_line_next(struct http_text *lines, struct http_text *ret_name,
		    struct http_text *ret_value)
{
	struct http_text line;

	return next_line(lines, &line) && line.size && !split_line(line, ret_name, ret_value);
}

static const char *read_request_line(struct http_text name, struct http_text value,
				     struct http_request *request)
{
	if (http_text_is(name, "Host")) {
		if (request->has_host)
			return "more than one Host header";
		request->has_host = true;
		if (!read_authority(value, request->connect ? request->port : 80,
				    request->host_line, &request->host_port))
			return "invalid Host header";
	} else if (http_text_is(name, "Proxy-Authorization")) {
		if (request->authorization.at)
			return "more than one Proxy-Authorization header";
		request->authorization = value;
	}
	return NULL;
}

static const char *read_lines(struct http_text lines, struct http_message *message,
			      struct http_request *request)
{
	struct http_text line;
	struct http_text name;
	struct http_text value;
	const char *wrong = NULL;

	message->lines = lines;
	for (int count = 0; !wrong && next_line(&lines, &line) && line.size; count++) {
		if (count == HTTP_LINES)
			return "too many headers";
		wrong = split_line(line, &name, &value);
		if (!wrong)
			wrong = read_line(name, value, message);
		if (!wrong && request)
			wrong = read_request_line(name, value, request);
	}
	return wrong;
}

const char *http_request_read(const char *bytes, size_t size, enum http_form form,
			      struct http_request *ret_request)
{
	struct http_request request = { 0 };
	struct http_text rest = { bytes, size };
	struct http_text line;
	struct http_text target;
	const char *wrong;

	if (!next_line(&rest, &line) || !next_word(&line, &request.method) ||
	    !next_word(&line, &target) || !read_version(line, &request.message.minor))
		return "the first line is not an HTTP/1 request";
	if (request.method.size == 0 || request.method.size > 32)
		return "invalid method";
	for (size_t i = 0; i < request.method.size; i++)
		if (!is_token((unsigned char)request.method.at[i]))
			return "invalid method";
	request.connect = request.method.size == 7 && memcmp(request.method.at, "CONNECT", 7) == 0;
	request.head = request.method.size == 4 && memcmp(request.method.at, "HEAD", 4) == 0;
	request.message.keep = request.message.minor == 1;
	wrong = read_target(target, form, &request);
	if (!wrong)
		wrong = read_lines(rest, &request.message, &request);
	if (wrong)
		return wrong;
	if (request.connect && request.message.body != HTTP_NOTHING)
		return "CONNECT must not have a body";
	if (form == HTTP_ORIGIN && !request.has_host)
		return "the Host header is missing";
	*ret_request = request;
	return NULL;
}

static bool bodiless(const struct http_response *response, bool to_head)
{
	return to_head || response->status < 200 || response->status == 204 ||
	       response->status == 304;
}

const char *http_response_read(const char *bytes, size_t size, bool to_head,
			       struct http_response *ret_response)
{
	struct http_response response = { 0 };
	struct http_text rest = { bytes, size };
	struct http_text line;
	struct http_text version;
	const char *wrong;

	if (!next_line(&rest, &line) || !next_word(&line, &version) ||
	    !read_version(version, &response.message.minor) || line.size < 3 ||
	    (line.size > 3 && line.at[3] != ' '))
		return "the first line is not an HTTP/1 response";
	for (size_t i = 0; i < 3; i++) {
		if (line.at[i] < '0' || line.at[i] > '9')
			return "the status is not a number";
		response.status = response.status * 10 + (unsigned int)(line.at[i] - '0');
	}
	for (size_t i = 3; i < line.size; i++)
		if (((unsigned char)line.at[i] < ' ' && line.at[i] != '\t') || line.at[i] == 0x7f)
			return "control character in the first line";
	if (response.status < 100 || response.status == 101)
		return "unexpected status";
	response.reason = (struct http_text){ line.at + 3, line.size - 3 };
	response.message.keep = response.message.minor == 1;
	wrong = read_lines(rest, &response.message, NULL);
	if (wrong)
		return wrong;
	response.empty = bodiless(&response, to_head);
	if (response.empty) {
		/* The length here describes another response; it is forwarded, and no body
		 * follows. */
		if (response.message.body == HTTP_CHUNKS && response.status < 200)
			return "a body is not allowed here";
		if (response.status < 200 || response.status == 204) {
			response.message.body = HTTP_NOTHING;
			response.message.length = 0;
		}
	} else if (response.message.body == HTTP_NOTHING) {
		response.message.body = HTTP_UNTIL_CLOSE;
		response.message.keep = false;
	}
	*ret_response = response;
	return NULL;
}
