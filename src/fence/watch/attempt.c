/* Attempts: see attempt.h. */
#include "fence/watch/attempt.h"

#include "fence/fence_spec.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { NO_ARGUMENT = -1 };

/* The arguments of a call that name a path, and the act on that path. */
static const struct shape {
	int number;
	enum verdict_act act;
	int folder; /* the argument with the descriptor for relative paths */
	int path;
	bool follow; /* follows a symlink at the end of the path */
	int flags;   /* the argument that may have AT_SYMLINK_NOFOLLOW */
} shapes[] = {
#define AT(name, act, folder, path, follow, flags)                     \
	{                                                              \
		SYS_##name, VERDICT_##act, folder, path, follow, flags \
	}
#define BY_NAME(name, act, path, follow) AT(name, act, NO_ARGUMENT, path, follow, NO_ARGUMENT)
	AT(mkdirat, CREATE, 0, 1, false, NO_ARGUMENT),
	AT(mknodat, CREATE, 0, 1, false, NO_ARGUMENT),
	AT(symlinkat, CREATE, 1, 2, false, NO_ARGUMENT),
	AT(unlinkat, REMOVE, 0, 1, false, NO_ARGUMENT),
	AT(renameat, REMOVE, 0, 1, false, NO_ARGUMENT),
	AT(renameat, WRITE, 2, 3, false, NO_ARGUMENT),
	AT(renameat2, REMOVE, 0, 1, false, NO_ARGUMENT),
	AT(renameat2, WRITE, 2, 3, false, NO_ARGUMENT),
	AT(linkat, LINK, 0, 1, false, NO_ARGUMENT),
	AT(linkat, CREATE, 2, 3, false, NO_ARGUMENT),
	AT(fchmodat, CHANGE, 0, 1, true, NO_ARGUMENT),
	AT(fchownat, CHANGE, 0, 1, true, 4),
	AT(newfstatat, LOOK, 0, 1, true, 3),
	AT(statx, LOOK, 0, 1, true, 2),
	AT(faccessat, LOOK, 0, 1, true, NO_ARGUMENT),
	AT(faccessat2, LOOK, 0, 1, true, 3),
	AT(readlinkat, LOOK, 0, 1, false, NO_ARGUMENT),
	AT(execveat, READ, 0, 1, true, 4),
	BY_NAME(truncate, CHANGE, 0, true),
	BY_NAME(execve, READ, 0, true),
	BY_NAME(chdir, LOOK, 0, true),
#ifdef SYS_open /* absent on newer architectures */
	BY_NAME(mkdir, CREATE, 0, false),
	BY_NAME(mknod, CREATE, 0, false),
	BY_NAME(symlink, CREATE, 1, false),
	BY_NAME(unlink, REMOVE, 0, false),
	BY_NAME(rmdir, REMOVE, 0, false),
	BY_NAME(rename, REMOVE, 0, false),
	BY_NAME(rename, WRITE, 1, false),
	BY_NAME(link, LINK, 0, false),
	BY_NAME(link, CREATE, 1, false),
	BY_NAME(creat, WRITE, 0, true),
	BY_NAME(chmod, CHANGE, 0, true),
	BY_NAME(chown, CHANGE, 0, true),
	BY_NAME(lchown, CHANGE, 0, false),
	BY_NAME(stat, LOOK, 0, true),
	BY_NAME(lstat, LOOK, 0, false),
	BY_NAME(access, LOOK, 0, true),
	BY_NAME(readlink, LOOK, 0, false),
#endif
};

/* Copies memory of a process, up to the first unreadable byte. Returns the number of bytes
 * copied. */
static size_t copy_memory(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	size_t first = 4096 - (size_t)(address & 4095); /* the next page may be unmapped */
	struct iovec local = { bytes, size };
	struct iovec remote[] = { { (void *)(uintptr_t)address, first < size ? first : size },
				  { (void *)(uintptr_t)(address + first),
				    first < size ? size - first : 0 } };
	ssize_t n = process_vm_readv(pid, &local, 1, remote, 2, 0);

	if (n < 0 && errno == ENOSYS) { /* the kernel was built without it */
		char path[32];

		snprintf(path, sizeof path, "/proc/%d/mem", pid);

		AUTO_FD memory = open(path, O_RDONLY | O_CLOEXEC);

		n = memory < 0 ? -1 : pread(memory, bytes, size, (off_t)address);
	}
	return n < 0 ? 0 : (size_t)n;
}

/* Reads a link in /proc. Returns 0, or -1 if its target is not a path. */
static int read_link(const char *link, char ret_path[PATH_MAX])
{
	ssize_t n = readlink(link, ret_path, PATH_MAX - 1);

	if (n <= 0 || ret_path[0] != '/')
		return -1;
	ret_path[n] = '\0';
	return 0;
}

static int join(char ret_path[PATH_MAX], const char *base, const char *rest)
{
	int n = snprintf(ret_path, PATH_MAX, "%s%s%s", base, base[1] ? "/" : "", rest);

	return n >= PATH_MAX ? -1 : 0;
}

/* Makes the given path absolute, lexically. Returns 0, or -1. */
static int make_absolute(pid_t pid, int folder, const char *given, char ret_path[PATH_MAX])
{
	bool from_cwd;
	const char *path = given[0] == '/' ? verdict_past_proc(given, &from_cwd) : given;
	char base[PATH_MAX];
	char link[64];

	if (path[0] == '/')
		return snprintf(ret_path, PATH_MAX, "%s", path) >= PATH_MAX ? -1 : 0;
	if (folder == AT_FDCWD || given[0] == '/')
		snprintf(link, sizeof link, "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, folder);
	return read_link(link, base) < 0 ? -1 : join(ret_path, base, path);
}

/* Neither waits for a file server nor triggers an automount. */
static bool is_on_host(const char *path)
{
	struct statx status;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		     STATX_TYPE, &status) == 0;
}

static void look_at_host(const char *path, struct verdict_sight *sight)
{
	char above[PATH_MAX];

	if (sight->inside)
		return;
	sight->on_host = is_on_host(path);
	if (sight->folder)
		return;
	snprintf(above, sizeof above, "%.*s", (int)(path_name(path) - path), path);
	sight->folder_on_host = is_on_host(above);
}

static bool creates_private(const struct verdict *verdict, enum verdict_act act,
			    const struct verdict_sight *sight)
{
	return verdict->wall == VERDICT_PRIVATE && !sight->inside && sight->folder &&
	       (act == VERDICT_CREATE || act == VERDICT_WRITE);
}

/* Judges one path. Returns true, with *ret_attempt filled in, if the fence refuses the act, or if
 * it creates a file in a private place. */
static bool judge(struct attempt_context *context, enum verdict_act act, bool follow,
		  char path[PATH_MAX], struct attempt *ret_attempt)
{
	struct inside_entry entry;
	struct verdict_sight sight;
	struct verdict verdict;

	inside_resolve(&context->inside, follow, path, &entry);
	if (act == VERDICT_REMOVE && !entry.file)
		inside_forget(&context->inside);
	sight = (struct verdict_sight){ .inside = entry.there, .folder = entry.folder };
	verdict = verdict_at(context->plan, path);
	if (verdict.wall == VERDICT_OPEN || verdict_harmless(&verdict, path))
		return false;
	if (context->plan->own && verdict.wall == VERDICT_OUTSIDE) {
		/* No rule hides names in the host's file tree: what is there cannot be created. */
		if (act == VERDICT_LOOK || (act == VERDICT_CREATE && entry.there))
			return false;
		sight = (struct verdict_sight){ 0 };
	}
	look_at_host(path, &sight);
	ret_attempt->allowed = !verdict_refuses(verdict.wall, act, &sight);
	if (ret_attempt->allowed && !creates_private(&verdict, act, &sight))
		return false;
	ret_attempt->kind = verdict_kind(act, sight.inside || sight.on_host);
	ret_attempt->by = verdict;
	snprintf(ret_attempt->target, sizeof ret_attempt->target, "%s", path);
	return true;
}

/* Reads the path that a process gives to a call, and makes it absolute. Returns 0, or -1. */
static int read_path(pid_t pid, int folder, uint64_t address, char ret_path[PATH_MAX])
{
	char given[PATH_MAX];
	size_t size = copy_memory(pid, address, given, sizeof given);

	/* A path without a NUL is too long or unreadable, and the kernel reports that. An empty one
	 * names nothing. */
	if (!memchr(given, '\0', size) || !given[0])
		return -1;
	return make_absolute(pid, folder, given, ret_path);
}

static bool look_at_path(struct attempt_context *context, pid_t pid, enum verdict_act act,
			 int folder, uint64_t address, bool follow, struct attempt *ret_attempt)
{
	char path[PATH_MAX];

	if ((act == VERDICT_READ || act == VERDICT_LOOK) && !context->plan->spec->trace_reads)
		return false;
	if (read_path(pid, folder, address, path) < 0)
		return false;
	return judge(context, act, follow, path, ret_attempt);
}

static bool look_at_open(struct attempt_context *context, pid_t pid, int folder,
			 const uint64_t *arguments, struct attempt *ret_attempt)
{
	unsigned int flags = (unsigned int)arguments[1];
	bool exclusive = flags & O_CREAT && flags & O_EXCL;
	enum verdict_act act = VERDICT_READ;

	if (flags & O_PATH)
		act = VERDICT_LOOK;
	else if (exclusive)
		act = VERDICT_CREATE;
	else if (flags & O_CREAT)
		act = VERDICT_WRITE;
	else if (flags & (O_ACCMODE | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)))
		act = VERDICT_CHANGE;
	return look_at_path(context, pid, act, folder, arguments[0],
			    !(flags & O_NOFOLLOW) && !exclusive, ret_attempt);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	char bytes[sizeof(struct sockaddr_un) + 1];
};

/* Reports whether the host has an abstract socket of this name. */
static bool is_host_abstract(const char *name)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4 << 20);
	AUTO_FREE char *end = mem_format(" @%s\n", name);
	AUTO_FD fd = open("/proc/self/net/unix", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fd_read_all(fd, &text) == 0 && strstr(buffer_text(&text), end);
}

/* Even with an outlet, nothing else is reachable. */
static struct verdict no_network(const struct attempt_context *context)
{
	return (struct verdict){ .wall = VERDICT_OUTSIDE,
				 .name = context->plan->spec->net == FENCE_NET_LIST ? "net list"
										    : "net none" };
}

static bool look_at_local(struct attempt_context *context, pid_t pid, bool binds,
			  const union address *address, size_t size, struct attempt *ret_attempt)
{
	const char *name = address->local.sun_path;
	char path[PATH_MAX];

	if (size <= offsetof(struct sockaddr_un, sun_path))
		return false;
	if (!name[0]) {
		if (binds || context->plan->spec->net == FENCE_NET_OPEN || !name[1] ||
		    !is_host_abstract(name + 1))
			return false;
		ret_attempt->allowed = false;
		ret_attempt->kind = "connect";
		ret_attempt->by = no_network(context);
		snprintf(ret_attempt->target, sizeof ret_attempt->target, "@%s", name + 1);
		return true;
	}
	return make_absolute(pid, AT_FDCWD, name, path) == 0 &&
	       judge(context, binds ? VERDICT_CREATE : VERDICT_CONNECT, !binds, path, ret_attempt);
}

static bool is_loopback(const union address *address)
{
	const struct in6_addr *v6 = &address->v6.sin6_addr;
	const uint8_t *v4 = address->any.sa_family == AF_INET
				    ? (const uint8_t *)&address->v4.sin_addr
				    : v6->s6_addr + 12;

	if (address->any.sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(v6))
		return IN6_IS_ADDR_LOOPBACK(v6) || IN6_IS_ADDR_UNSPECIFIED(v6);
	return v4[0] == 127 || (v4[0] | v4[1] | v4[2] | v4[3]) == 0;
}

/* Reports whether a port has a listener in the network namespace of this process. */
static bool has_listener(pid_t pid, unsigned int port)
{
	static const char *const tables[] = { "tcp", "tcp6" };
	bool found = false;

	for (size_t i = 0; i < COUNT(tables) && !found; i++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
		char path[64];

		snprintf(path, sizeof path, "/proc/%d/net/%s", pid, tables[i]);

		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

		found = fd >= 0 && fd_read_all(fd, &text) == 0 &&
			verdict_listens(buffer_text(&text), port);
	}
	return found;
}

/*
 * Without a network there is only the fence's own loopback, which has none of the host's services.
 * Nothing there can listen on port 53, which needs a privilege: a connection to it is a DNS query
 * that cannot succeed.
 */
static bool reaches(struct attempt_context *context, pid_t pid, const union address *address)
{
	unsigned int port = ntohs(address->v4.sin_port); /* at the same offset in both */
	uint8_t bit = (uint8_t)(1U << port % 8);

	if (context->plan->own) /* the loopback is the host's */
		return is_loopback(address) &&
		       (perform_reaches(context->performer, &address->any, sizeof address->v6) ||
			!has_listener(getpid(), port));

	if (!is_loopback(address) || port == 53)
		return false;
	/* The tables grow with the number of connections: one look per port is enough. */
	if (!(context->reached[port / 8] & bit) &&
	    (has_listener(pid, port) || !has_listener(getpid(), port)))
		context->reached[port / 8] |= bit;
	return context->reached[port / 8] & bit;
}

static bool look_at_network(struct attempt_context *context, pid_t pid,
			    const union address *address, struct attempt *ret_attempt)
{
	bool v4 = address->any.sa_family == AF_INET;
	char host[INET6_ADDRSTRLEN] = "?";

	if (context->plan->spec->net == FENCE_NET_OPEN || reaches(context, pid, address))
		return false;
	inet_ntop(address->any.sa_family,
		  v4 ? (const void *)&address->v4.sin_addr : &address->v6.sin6_addr, host,
		  sizeof host);
	ret_attempt->allowed = false;
	ret_attempt->kind = "connect";
	ret_attempt->by = no_network(context);
	snprintf(ret_attempt->target, sizeof ret_attempt->target, v4 ? "%s:%u" : "[%s]:%u", host,
		 ntohs(address->v4.sin_port));
	return true;
}

static bool look_at_socket(struct attempt_context *context, pid_t pid, bool binds,
			   const uint64_t *arguments, struct attempt *ret_attempt)
{
	union address address = { 0 };
	size_t size = (uint32_t)arguments[2];

	if (size > sizeof address.local)
		size = sizeof address.local;
	size = copy_memory(pid, arguments[1], address.bytes, size);
	if (size < sizeof address.any.sa_family)
		return false;
	if (address.any.sa_family == AF_UNIX)
		return look_at_local(context, pid, binds, &address, size, ret_attempt);
	if (!binds && ((address.any.sa_family == AF_INET && size >= sizeof address.v4) ||
		       (address.any.sa_family == AF_INET6 &&
			size >= offsetof(struct sockaddr_in6, sin6_scope_id))))
		return look_at_network(context, pid, &address, ret_attempt);
	return false;
}

size_t attempt_look(struct attempt_context *context, const struct seccomp_notif *call,
		    struct attempt ret_attempts[ATTEMPT_MOST])
{
	const uint64_t *arguments = (const uint64_t *)call->data.args;
	pid_t pid = (pid_t)call->pid;
	size_t count = 0;

	if (inside_open(&context->inside, pid) < 0)
		return 0;
	if (call->data.nr == SYS_connect || call->data.nr == SYS_bind)
		return look_at_socket(context, pid, call->data.nr == SYS_bind, arguments,
				      ret_attempts);
	if (call->data.nr == SYS_openat)
		return look_at_open(context, pid, (int)arguments[0], arguments + 1, ret_attempts);
#ifdef SYS_open
	if (call->data.nr == SYS_open)
		return look_at_open(context, pid, AT_FDCWD, arguments, ret_attempts);
#endif
	for (size_t i = 0; i < COUNT(shapes) && count < ATTEMPT_MOST; i++) {
		const struct shape *at = &shapes[i];
		bool stay = at->flags != NO_ARGUMENT && arguments[at->flags] & AT_SYMLINK_NOFOLLOW;

		if (at->number != call->data.nr)
			continue;
		count += look_at_path(context, pid, at->act,
				      at->folder == NO_ARGUMENT ? AT_FDCWD
								: (int)arguments[at->folder],
				      arguments[at->path], at->follow && !stay,
				      &ret_attempts[count]);
	}
	return count;
}

bool attempt_freshens(struct attempt_context *context, const struct seccomp_notif *call)
{
	const uint64_t *arguments = (const uint64_t *)call->data.args;
	struct inside_entry entry;
	struct verdict verdict;
	char path[PATH_MAX];

	if (call->data.nr != SYS_utimensat || inside_open(&context->inside, (pid_t)call->pid) < 0 ||
	    read_path((pid_t)call->pid, (int)arguments[0], arguments[1], path) < 0)
		return false;
	inside_resolve(&context->inside, true, path, &entry);
	verdict = verdict_at(context->plan, path);
	return entry.there && verdict.wall == VERDICT_READ_ONLY && verdict.by && verdict.by->source;
}

/* Reads the path of a call that has this act on it. */
static bool find_path(struct attempt_context *context, const struct seccomp_notif *call,
		      enum verdict_act act, struct attempt_path *ret_path)
{
	const uint64_t *arguments = (const uint64_t *)call->data.args;
	struct inside_entry entry;

	for (size_t i = 0; i < COUNT(shapes); i++) {
		const struct shape *at = &shapes[i];

		if (at->number != call->data.nr || at->act != act)
			continue;
		if (read_path((pid_t)call->pid,
			      at->folder == NO_ARGUMENT ? AT_FDCWD : (int)arguments[at->folder],
			      arguments[at->path], ret_path->path) < 0)
			return false;
		inside_resolve(&context->inside, false, ret_path->path, &entry);
		ret_path->is_folder = entry.is_dir;
		return true;
	}
	return false;
}

static bool is_rename(const struct seccomp_notif *call)
{
#ifdef SYS_rename
	if (call->data.nr == SYS_rename)
		return true;
#endif
	return call->data.nr == SYS_renameat || call->data.nr == SYS_renameat2;
}

bool attempt_renames_folder(struct attempt_context *context, const struct seccomp_notif *call,
			    struct attempt_rename *ret_rename)
{
	ret_rename->exchange = call->data.nr == SYS_renameat2 &&
			       call->data.args[4] & RENAME_EXCHANGE;
	if (!is_rename(call) || inside_open(&context->inside, (pid_t)call->pid) < 0 ||
	    !find_path(context, call, VERDICT_REMOVE, &ret_rename->from) ||
	    (!ret_rename->from.is_folder && !ret_rename->exchange) ||
	    !find_path(context, call, VERDICT_WRITE, &ret_rename->to))
		return false;
	return ret_rename->from.is_folder || ret_rename->to.is_folder;
}
