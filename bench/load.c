/*
 * A server and its clients for bench/gateway.py, fast enough not to affect the measurement.
 *
 *   load serve PORT                     answers GET / with 100 bytes, GET /N with N; prints `ready`
 *   load get PROXY PORT COUNT AUTH      requests in turn on one connection; prints µs for each
 *   load pour PROXY PORT BYTES AUTH     sends bytes through a tunnel; prints seconds
 *   load connect PROXY PORT COUNT AUTH  tunnels in turn, a request in each; prints µs for each
 *   load idle PROXY PORT COUNT AUTH     opens tunnels, prints `ready`, holds them until stdin ends
 *
 * PROXY 0 means no proxy. AUTH is the value of Proxy-Authorization, or -.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		bytes += n;
		size -= (size_t)n;
	}
}

/* --- server */

static void *converse(void *argument)
{
	int fd = (int)(intptr_t)argument;
	static char zeros[CHUNK];
	char head[4096];
	size_t used = 0;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	for (;;) {
		ssize_t n = recv(fd, head + used, sizeof head - 1 - used, 0);
		unsigned long long size;
		char *path;

		if (n <= 0)
			break;
		used += (size_t)n;
		head[used] = '\0';
		if (!strstr(head, "\r\n\r\n"))
			continue;
		path = strchr(head, ' ');
		path = path ? strchr(path, '/') : NULL;
		size = path ? strtoull(path + 1, NULL, 10) : 0;
		if (size == 0)
			size = 100;
		used = 0;

		char answer[CHUNK / 1024];
		int length = snprintf(answer, sizeof answer,
				      "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n", size);

		if (size <= 100) {
			memset(answer + length, 'x', size);
			send_all(fd, answer, (size_t)length + size);
			continue;
		}
		send_all(fd, answer, (size_t)length);
		for (unsigned long long left = size; left > 0;) {
			size_t part = left < CHUNK ? (size_t)left : CHUNK;

			send_all(fd, zeros, part);
			left -= part;
		}
	}
	close(fd);
	return NULL;
}

static int serve(uint16_t port)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_attr_t attributes;
	int on = 1;

	inet_pton(AF_INET, "127.0.0.1", &here.sin_addr);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&here, sizeof here) < 0 || listen(listener, 4096) < 0)
		die("listen");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		pthread_t thread;
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 &&
		    pthread_create(&thread, &attributes, converse, (void *)(intptr_t)fd) != 0)
			close(fd);
	}
}

/* --- clients */

static int open_to(uint16_t port)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;

	inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
	if (fd < 0 || connect(fd, (struct sockaddr *)&there, sizeof there) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static char *authorization(const char *given)
{
	char *line = malloc(300);

	line[0] = '\0';
	if (strcmp(given, "-") != 0)
		snprintf(line, 300, "Proxy-Authorization: %s\r\n", given);
	return line;
}

/* Reads a head. Returns how many bytes of the body arrived with it, and the body's size. */
static size_t read_head(int fd, unsigned long long *ret_size)
{
	char head[8192];
	size_t used = 0;

	for (;;) {
		ssize_t n = recv(fd, head + used, sizeof head - 1 - used, 0);
		char *end;

		if (n <= 0) {
			fprintf(stderr, "no answer\n");
			exit(1);
		}
		used += (size_t)n;
		head[used] = '\0';
		end = strstr(head, "\r\n\r\n");
		if (!end)
			continue;
		if (!strstr(head, " 200 ")) {
			fprintf(stderr, "%s\n", head);
			exit(1);
		}

		char *length = strcasestr(head, "content-length:");

		*ret_size = length ? strtoull(length + 15, NULL, 10) : 0;
		return used - (size_t)(end + 4 - head);
	}
}

static void read_answer(int fd)
{
	static char bytes[CHUNK];
	unsigned long long size;
	size_t got = read_head(fd, &size);

	while (got < size) {
		ssize_t n = recv(fd, bytes, sizeof bytes, 0);

		if (n <= 0) {
			fprintf(stderr, "a short answer\n");
			exit(1);
		}
		got += (size_t)n;
	}
}

static int tunnel(uint16_t proxy, uint16_t port, const char *line)
{
	unsigned long long size;
	char request[600];
	int fd = open_to(proxy ? proxy : port);

	if (!proxy)
		return fd;
	send_all(fd, request,
		 (size_t)snprintf(request, sizeof request,
				  "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n",
				  port, port, line));
	read_head(fd, &size);
	return fd;
}

static void ask(int fd, const char *prefix, uint16_t port, unsigned long long size,
		const char *line)
{
	char request[600];

	send_all(fd, request,
		 (size_t)snprintf(request, sizeof request,
				  "GET %s/%llu HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n", prefix,
				  size, port, line));
	read_answer(fd);
}

static void get(uint16_t proxy, uint16_t port, long count, const char *line)
{
	char prefix[64] = "";
	int fd = open_to(proxy ? proxy : port);

	if (proxy)
		snprintf(prefix, sizeof prefix, "http://127.0.0.1:%u", port);
	for (long i = 0; i < count; i++) {
		double start = now_us();

		ask(fd, prefix, port, 0, proxy ? line : "");
		printf("%.1f\n", now_us() - start);
	}
	close(fd);
}

static void connect_many(uint16_t proxy, uint16_t port, long count, const char *line)
{
	for (long i = 0; i < count; i++) {
		double start = now_us();
		int fd = tunnel(proxy, port, line);

		ask(fd, "", port, 0, "");
		close(fd);
		printf("%.1f\n", now_us() - start);
	}
}

static void idle(uint16_t proxy, uint16_t port, long count, const char *line)
{
	char byte;

	for (long i = 0; i < count; i++)
		ask(tunnel(proxy, port, line), "", port, 0, "");
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		return serve((uint16_t)atoi(argv[2]));
	if (argc != 6)
		return 2;

	uint16_t proxy = (uint16_t)atoi(argv[2]);
	uint16_t port = (uint16_t)atoi(argv[3]);
	char *line = authorization(argv[5]);

	if (strcmp(argv[1], "get") == 0) {
		get(proxy, port, atol(argv[4]), line);
	} else if (strcmp(argv[1], "connect") == 0) {
		connect_many(proxy, port, atol(argv[4]), line);
	} else if (strcmp(argv[1], "idle") == 0) {
		idle(proxy, port, atol(argv[4]), line);
	} else if (strcmp(argv[1], "pour") == 0) {
		int fd = tunnel(proxy, port, line);
		double start = now_us();

		ask(fd, "", port, strtoull(argv[4], NULL, 10), "");
		printf("%.6f\n", (now_us() - start) / 1e6);
	} else {
		return 2;
	}
	return 0;
}
