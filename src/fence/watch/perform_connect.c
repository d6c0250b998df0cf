/*
 * Sockets of a command that shares the host's network: see perform.h.
 *
 * The command has only sockets that reach nothing before connect() (init/fence_filter_gen.c). This
 * process connects them, with an address that it has judged: to the gateway, to unix sockets in
 * folders that the command may write, and, if the network is open, to other hosts.
 */
#include "fence/watch/perform.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* Finds the caller, and takes a copy of the socket of its call. Returns it, or -1 with errno. */
static int take_socket(const struct perform_context *performer, const struct seccomp_notif *call,
		       struct perform_caller *ret_caller)
{
	AUTO_FD process = -1;
	AUTO_FD socket = -1;
	int why = perform_find_caller((pid_t)call->pid, ret_caller);

	if (why) {
		errno = why;
		return -1;
	}
	process = (int)syscall(SYS_pidfd_open, ret_caller->process, 0);
	if (process >= 0)
		socket = (int)syscall(SYS_pidfd_getfd, process, (int)call->data.args[0], 0);
	if (socket >= 0 && !perform_is_waiting(performer, call)) {
		errno = ESRCH;
		return -1;
	}
	return fd_steal(&socket);
}

/* Reads the address of a call. Returns 0, or an errno. */
static int read_address(const struct seccomp_notif *call, const struct perform_caller *caller,
			union address *ret_address, socklen_t *ret_size)
{
	socklen_t size = (socklen_t)call->data.args[2];

	if (size < sizeof ret_address->any.sa_family || size > sizeof ret_address->local)
		return EINVAL;
	if (perform_copy(caller, call->data.args[1], ret_address->bytes, size) != size)
		return EFAULT;
	*ret_size = size;
	return 0;
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

static bool is_mapped(const union address *address)
{
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr);
}

/* Makes the loopback address of "any". Reports whether the address is one of the loopback. */
static bool to_loopback(union address *address, bool both)
{
	uint8_t *v6 = address->v6.sin6_addr.s6_addr;
	uint8_t *v4 = is_mapped(address) ? v6 + 12 : (uint8_t *)&address->v4.sin_addr;
	static const uint8_t local[] = { 127, 0, 0, 1 };
	static const uint8_t mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1 };

	if (address->any.sa_family == AF_INET6 && !is_mapped(address)) {
		if (IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr))
			memcpy(v6, both ? mapped : in6addr_loopback.s6_addr, sizeof mapped);
		return is_mapped(address) || IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	}
	if ((v4[0] | v4[1] | v4[2] | v4[3]) == 0)
		memcpy(v4, local, sizeof local);
	return v4[0] == 127;
}

static bool is_whole(const union address *address, socklen_t size)
{
	return (address->any.sa_family == AF_INET && size >= sizeof address->v4) ||
	       (address->any.sa_family == AF_INET6 &&
		size >= offsetof(struct sockaddr_in6, sin6_scope_id));
}

static uint64_t inode_of(int socket)
{
	struct stat status;

	return fstat(socket, &status) < 0 ? 0 : status.st_ino;
}

/* The start of a line of /proc/net/tcp or tcp6 for a socket that listens at this address. */
static void describe_listener(const union address *address, char ret_text[64])
{
	const uint8_t *v6 = address->v6.sin6_addr.s6_addr;
	unsigned int port = ntohs(address->v4.sin_port); /* at the same offset in both */
	uint32_t words[4];

	memcpy(words, v6, sizeof words);
	if (address->any.sa_family == AF_INET)
		snprintf(ret_text, 64, " %08X:%04X 00000000:0000 0A ", address->v4.sin_addr.s_addr,
			 port);
	else
		snprintf(ret_text, 64, " %08X%08X%08X%08X:%04X ", words[0], words[1], words[2],
			 words[3], port);
}

/* Returns word number `index` of a line that begins with a space, or its end if there are fewer. */
static const char *word(const char *line, size_t index)
{
	for (line += strspn(line, " "); index > 0; index--) {
		line += strcspn(line, " \n");
		line += strspn(line, " ");
	}
	return line;
}

/* Returns the inode of the socket that listens at exactly this address, or 0. */
static uint64_t find_listener(const union address *address, const char *table)
{
	enum { STATE = 2, INODE = 8 }; /* after the local address: the remote one, the state ... */
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4 << 20);
	AUTO_FD fd = open(table, O_RDONLY | O_CLOEXEC);
	char wanted[64];

	describe_listener(address, wanted);
	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return 0;
	for (const char *at = buffer_text(&text); (at = strstr(at, wanted)); at++)
		if (strncmp(word(at, STATE), "0A ", 3) == 0)
			return strtoull(word(at, INODE), NULL, 10);
	return 0;
}

static bool is_server(const struct perform_context *performer, uint64_t inode)
{
	for (size_t i = 0; inode && i < PERFORM_SERVERS; i++)
		if (performer->servers[i] == inode)
			return true;
	return false;
}

/* Reports whether a server of the command itself listens at an address of the loopback. A server of
 * both families is in the other table. */
static bool reaches_own(const struct perform_context *performer, const union address *address)
{
	union address both = *address;

	if (address->any.sa_family == AF_INET6 && !is_mapped(address))
		return is_server(performer, find_listener(address, "/proc/self/net/tcp6"));
	if (address->any.sa_family == AF_INET) {
		static const uint8_t prefix[12] = { [10] = 255, 255 };

		if (is_server(performer, find_listener(address, "/proc/self/net/tcp")))
			return true;
		both.any.sa_family = AF_INET6;
		memcpy(both.v6.sin6_addr.s6_addr, prefix, sizeof prefix);
		memcpy(both.v6.sin6_addr.s6_addr + 12, &address->v4.sin_addr, 4);
	} else {
		union address plain = { .v4 = { .sin_family = AF_INET,
						.sin_port = address->v6.sin6_port } };

		memcpy(&plain.v4.sin_addr, address->v6.sin6_addr.s6_addr + 12, 4);
		if (is_server(performer, find_listener(&plain, "/proc/self/net/tcp")))
			return true;
	}
	return is_server(performer, find_listener(&both, "/proc/self/net/tcp6"));
}

bool perform_reaches(const struct perform_context *performer, const struct sockaddr *address,
		     size_t size)
{
	union address copy = { 0 };

	if (size > sizeof copy.local)
		return false;
	memcpy(copy.bytes, address, size);
	if (!is_whole(&copy, (socklen_t)size) || !to_loopback(&copy, false))
		return false;
	return (performer->port && ntohs(copy.v4.sin_port) == OUTLET_PORT) ||
	       reaches_own(performer, &copy);
}

/* Connects to the gateway or a server of the command itself, or refuses as a network without other
 * hosts would. */
static int connect_network(const struct perform_context *performer, int socket,
			   union address *address, socklen_t size)
{
	if (performer->plan->spec->net == FENCE_NET_OPEN || address->any.sa_family == AF_UNSPEC)
		return result_of(connect(socket, &address->any, size));
	if (!is_whole(address, size) || !to_loopback(address, false))
		return ENETUNREACH;
	if (performer->port && ntohs(address->v4.sin_port) == OUTLET_PORT)
		address->v4.sin_port = htons((uint16_t)performer->port);
	else if (!reaches_own(performer, address))
		return ECONNREFUSED;
	return result_of(connect(socket, &address->any, size));
}

/* Connects to a socket in a folder that the command may write, by a descriptor that was judged. */
static int connect_local(const struct perform_context *performer,
			 const struct perform_caller *caller, int socket,
			 const union address *address, socklen_t size)
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

struct perform_answer perform_connect(const struct perform_context *performer,
				      const struct seccomp_notif *call)
{
	struct perform_caller caller;
	union address address = { 0 };
	AUTO_FD socket = take_socket(performer, call, &caller);
	socklen_t size;
	int why;

	if (socket < 0)
		return PERFORM_ERRNO(errno);
	why = read_address(call, &caller, &address, &size);
	if (why)
		return PERFORM_ERRNO(why);
	if (family_of(socket) == AF_UNIX)
		return PERFORM_ERRNO(connect_local(performer, &caller, socket, &address, size));
	if (family_of(socket) == AF_INET || family_of(socket) == AF_INET6)
		return PERFORM_ERRNO(connect_network(performer, socket, &address, size));
	return PERFORM_ERRNO(family_of(socket) < 0 ? ENOTSOCK : EACCES);
}

/* Reports whether a socket would share a port with others: those of the user's own servers. */
static bool shares_port(int socket)
{
	int shares = 0;
	socklen_t size = sizeof shares;

	return getsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &shares, &size) < 0 || shares;
}

/* Binds to the loopback, and nothing else. */
static int bind_network(int socket, union address *address, socklen_t size)
{
	int only = 0;
	socklen_t length = sizeof only;

	getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, &length);
	if (!is_whole(address, size))
		return EINVAL;
	if (shares_port(socket))
		return EACCES;
	if (!to_loopback(address, !only))
		return EADDRNOTAVAIL;
	return result_of(bind(socket, &address->any, size));
}

/* Landlock judges where a unix socket is created, unless only this process can. */
struct perform_answer perform_bind(const struct perform_context *performer,
				   const struct seccomp_notif *call)
{
	struct perform_caller caller;
	union address address = { 0 };
	AUTO_FD socket = take_socket(performer, call, &caller);
	int family = socket < 0 ? -1 : family_of(socket);
	socklen_t size = 0;
	int why = socket < 0 ? errno : read_address(call, &caller, &address, &size);

	if (family == AF_INET || family == AF_INET6) {
		if (performer->plan->spec->net == FENCE_NET_OPEN)
			return PERFORM_ANSWER(PERFORM_CONTINUE);
		return PERFORM_ERRNO(why ? why : bind_network(socket, &address, size));
	}
	if (family == AF_UNIX && !why && address.any.sa_family == AF_UNIX &&
	    address.local.sun_path[0])
		return perform_bind_path(performer, &caller, socket, address.local.sun_path);
	return PERFORM_ANSWER(PERFORM_CONTINUE);
}

/* Reports whether a socket is bound to the loopback. */
static bool is_local(int socket)
{
	union address address = { 0 };
	union address changed;
	socklen_t size = sizeof address;

	if (getsockname(socket, &address.any, &size) < 0 || !is_whole(&address, size) ||
	    !address.v4.sin_port)
		return false;
	changed = address;
	return to_loopback(&changed, false) &&
	       memcmp(changed.bytes, address.bytes, sizeof changed.v6) == 0;
}

/* A socket that listens without bind() would get a port on all interfaces, so this process listens,
 * or nobody. */
struct perform_answer perform_listen(struct perform_context *performer,
				     const struct seccomp_notif *call)
{
	struct perform_caller caller;
	AUTO_FD socket = take_socket(performer, call, &caller);

	if (socket < 0)
		return PERFORM_ERRNO(errno);
	if (family_of(socket) != AF_UNIX && performer->plan->spec->net != FENCE_NET_OPEN) {
		if (!is_local(socket) || shares_port(socket))
			return PERFORM_ERRNO(EACCES);
		performer->servers[performer->server_count++ % PERFORM_SERVERS] = inode_of(socket);
	}
	return PERFORM_ERRNO(result_of(listen(socket, (int)call->data.args[1])));
}
