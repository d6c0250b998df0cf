/* The HTTP client for model servers: see httpclient.h. */
#include "builtin/model/httpclient.h"

#include "gateway/proxy/http.h"
#include "meter/shape.h"
#include "util/clock.h"
#include "util/file/fd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static bool read_port(const char *text, size_t size, uint16_t *ret_port)
{
	unsigned long port = 0;

	if (size == 0 || size > 5)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		port = port * 10 + (unsigned long)(text[i] - '0');
	}
	*ret_port = (uint16_t)port;
	return port > 0 && port < 65536;
}

int httpclient_place_read(const char *url, struct httpclient_place *ret_place, struct error *err)
{
	struct httpclient_place place = { .port = 80 };
	const char *at = url + 7;
	size_t size;
	struct in_addr four;
	struct in6_addr six;

	if (strncasecmp(url, "https://", 8) == 0)
		return error_set(
			err,
			"'%.200s' needs TLS, which this agent leaves to Ringfence's gateway: start it with "
			"ringfence run, or use an http:// URL",
			url);
	if (strncasecmp(url, "http://", 7) != 0)
		return error_set(err, "'%.200s' is not an http:// URL", url);
	size = strcspn(at, "/?#");
	if (at[size] && (at[size] != '/' || strpbrk(at + size, "?# \r\n")))
		return error_set(err, "'%.200s' must end with its path, without a query", url);
	if (strlen(at + size) >= sizeof place.prefix)
		return error_set(err, "the path of '%.200s' is too long", url);
	memcpy(place.prefix, at + size, strlen(at + size) + 1);
	for (size_t end = strlen(place.prefix); end && place.prefix[end - 1] == '/';)
		place.prefix[--end] = '\0';

	bool bracket = *at == '[';
	const char *close = bracket ? memchr(at, ']', size) : NULL;
	const char *colon = memchr(close ? close : at, ':',
				   size - (size_t)((close ? close : at) - at));
	size_t name = (size_t)((colon ? colon : at + size) - at);

	if (bracket && (!close || close + 1 != at + name))
		return error_set(err, "'%.200s' contains no valid address", url);
	if (colon && !read_port(colon + 1, size - name - 1, &place.port))
		return error_set(err, "'%.200s' has an invalid port", url);
	at += bracket;
	name -= 2 * (size_t)bracket;
	if (name == 0 || name >= sizeof place.host)
		return error_set(err, "'%.200s' contains no valid address", url);
	memcpy(place.host, at, name);
	if (strcasecmp(place.host, "localhost") == 0)
		snprintf(place.host, sizeof place.host, "127.0.0.1");
	if (inet_pton(AF_INET, place.host, &four) != 1 &&
	    inet_pton(AF_INET6, place.host, &six) != 1)
		return error_set(
			err,
			"'%.200s' has a host name, and this agent does not look up names: use an address (127.0.0.1), or let "
			"Ringfence's gateway reach the host (see upstream in docs/models.md)",
			url);
	*ret_place = place;
	return 0;
}

void httpclient_release(struct httpclient *client)
{
	fd_close(&client->fd);
}

/* Called when data arrives: a silent server is not told from a hang. */
static void tick(struct httpclient *client)
{
	int64_t now = (int64_t)clock_steady_ms();

	if (now - client->ticked_ms < HTTPCLIENT_TICK_MS)
		return;
	client->ticked_ms = now;
	if (client->tick)
		client->tick(client->context);
}

/* Waits until the socket is ready. Returns 0, or -1 with err set. */
static int await(struct httpclient *client, short events, int most_ms, struct error *err)
{
	int64_t start = (int64_t)clock_steady_ms();

	for (;;) {
		struct pollfd poll_fd = { .fd = client->fd, .events = events };
		int64_t left = most_ms - ((int64_t)clock_steady_ms() - start);
		int n;

		if (left <= 0)
			return error_set(err, "the model server sent nothing for %d s",
					 most_ms / 1000);
		n = poll(&poll_fd, 1, (int)left);
		if (n > 0 && (poll_fd.revents & POLLIN))
			tick(client);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return error_sys(err, "wait for the model server");
	}
}

static int connect_now(struct httpclient *client, struct error *err)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(client->place.port) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons(client->place.port) };
	bool is_four = inet_pton(AF_INET, client->place.host, &four.sin_addr) == 1;
	const struct sockaddr *address = is_four ? (struct sockaddr *)&four
						 : (struct sockaddr *)&six;
	int on = 1;
	int why = 0;
	socklen_t size = sizeof why;

	if (!is_four && inet_pton(AF_INET6, client->place.host, &six.sin6_addr) != 1)
		return error_set(err, "'%s' is not a valid address", client->place.host);
	client->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client->fd < 0)
		return error_sys(err, "create a socket");
	setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(client->fd, address, is_four ? sizeof four : sizeof six) < 0) {
		if (errno != EINPROGRESS)
			return error_sys(err, "connect to the model server at %s port %u",
					 client->place.host, client->place.port);
		if (await(client, POLLOUT, HTTPCLIENT_CONNECT_MS, err) < 0)
			return -1;
		getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &why, &size);
		errno = why;
		if (why)
			return error_sys(err, "connect to the model server at %s port %u",
					 client->place.host, client->place.port);
	}
	return 0;
}

/* Sends everything. A server may answer and close early; the reader detects that. */
static int send_all(struct httpclient *client, const char *data, size_t size, struct error *err)
{
	while (size > 0) {
		ssize_t n = send(client->fd, data, size, MSG_NOSIGNAL);

		if (n > 0) {
			data += n;
			size -= (size_t)n;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			return 0;
		} else if (errno == EAGAIN) {
			if (await(client, POLLOUT, HTTPCLIENT_SILENT_MS, err) < 0)
				return -1;
		} else if (errno != EINTR) {
			return error_sys(err, "send to the model server");
		}
	}
	return 0;
}

/* Appends received bytes. Returns their number, 0 at the end of the stream, or -1 with err set. */
static ssize_t receive(struct httpclient *client, struct buffer *into, struct error *err)
{
	char bytes[32768];

	for (;;) {
		ssize_t n = recv(client->fd, bytes, sizeof bytes, 0);

		if (n > 0)
			buffer_add(into, bytes, (size_t)n);
		if (n >= 0)
			return n;
		if (errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return error_sys(err, "read from the model server");
		if (await(client, POLLIN, HTTPCLIENT_SILENT_MS, err) < 0)
			return -1;
	}
}

static bool starts(struct http_text value, const char *with)
{
	return value.size >= strlen(with) && strncasecmp(value.at, with, strlen(with)) == 0;
}

static void read_lines(const struct http_response *response, struct httpclient_head *head)
{
	struct http_text lines = response->message.lines;
	struct http_text name;
	struct http_text value;
	struct shape_limit limit = { 0 };
	int64_t now = clock_wall_ms();

	*head = (struct httpclient_head){ .status = response->status, .wait_ms = -1, .retry = -1 };
	while (http_line_next(&lines, &name, &value)) {
		shape_limit_line(&limit, name.at, name.size, value.at, value.size, now);
		if (http_text_is(name, "x-should-retry"))
			head->retry = http_text_is(value, "true");
		else if (http_text_is(name, "content-type"))
			head->events = starts(value, "text/event-stream");
	}
	if (limit.at_ms)
		head->wait_ms = limit.at_ms > now ? limit.at_ms - now : 0;
}

/*
 * Reads heads up to the final one; the buffer keeps the bytes after it. Returns 1, 0 if nothing was
 * received, or -1 with err set.
 */
static int read_head(struct httpclient *client, struct buffer *in,
		     struct http_response *ret_response, struct httpclient_head *ret_head,
		     struct error *err)
{
	size_t looked = 0;
	size_t heads = 0;

	for (;;) {
		ssize_t size = http_head_size(in->used ? in->data : "", in->used, looked);
		const char *wrong = size < 0 ? "a line does not end in CR LF" : NULL;

		if (size > 0) {
			wrong = http_response_read(in->data, (size_t)size, false, ret_response);
			if (!wrong)
				read_lines(ret_response, ret_head);
			memmove(in->data, in->data + size, in->used - (size_t)size);
			in->used -= (size_t)size;
			looked = 0;
			if (!wrong && ret_response->status >= 200)
				return 1;
			if (!wrong && ++heads > HTTPCLIENT_INTERIM)
				wrong = "too many interim responses";
		}
		if (wrong) {
			client->garbled = true;
			return error_set(err, "the model server's response is not valid HTTP: %s",
					 wrong);
		}
		if (size > 0)
			continue;
		looked = in->used;
		if (looked > HTTPCLIENT_HEAD)
			return error_set(err,
					 "the head of the model server's response is too long");

		ssize_t n = receive(client, in, err);

		if (n < 0)
			return -1;
		if (n == 0)
			return in->used
				       ? error_set(
						 err,
						 "the model server closed the connection within the head of its response")
				       : 0;
	}
}

struct body {
	enum http_body kind;
	uint64_t left;
	struct http_chunks chunks;
	bool done;
};

/*
 * Passes on the bytes that belong to the body. Returns how many were consumed, or -1 with err set.
 */
static ssize_t consume_body(struct body *body, const char *bytes, size_t size,
			    const struct httpclient_head *head, httpclient_fn *on_body,
			    void *context, struct error *err)
{
	struct http_text data = { bytes, size };
	ssize_t taken = (ssize_t)size;

	if (body->kind == HTTP_CHUNKS) {
		taken = http_chunks_take(&body->chunks, bytes, size, &data);
		if (taken < 0)
			return error_set(
				err, "the model server's response has an invalid chunked encoding");
		body->done = body->chunks.done;
	} else if (body->kind == HTTP_LENGTH) {
		if (data.size > body->left)
			data.size = (size_t)body->left;
		taken = (ssize_t)data.size;
		body->left -= data.size;
		body->done = body->left == 0;
	}
	if (data.size)
		on_body(context, head, data.at, data.size);
	return taken;
}

static int read_body(struct httpclient *client, struct buffer *in, struct body *body,
		     const struct httpclient_head *head, httpclient_fn *on_body, void *context,
		     struct error *err)
{
	uint64_t sum = 0;

	for (;;) {
		size_t at = 0;

		while (at < in->used && !body->done) {
			ssize_t n = consume_body(body, in->data + at, in->used - at, head, on_body,
						 context, err);

			if (n < 0)
				return -1;
			if (n == 0)
				break;
			at += (size_t)n;
		}
		sum += at;
		memmove(in->data, in->data + at, in->used - at);
		in->used -= at;
		if (body->done)
			return 0;
		if (sum > HTTPCLIENT_ANSWER) {
			client->garbled = true;
			return error_set(err, "the model server's response is too long");
		}

		ssize_t n = receive(client, in, err);

		if (n < 0)
			return -1;
		if (n == 0)
			return body->kind == HTTP_UNTIL_CLOSE
				       ? 0
				       : error_set(err, "the model server's response was cut off");
	}
}

/*
 * One attempt. Returns 0; 1 if the server had closed the connection without answering; or -1 with
 * err set.
 */
static int send_once(struct httpclient *client, const char *head_text, size_t head_size,
		     const struct httpclient_request *request, httpclient_fn *on_body,
		     void *context, unsigned int *ret_status, struct error *err)
{
	AUTO_BUFFER struct buffer in = BUFFER_INIT(HTTPCLIENT_HEAD + (1 << 20));
	struct http_response response;
	struct httpclient_head head;
	struct body body;
	int got;

	if (send_all(client, head_text, head_size, err) < 0 ||
	    send_all(client, request->body, request->size, err) < 0)
		return -1;
	got = read_head(client, &in, &response, &head, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		error_set(err, "the model server closed the connection without an answer");
		return 1;
	}
	*ret_status = head.status;
	on_body(context, &head, "", 0);
	body = (struct body){ .kind = response.message.body, .left = response.message.length };
	body.done = response.empty || body.kind == HTTP_NOTHING ||
		    (body.kind == HTTP_LENGTH && body.left == 0);
	if (read_body(client, &in, &body, &head, on_body, context, err) < 0)
		return -1;
	if (!response.message.keep || in.used)
		fd_close(&client->fd);
	return 0;
}

int httpclient_send(struct httpclient *client, const struct httpclient_request *request,
		    httpclient_fn *on_body, void *context, unsigned int *ret_status,
		    struct error *err)
{
	AUTO_BUFFER struct buffer head = BUFFER_INIT(HTTPCLIENT_HEAD);
	const char *colon = strchr(client->place.host, ':');
	int result;

	*ret_status = 0;
	client->garbled = false;
	client->ticked_ms = (int64_t)clock_steady_ms();
	buffer_printf(&head,
		      "%s %s%s HTTP/1.1\r\nhost: %s%s%s:%u\r\nuser-agent: ringfence-agent\r\n",
		      request->method, client->place.prefix, request->path, colon ? "[" : "",
		      client->place.host, colon ? "]" : "", client->place.port);
	buffer_add_text(&head, request->lines);
	if (request->body)
		buffer_printf(&head, "content-type: application/json\r\ncontent-length: %zu\r\n",
			      request->size);
	buffer_add_text(&head, "\r\n");
	/*
	 * A kept connection may have been closed meanwhile. Nothing was answered then, so sending
	 * again does not repeat a request.
	 */
	for (int fresh = client->fd < 0;; fresh = 1) {
		result = client->fd < 0 ? connect_now(client, err) : 0;
		if (result == 0)
			result = send_once(client, buffer_text(&head), head.used, request, on_body,
					   context, ret_status, err);
		if (result != 0)
			fd_close(&client->fd);
		if (result != 1 || fresh)
			return result == 0 ? 0 : -1;
	}
}
