/* Loopback addresses: see web_address.h. */
#include "serve/web_address.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int find(const char *host, unsigned int port, union address *ret_address,
		socklen_t *ret_size, struct error *err)
{
	if (strcmp(host, "::1") == 0) {
		ret_address->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
							 .sin6_port = htons((uint16_t)port),
							 .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		*ret_size = sizeof ret_address->v6;
		return 0;
	}
	if (strcmp(host, "localhost") != 0 && strcmp(host, "127.0.0.1") != 0)
		return error_with(err, ERROR_REFUSED,
				  "the page is served to this machine alone, not on '%.60s' (from "
				  "another machine: ssh -L %u:127.0.0.1:%u THIS-MACHINE)",
				  host, port ? port : 7433, port ? port : 7433);
	ret_address->v4 = (struct sockaddr_in){ .sin_family = AF_INET,
						.sin_port = htons((uint16_t)port),
						.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	*ret_size = sizeof ret_address->v4;
	return 0;
}

int web_address_listen(const char *host, unsigned int port, struct error *err)
{
	enum { BACKLOG = 64 };
	union address address;
	socklen_t size;
	AUTO_FD fd = -1;
	int on = 1;

	if (find(host, port, &address, &size, err) < 0)
		return -1;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A server that starts again must not wait for the connections of the last one. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
	    bind(fd, &address.any, size) < 0 || listen(fd, BACKLOG) < 0)
		return errno == EADDRINUSE
			       ? error_with(err, ERROR_BUSY,
					    "port %u is in use by another program (choose another "
					    "one: --port N)",
					    port)
			       : error_sys(err, "listen on %s, port %u", host, port);
	return fd_steal(&fd);
}

int web_address_of(int listener, char **ret_authority, unsigned int *ret_port, struct error *err)
{
	union address address = { 0 };
	socklen_t size = sizeof address;

	if (getsockname(listener, &address.any, &size) < 0)
		return error_sys(err, "find the port of the server");
	if (address.any.sa_family == AF_INET &&
	    address.v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) {
		*ret_port = ntohs(address.v4.sin_port);
		*ret_authority = mem_format("127.0.0.1:%u", *ret_port);
		return 0;
	}
	if (address.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr)) {
		*ret_port = ntohs(address.v6.sin6_port);
		*ret_authority = mem_format("[::1]:%u", *ret_port);
		return 0;
	}
	return error_with(err, ERROR_REFUSED, "the socket is not one of the loopback interface");
}
