/* Acts over sockets: families, unix and abstract names, TCP, UDP and ICMP. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "attack.h"

#define REPLY_MS 2000

static int act_socket(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_socket, atol(args[0]), atol(args[1]), atol(args[2])));
}

static int act_socketpair(int n, char **args)
{
	int pair[2];

	(void)n;
	return attack_verdict(
		syscall(SYS_socketpair, atol(args[0]), atol(args[1]), atol(args[2]), pair));
}

/* A name that starts with @ is abstract. */
static socklen_t unix_address(const char *name, struct sockaddr_un *ret)
{
	size_t len = strlen(name);

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	if (len >= sizeof(ret->sun_path))
		len = sizeof(ret->sun_path) - 1;
	memcpy(ret->sun_path, name, len);
	if (name[0] == '@')
		ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] != '@'));
}

/* Reads the peer's greeting; silence or a closed connection does not count as success. */
static int heard(long fd)
{
	struct pollfd poll_fd = { .fd = (int)fd, .events = POLLIN };
	char buf[512];
	ssize_t n;

	if (poll(&poll_fd, 1, REPLY_MS) <= 0)
		return ETIMEDOUT;
	n = recv((int)fd, buf, sizeof(buf), 0);
	if (n < 0)
		return errno;
	if (n == 0)
		return ECONNRESET;
	printf("got: %.*s\n", (int)n, buf);
	return 0;
}

static int act_unix(int n, char **args)
{
	struct sockaddr_un addr;
	socklen_t len = unix_address(args[0], &addr);
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	(void)n;
	if (fd < 0 || syscall(SYS_connect, fd, &addr, len) < 0)
		return errno;
	return heard(fd);
}

static int act_unix_datagram(int n, char **args)
{
	struct sockaddr_un addr;
	socklen_t len = unix_address(args[0], &addr);
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM, 0);

	(void)n;
	if (fd < 0)
		return errno;
	return attack_verdict(syscall(SYS_sendto, fd, "attacked", 8, 0, &addr, len));
}

static int inet_address(const char *ip, const char *port, struct sockaddr_storage *ret,
			socklen_t *ret_len)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)atoi(port));
		*ret_len = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)atoi(port));
		*ret_len = sizeof(*v6);
		return 0;
	}
	return -1;
}

/* Returns a connected socket, or -1 with the answer. */
static long connected(char **args, int type, int *ret_answer)
{
	struct sockaddr_storage addr;
	socklen_t len;
	long fd;

	*ret_answer = ATTACK_MISUSE;
	if (inet_address(args[0], args[1], &addr, &len) < 0)
		return -1;
	fd = syscall(SYS_socket, addr.ss_family, type, 0);
	if (fd >= 0 && syscall(SYS_connect, fd, &addr, len) == 0)
		return fd;
	*ret_answer = errno;
	return -1;
}

static int act_tcp(int n, char **args)
{
	int answer;
	long fd = connected(args, SOCK_STREAM, &answer);

	(void)n;
	return fd < 0 ? answer : heard(fd);
}

static int act_udp(int n, char **args)
{
	int answer;
	long fd = connected(args, SOCK_DGRAM, &answer);

	(void)n;
	if (fd < 0)
		return answer;
	return syscall(SYS_sendto, fd, "hello", 5, 0, NULL, 0) < 0 ? errno : heard(fd);
}

/*
 * An echo request, through a raw socket or the datagram kind that needs no privilege where allowed.
 */
static int act_icmp(int n, char **args)
{
	struct icmphdr echo = { .type = ICMP_ECHO, .un.echo.id = htons(0x5246) };
	struct sockaddr_storage addr;
	uint16_t *words = (uint16_t *)&echo;
	uint32_t sum = 0;
	socklen_t len;
	long fd;

	(void)n;
	if (inet_address(args[0], "0", &addr, &len) < 0)
		return ATTACK_MISUSE;
	for (size_t i = 0; i < sizeof(echo) / 2; i++)
		sum += words[i];
	sum = (sum >> 16) + (sum & 0xffff);
	echo.checksum = (uint16_t) ~(sum + (sum >> 16));
	fd = syscall(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
	if (fd < 0)
		fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	if (fd < 0)
		return errno;
	if (syscall(SYS_sendto, fd, &echo, sizeof(echo), 0, &addr, len) < 0)
		return errno;
	return heard(fd);
}

const struct attack attack_net[] = {
	{ "socket", "FAMILY TYPE PROTOCOL", 3, act_socket },
	{ "socketpair", "FAMILY TYPE PROTOCOL", 3, act_socketpair },
	{ "unix", "PATH|@NAME", 1, act_unix },
	{ "unix-datagram", "PATH|@NAME", 1, act_unix_datagram },
	{ "tcp", "IP PORT", 2, act_tcp },
	{ "udp", "IP PORT", 2, act_udp },
	{ "icmp", "IP", 1, act_icmp },
	{ 0 },
};
