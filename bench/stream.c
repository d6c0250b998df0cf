/*
 * Model streams for bench/models.py:
 *
 *   stream server PORT CERTIFICATE KEY               a provider with TLS on 127.0.0.1
 *   stream client PORT tls|plain TOKEN COUNT EVENTS  COUNT requests in turn
 *   stream hold PORT TOKEN COUNT                     COUNT requests at once, until stdin ends
 *
 * Each event carries the time at which it was sent; both ends share a clock. The client prints the
 * median and 99th percentile, in microseconds, of the time to the first byte (since the request's
 * last byte) and of the events.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 65536, PACE_US = 1000 };

static SSL_CTX *context;

struct end {
	int fd;
	SSL *ssl; /* NULL: plain */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static ssize_t get(struct end *end, char *bytes, size_t size)
{
	return end->ssl ? SSL_read(end->ssl, bytes, (int)size) : read(end->fd, bytes, size);
}

static bool put(struct end *end, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = end->ssl ? SSL_write(end->ssl, bytes, (int)size)
				     : send(end->fd, bytes, size, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

static void nodelay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static bool put_chunk(struct end *end, const char *text)
{
	char bytes[1024];
	int size = snprintf(bytes, sizeof bytes, "%zx\r\n%s\r\n", strlen(text), text);

	return put(end, bytes, (size_t)size);
}

/* --- provider */

static const char head[] =
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char first[] =
	"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-opus-5-5\",\"usage\":{\"input_tokens\":9,"
	"\"output_tokens\":1}}}\n\n";
static const char last[] =
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\nevent: message_stop\ndata: "
	"{\"type\":\"message_stop\"}\n\n";

static bool answer(struct end *end, const char *request)
{
	static const char mark[] = "events: ";
	const char *events = strstr(request, mark);
	long count = events ? strtol(events + strlen(mark), NULL, 10) : 0;
	char text[512];
	bool ok = put(end, head, sizeof head - 1) && put_chunk(end, first);

	for (long i = 0; ok && (count < 0 || i < count); i++) {
		usleep(count < 0 ? 1000000 : PACE_US);
		snprintf(
			text, sizeof text,
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
			"\"text\":\"@%llu@\"}}\n\n",
			(unsigned long long)now_ns());
		ok = put_chunk(end, text);
	}
	return ok && put_chunk(end, last) && put(end, "0\r\n\r\n", 5);
}

static void *serve(void *argument)
{
	struct end end = { .fd = (int)(intptr_t)argument };
	char *bytes = malloc(ROOM);
	size_t used = 0;

	nodelay(end.fd);
	end.ssl = SSL_new(context);
	SSL_set_fd(end.ssl, end.fd);
	if (bytes && SSL_accept(end.ssl) == 1) {
		for (;;) {
			ssize_t n = get(&end, bytes + used, ROOM - 1 - used);
			char *body;
			char *length;

			if (n <= 0)
				break;
			used += (size_t)n;
			bytes[used] = '\0';
			body = strstr(bytes, "\r\n\r\n");
			length = strcasestr(bytes, "content-length:");
			if (!body || !length ||
			    used < (size_t)(body + 4 - bytes) + strtoul(length + 15, NULL, 10))
				continue;
			if (!answer(&end, body))
				break;
			used = 0;
		}
	}
	SSL_free(end.ssl);
	close(end.fd);
	free(bytes);
	return NULL;
}

static _Noreturn void server(char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(argv[2])),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;
	pthread_attr_t small;

	context = SSL_CTX_new(TLS_server_method());
	if (SSL_CTX_use_certificate_chain_file(context, argv[3]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(context, argv[4], SSL_FILETYPE_PEM) != 1)
		die("certificate");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(listener, 512) < 0)
		die("listen");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		pthread_t thread;

		if (fd >= 0 && pthread_create(&thread, &small, serve, (void *)(intptr_t)fd) != 0)
			close(fd);
	}
}

/* --- client */

static struct end connect_to(const char *port, bool tls)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(port)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct end end = { .fd = socket(AF_INET, SOCK_STREAM, 0) };

	if (connect(end.fd, (struct sockaddr *)&address, sizeof address) < 0)
		die("connect");
	nodelay(end.fd);
	if (tls) {
		if (!context)
			context = SSL_CTX_new(TLS_client_method());
		end.ssl = SSL_new(context);
		SSL_set_fd(end.ssl, end.fd);
		if (SSL_connect(end.ssl) != 1)
			die("TLS");
	}
	return end;
}

static void ask(struct end *end, const char *token, long events)
{
	char text[1024];
	char body[256];
	int size = snprintf(body, sizeof body,
			    "{\"model\":\"claude-opus-5-5\",\"max_tokens\":1000,\"stream\":true,"
			    "\"messages\":[{\"role\":\"user\",\"content\":\"events: %ld\"}]}",
			    events);

	size = snprintf(
		text, sizeof text,
		"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: %s\r\nContent-Type: application/json\r\n"
		"Content-Length: %d\r\n\r\n%s",
		token, size, body);
	if (!put(end, text, (size_t)size))
		die("send");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *name, uint64_t *times, size_t count)
{
	qsort(times, count, sizeof *times, compare);
	printf("%s %.1f %.1f\n", name, (double)times[count / 2] / 1000,
	       (double)times[count * 99 / 100] / 1000);
}

/* Reads the timestamps in the received bytes. Returns how many bytes are left over. */
static size_t read_stamps(char *bytes, size_t used, uint64_t arrived, uint64_t *times,
			  size_t *count, size_t most)
{
	char *at = bytes;

	for (;;) {
		char *start = memchr(at, '@', used - (size_t)(at - bytes));
		char *stop = start ? memchr(start + 1, '@', used - (size_t)(start + 1 - bytes))
				   : NULL;

		if (!stop)
			break;
		if (*count < most)
			times[(*count)++] = arrived - strtoull(start + 1, NULL, 10);
		at = stop + 1;
	}
	used -= (size_t)(at - bytes);
	memmove(bytes, at, used);
	return used;
}

static int client(char **argv)
{
	long count = atol(argv[5]);
	long events = atol(argv[6]);
	struct end end = connect_to(argv[2], strcmp(argv[3], "tls") == 0);
	uint64_t *firsts = calloc((size_t)count, sizeof *firsts);
	uint64_t *times = calloc((size_t)(count * events), sizeof *times);
	size_t stamps = 0;
	char *bytes = malloc(ROOM);

	for (long i = 0; firsts && times && bytes && i < count; i++) {
		uint64_t start;
		size_t used = 0;
		bool begun = false;
		bool over = false;

		usleep(2000);
		start = now_ns();
		ask(&end, argv[4], events);
		while (!over) {
			ssize_t n = get(&end, bytes + used, ROOM - used);
			uint64_t arrived = now_ns();

			if (n <= 0)
				die("read");
			if (!begun)
				firsts[i] = arrived - start;
			begun = true;
			used += (size_t)n;
			over = memmem(bytes, used, "message_stop\"}\n\n\r\n0\r\n\r\n", 23) ||
			       (used >= 7 && memcmp(bytes + used - 7, "\r\n0\r\n\r\n" + 0, 7) == 0);
			used = read_stamps(bytes, used, arrived, times, &stamps,
					   (size_t)(count * events));
		}
	}
	report("first", firsts, (size_t)count);
	report("event", times, stamps);
	return 0;
}

static int hold(char **argv)
{
	int count = atoi(argv[4]);
	struct end *ends = calloc((size_t)count, sizeof *ends);
	char byte[4096];

	for (int i = 0; ends && i < count; i++) {
		ends[i] = connect_to(argv[2], false);
		ask(&ends[i], argv[3], -1);
	}
	for (int i = 0; ends && i < count; i++)
		if (get(&ends[i], byte, sizeof byte) <= 0 || memcmp(byte, "HTTP/1.1 200", 12) != 0)
			die("a stream");
	printf("ready\n");
	fflush(stdout);
	while (read(0, byte, sizeof byte) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 5 && strcmp(argv[1], "server") == 0)
		server(argv);
	if (argc == 7 && strcmp(argv[1], "client") == 0)
		return client(argv);
	if (argc == 5 && strcmp(argv[1], "hold") == 0)
		return hold(argv);
	return 2;
}
