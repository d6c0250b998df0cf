/*
 * Sockets of a command that shares the host's network: see perform.h.
 *
 * The command has only sockets that reach nothing before connect() (init/fence_filter_gen.c). This
 * process connects them, with an address that it has judged: to the gateway, to unix sockets in
 * folders that the command may write, and, if the network is open, to other hosts.
 */
#include "fence/watch/perform.h"

#include "util/file/fd.h"
#include "util/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	char bytes[sizeof(struct sockaddr_un) + 1];
};

/* Takes a copy of a descriptor of the caller. Returns it, or -1 with errno. */
static int take(const struct perform_caller *caller, int number)
{
	AUTO_FD process = (int)syscall(SYS_pidfd_open, caller->process, 0);

	return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
}

static int family_of(int socket)
{
	int family = -1;
	socklen_t size = sizeof family;

	return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ? -1 : family;
}

static int result_of(int result)
{
	return result < 0 ? errno : 0;
}

static bool is_loopback(const union address *address)
{
	return (ntohl(address->v4.sin_addr.s_addr) >> 24) == 127;
}

/* Connects to the gateway, or refuses as a network without other hosts would. */
static int connect_network(const struct performer *performer, int socket, union address *address,
			   socklen_t size)
{
	bool v4 = address->any.sa_family == AF_INET && size >= sizeof address->v4;

	if (performer->plan->spec->net == FENCE_NET_OPEN || address->any.sa_family == AF_UNSPEC)
		return result_of(connect(socket, &address->any, size));
	if (!v4)
		return ENETUNREACH;
	if (!is_loopback(address))
		return ENETUNREACH;
	if (ntohs(address->v4.sin_port) != OUTLET_PORT || !performer->port)
		return ECONNREFUSED;
	address->v4.sin_port = htons((uint16_t)performer->port);
	address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return result_of(connect(socket, &address->any, size));
}

/* Connects to a socket in a folder that the command may write, by the descriptor that was judged. */
static int connect_local(const struct performer *performer, const struct perform_caller *caller,
			 int socket, const union address *address, socklen_t size)
{
	struct sockaddr_un target = { .sun_family = AF_UNIX };
	char text[PATH_MAX];
	char real[PATH_MAX];
	int why;

	if (address->any.sa_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path))
		return EINVAL;
	if (!address->local.sun_path[0]) /* the host's, as far as anybody knows */
		return ECONNREFUSED;
	if ((why = perform_locate(caller, AT_FDCWD, address->local.sun_path, text)))
		return why;

	AUTO_FD fd = open(text, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (!perform_real_path(fd, real) || !grant_is_writable(performer->plan, real))
		return EACCES;
	snprintf(target.sun_path, sizeof target.sun_path, "/proc/self/fd/%d", fd);
	return result_of(connect(socket, (struct sockaddr *)&target, sizeof target));
}

struct perform_answer perform_connect(const struct performer *performer,
				      const struct seccomp_notif *call)
{
	struct perform_caller caller;
	union address address = { 0 };
	socklen_t size = (socklen_t)call->data.args[2];
	int why = perform_find_caller((pid_t)call->pid, &caller);
	AUTO_FD socket = why ? -1 : take(&caller, (int)call->data.args[0]);

	if (socket < 0)
		return PERFORM_REFUSE(why ? why : errno);
	if (size > sizeof address.local || size < sizeof address.any.sa_family ||
	    perform_copy(&caller, call->data.args[1], address.bytes, size) != size)
		return PERFORM_REFUSE(EINVAL);
	if (family_of(socket) == AF_UNIX)
		return PERFORM_REFUSE(connect_local(performer, &caller, socket, &address, size));
	if (family_of(socket) == AF_INET || family_of(socket) == AF_INET6)
		return PERFORM_REFUSE(connect_network(performer, socket, &address, size));
	return PERFORM_REFUSE(family_of(socket) < 0 ? ENOTSOCK : EACCES);
}

/* Landlock judges where a unix socket is created. Ports of the host are refused; if the descriptor
 * becomes another one meanwhile, it still cannot listen. */
struct perform_answer perform_bind(const struct performer *performer,
				   const struct seccomp_notif *call)
{
	struct perform_caller caller;
	int why = perform_find_caller((pid_t)call->pid, &caller);
	AUTO_FD socket = why ? -1 : take(&caller, (int)call->data.args[0]);
	int family = socket < 0 ? -1 : family_of(socket);
	socklen_t size = (socklen_t)call->data.args[2];
	union address address = { 0 };

	if (performer->plan->spec->net != FENCE_NET_OPEN &&
	    (family == AF_INET || family == AF_INET6))
		return PERFORM_REFUSE(EACCES);
	if (family == AF_UNIX && size > offsetof(struct sockaddr_un, sun_path) &&
	    size <= sizeof address.local &&
	    perform_copy(&caller, call->data.args[1], address.bytes, size) == size &&
	    address.any.sa_family == AF_UNIX && address.local.sun_path[0])
		return perform_bind_path(performer, &caller, socket, address.local.sun_path);
	return (struct perform_answer){ .kind = PERFORM_CONTINUE };
}

/* A TCP socket that listens without bind() gets a port, so this process listens, or nobody. */
struct perform_answer perform_listen(const struct performer *performer,
				     const struct seccomp_notif *call)
{
	struct perform_caller caller;
	int why = perform_find_caller((pid_t)call->pid, &caller);
	AUTO_FD socket = why ? -1 : take(&caller, (int)call->data.args[0]);

	if (socket < 0)
		return PERFORM_REFUSE(why ? why : errno);
	if (family_of(socket) != AF_UNIX && performer->plan->spec->net != FENCE_NET_OPEN)
		return PERFORM_REFUSE(EACCES);
	return PERFORM_REFUSE(result_of(listen(socket, (int)call->data.args[1])));
}
