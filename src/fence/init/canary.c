/* Canaries: see canary.h. */
#include "fence/init/canary.h"

#include "fence/init/confine.h"
#include "util/file/fd.h"
#include "util/file/mounts.h"
#include "util/file/path.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A canary returns 0 if the fence held, or -1 with err set to what got through. */
typedef int canary_fn(const struct order *order, struct error *err);

struct canary {
	const char *name;
	canary_fn *attempt;
	enum {
		ALWAYS,
		WITH_NAMESPACES, /* the fence has namespaces and mounts of its own */
		WITH_PRIVATE_NET,
		WITH_SOCKET_SCOPE,
		WITH_LANDLOCK,
		WITH_GRANTS, /* the command shares the host's namespaces */
	} when;
};

static int first_process(const struct order *order, struct error *err)
{
	char self[32];
	ssize_t n;

	(void)order;
	if (getpid() != 1)
		return error_set(err, "init is process %d, not process 1 of its own pid namespace",
				 getpid());
	n = readlink("/proc/self", self, sizeof self - 1);
	if (n != 1 || self[0] != '1')
		return error_set(err, "/proc shows another pid namespace");
	return 0;
}

static int own_session(const struct order *order, struct error *err)
{
	(void)order;
	return getsid(0) == getpid()
		       ? 0
		       : error_set(err, "init is still in the session of the caller's terminal");
}

static bool shares(const struct order *order, const char *namespace)
{
	return (!order->flags.net_private && strcmp(namespace, "net") == 0) ||
	       (order->flags.shared_user && strcmp(namespace, "user") == 0);
}

static int own_namespaces(const struct order *order, struct error *err)
{
	for (size_t i = 0; i < WIRE_NAMESPACES; i++) {
		char path[64];
		struct stat status;

		if (shares(order, wire_namespaces[i]))
			continue;
		snprintf(path, sizeof path, "/proc/self/ns/%s", wire_namespaces[i]);
		if (stat(path, &status) < 0)
			return error_sys(err, "stat '%s'", path);
		if (status.st_ino == order->host.namespaces[i])
			return error_set(err, "the %s namespace is the host's", wire_namespaces[i]);
	}
	return 0;
}

/* Tried before seccomp would refuse it: this tests the mechanism's own wall. */
static int no_nested_namespace(const struct order *order, struct error *err)
{
	long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0L);

	(void)order;
	if (child == 0)
		_exit(0);
	if (child < 0)
		return 0;
	waitpid((pid_t)child, NULL, 0);
	return error_set(err, "a nested user namespace could be created");
}

static int no_capabilities(const struct order *order, struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return error_sys(err, "read the capabilities");
	for (size_t i = 0; i < 2; i++)
		if (data[i].effective | data[i].permitted | data[i].inheritable)
			return error_set(err, "the process has capabilities");
	/* A user has these on the host as well; no_new_privs keeps programs from using them. */
	if (order->flags.shared)
		return 0;
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1)
			return error_set(err, "capability %d could be regained", capability);
	return 0;
}

static int no_root(const struct order *order, struct error *err)
{
	(void)order;
	return getuid() != 0 && geteuid() != 0 && getgid() != 0
		       ? 0
		       : error_set(err, "the process is root");
}

static int read_only_root(const struct order *order, struct error *err)
{
	struct statvfs status;

	(void)order;
	if (statvfs("/", &status) < 0)
		return error_sys(err, "stat '/'");
	return status.f_flag & ST_RDONLY ? 0 : error_set(err, "'/' is not mounted read-only");
}

static bool on_host(const struct order *order, uint64_t device)
{
	for (size_t i = 0; i < order->host_device_count; i++)
		if (order->host_devices[i] == device)
			return true;
	return false;
}

/* The fence's own places must be on file systems that the host does not have. */
static int own_file_systems(const struct order *order, struct error *err)
{
	static const char *const places[] = { "/", "/dev", "/dev/pts", "/proc" };
	struct stat status;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (stat(places[i], &status) < 0 || on_host(order, status.st_dev))
			return error_set(err, "'%s' is on a file system of the host", places[i]);
	return 0;
}

static bool expected_mount(const struct order *order, const char *path)
{
	static const char *const own[] = { "/proc", "/dev" };

	if (strcmp(path, "/") == 0)
		return true;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (path_within(path, own[i]))
			return true;
	for (size_t i = 0; i < order->scratch_count; i++)
		if (strcmp(path, order->scratch[i]) == 0)
			return true;
	for (size_t i = 0; i < order->rule_count; i++)
		if (strcmp(path, order->rules[i].path) == 0)
			return true;
	for (size_t i = 0; i < order->host_mount_count; i++)
		if (strcmp(path, order->host_mounts[i]) == 0)
			return true;
	return false;
}

static int look_at_mount(void *context, uint64_t device, const char *path, struct error *err)
{
	(void)device;
	if (expected_mount(context, path))
		return 0;
	return error_set(err, "unexpected mount at '%s'", path);
}

static int only_expected_mounts(const struct order *order, struct error *err)
{
	return mounts_each(look_at_mount, (void *)order, err);
}

/* A private place must start empty, except for what the rules put there. */
static int check_empty(const struct order *order, const char *place, struct error *err)
{
	DIR *dir = opendir(place);
	int result = 0;

	if (!dir)
		return error_sys(err, "list '%s'", place);
	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		bool expected = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		for (size_t i = 0; !expected && i < order->rule_count; i++)
			expected = path_within(order->rules[i].path, path);
		for (size_t i = 0; !expected && i < order->scratch_count; i++)
			expected = path_within(order->scratch[i], path);
		if (!expected)
			result = error_set(err, "'%s' is not empty", place);
	}
	closedir(dir);
	return result;
}

static int private_scratch(const struct order *order, struct error *err)
{
	for (size_t i = 0; i < order->scratch_count; i++) {
		struct stat status;
		struct stat root;

		if (stat("/", &root) < 0 || lstat(order->scratch[i], &status) < 0 ||
		    !S_ISDIR(status.st_mode))
			return error_set(err, "the private folder '%s' is missing",
					 order->scratch[i]);
		if (status.st_dev == order->host.home_device &&
		    status.st_ino == order->host.home_inode)
			return error_set(err, "'%s' is the host's home folder", order->scratch[i]);
		if (status.st_dev == root.st_dev)
			return error_set(err, "'%s' is not a separate file system",
					 order->scratch[i]);
		if (on_host(order, status.st_dev))
			return error_set(err, "'%s' is on a file system of the host",
					 order->scratch[i]);
		if (check_empty(order, order->scratch[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Checks each rule: the path is the file that was resolved, reachable without symlinks, and mounted
 * with the right access. */
static int rules(const struct order *order, struct error *err)
{
	for (size_t i = 0; i < order->rule_count; i++) {
		const struct order_rule *at = &order->rules[i];
		AUTO_FD fd = fd_openat2(AT_FDCWD, at->path, O_PATH, 0, RESOLVE_NO_SYMLINKS);
		struct stat status;
		struct statvfs mount;

		if (fd < 0 || fstat(fd, &status) < 0 || fstatvfs(fd, &mount) < 0)
			return error_sys(err, "check the rule for '%s'", at->path);

		bool same = status.st_dev == at->rule.device && status.st_ino == at->rule.inode;

		if (at->rule.access == WIRE_HIDE_AROUND ? same : !same)
			return error_set(err, "'%s' is not the file that was planned", at->path);
		if (at->rule.access != WIRE_WRITE && !(mount.f_flag & ST_RDONLY))
			return error_set(err, "'%s' is not mounted read-only", at->path);
		if (at->rule.access == WIRE_HIDE && (status.st_mode & 0777) != 0)
			return error_set(err, "'%s' is not hidden", at->path);
	}
	return 0;
}

static int host_file(const struct order *order, struct error *err)
{
	AUTO_FD reading = open(order->canary, O_RDONLY | O_CLOEXEC);
	AUTO_FD writing = open(order->canary, O_WRONLY | O_CLOEXEC);

	if (reading >= 0 || writing >= 0)
		return error_set(err, "the host's file '%s' could be opened", order->canary);
	return 0;
}

static int host_abstract_socket(const struct order *order, struct error *err)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size = strlen(order->abstract);

	if (fd < 0)
		return error_sys(err, "create a unix socket");
	if (size > sizeof address.sun_path - 1)
		return error_set(err, "the abstract socket's name is too long");
	memcpy(address.sun_path + 1, order->abstract, size);
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size)) == 0)
		return error_set(err, "an abstract socket on the host answered");
	return 0;
}

/* Connecting a datagram socket sends nothing; it only looks up a route. 192.0.2.1 is a
 * documentation address. */
static int no_route(const struct order *order, struct error *err)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(53),
				       .sin_addr.s_addr = htonl(0xc0000201) };

	(void)order;
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return error_set(err, "there is a route to the internet");
	return 0;
}

static int no_new_namespace(const struct order *order, struct error *err)
{
	(void)order;
	return unshare(CLONE_NEWUSER) < 0 ? 0 : error_set(err, "unshare created a user namespace");
}

static int no_mount(const struct order *order, struct error *err)
{
	(void)order;
	return mount("none", "/tmp", "tmpfs", 0, NULL) < 0
		       ? 0
		       : error_set(err, "a file system could be mounted");
}

static int filtered(const struct order *order, struct error *err)
{
	(void)order;
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return error_set(err, "no seccomp filter is in force");
	/* KEYCTL_GET_KEYRING_ID of the session keyring: harmless, and always possible without the
	 * filter. */
	if (syscall(SYS_keyctl, 0, -3, 0, 0, 0) != -1 || errno != EPERM)
		return error_set(err, "the session keyring could be reached");
	return 0;
}

static int no_gain(const struct order *order, struct error *err)
{
	(void)order;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
		       ? 0
		       : error_set(err, "no_new_privs is not set");
}

static int kernel_settings(const struct order *order, struct error *err)
{
	AUTO_FD fd = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);

	(void)order;
	return fd < 0 ? 0 : error_set(err, "a kernel setting could be opened for writing");
}

static int init_untouchable(const struct order *order, struct error *err)
{
	char path[64];
	char target[16];

	(void)order;
	snprintf(path, sizeof path, "/proc/%d/mem", getppid());

	AUTO_FD memory = open(path, O_RDWR | O_CLOEXEC);

	snprintf(path, sizeof path, "/proc/%d/root", getppid());
	if (memory >= 0 || readlink(path, target, sizeof target) >= 0)
		return error_set(err, "init's memory or root folder could be reached");
	return 0;
}

/* /dev is a writable tmpfs of the fence; only Landlock forbids creating files in it. */
static int landlocked(const struct order *order, struct error *err)
{
	AUTO_FD fd = open("/dev/ringfence-canary", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	(void)order;
	return fd < 0 && errno == EACCES ? 0 : error_set(err, "Landlock is not in force");
}

/* Landlock does not govern modes; the listener outside must refuse. */
static int host_metadata(const struct order *order, struct error *err)
{
	return chmod(order->canary, 0600) < 0
		       ? 0
		       : error_set(err, "the mode of the host's file '%s' could be set",
				   order->canary);
}

/* A socket that listens without bind() gets a port on all interfaces of the host. */
static int no_listening(const struct order *order, struct error *err)
{
	AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!order->flags.net_private || fd < 0 || listen(fd, 1) < 0)
		return 0;
	return error_set(err, "the command can listen on the host's network");
}

static int check_rlimit(int resource, uint64_t most, const char *name, struct error *err)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return error_sys(err, "read the %s limit", name);
	return limit.rlim_max <= most && limit.rlim_cur <= most
		       ? 0
		       : error_set(err, "the %s limit is above %llu", name,
				   (unsigned long long)most);
}

static int check_tmp_size(const struct order *order, struct error *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages = (order->limits.tmp_size + page - 1) / page;

	for (size_t i = 0; order->limits.tmp_size && i < order->scratch_count; i++) {
		struct statvfs status;

		if (statvfs(order->scratch[i], &status) < 0)
			return error_sys(err, "stat '%s'", order->scratch[i]);
		if (status.f_blocks == 0 || status.f_blocks * status.f_frsize > pages * page)
			return error_set(err, "'%s' is larger than the tmp-size limit",
					 order->scratch[i]);
	}
	return 0;
}

/* Reads the limits back from the command's own process. Control groups are unreachable from here;
 * ringfence reads them back. */
static int limits_hold(const struct order *order, struct error *err)
{
	const struct wire_limits *limits = &order->limits;
	cpu_set_t cpus;

	if (check_rlimit(RLIMIT_CORE, 0, "core-size", err) < 0 ||
	    check_rlimit(RLIMIT_NPROC, confine_processes(order), "processes", err) < 0 ||
	    (limits->open_files &&
	     check_rlimit(RLIMIT_NOFILE, limits->open_files, "open-files", err) < 0) ||
	    (limits->file_size &&
	     check_rlimit(RLIMIT_FSIZE, limits->file_size, "file-size", err) < 0) ||
	    check_tmp_size(order, err) < 0)
		return -1;
	if (!limits->cpus)
		return 0;
	if (sched_getaffinity(0, sizeof cpus, &cpus) < 0)
		return error_sys(err, "read the CPU affinity");
	if ((uint64_t)CPU_COUNT(&cpus) > limits->cpus)
		return error_set(err, "the command can use %d CPUs", CPU_COUNT(&cpus));
	return sched_setaffinity(0, sizeof cpus, &cpus) < 0
		       ? 0
		       : error_set(err, "the command can change its CPU affinity");
}

static int no_descriptors(const struct order *order, struct error *err)
{
	DIR *dir = opendir("/proc/self/fd");
	int leaked = -1;

	(void)order;
	if (!dir)
		return error_sys(err, "list the open descriptors");
	for (struct dirent *entry; (entry = readdir(dir));) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > 2 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			leaked = fd;
	}
	closedir(dir);
	return leaked < 0 ? 0 : error_set(err, "descriptor %d would be inherited", leaked);
}

static const struct canary outside[] = {
	{ "process-namespace", first_process, WITH_NAMESPACES },
	{ "session", own_session, ALWAYS },
	{ "namespaces", own_namespaces, WITH_NAMESPACES },
	{ "nested-namespace", no_nested_namespace, WITH_NAMESPACES },
	{ "capabilities", no_capabilities, ALWAYS },
	{ "root", no_root, ALWAYS },
	{ "system", read_only_root, WITH_NAMESPACES },
	{ "file-systems", own_file_systems, WITH_NAMESPACES },
	{ "mounts", only_expected_mounts, WITH_NAMESPACES },
	{ "home", private_scratch, WITH_NAMESPACES },
	{ "rules", rules, WITH_NAMESPACES },
};

static const struct canary inside[] = {
	{ "host-file", host_file, ALWAYS },
	{ "abstract-socket", host_abstract_socket, WITH_SOCKET_SCOPE },
	{ "route", no_route, WITH_PRIVATE_NET },
	{ "unshare", no_new_namespace, ALWAYS },
	{ "mount", no_mount, ALWAYS },
	{ "seccomp", filtered, ALWAYS },
	{ "no-new-privileges", no_gain, ALWAYS },
	{ "kernel-settings", kernel_settings, ALWAYS },
	{ "init", init_untouchable, ALWAYS },
	{ "landlock", landlocked, WITH_LANDLOCK },
	{ "metadata", host_metadata, WITH_GRANTS },
	{ "listen", no_listening, WITH_GRANTS },
	{ "limits", limits_hold, ALWAYS },
	{ "descriptors", no_descriptors, ALWAYS },
};

/* Reports whether this canary applies to the requested fence. */
static bool applies(const struct canary *canary, const struct order *order, bool landlock)
{
	switch (canary->when) {
	case WITH_NAMESPACES:
		return !order->flags.shared;
	case WITH_GRANTS:
		return order->flags.shared;
	case WITH_PRIVATE_NET:
		return order->flags.net_private;
	case WITH_SOCKET_SCOPE:
		return order->flags.net_private || order->flags.scopes;
	case WITH_LANDLOCK:
		return landlock;
	case ALWAYS:
		break;
	}
	return true;
}

static int try_all(const struct canary *list, size_t size, const struct order *order, bool landlock,
		   struct canary_count *count, struct error *err)
{
	for (size_t i = 0; i < size; i++) {
		struct error why;

		if (!applies(&list[i], order, landlock))
			continue;
		count->total++;
		if (list[i].attempt(order, &why) < 0)
			return error_set(err, "canary '%s' got through: %s", list[i].name,
					 why.text);
		count->held++;
	}
	return 0;
}

int canary_outside(const struct order *order, struct canary_count *count, struct error *err)
{
	return try_all(outside, sizeof outside / sizeof *outside, order, false, count, err);
}

int canary_inside(const struct order *order, bool landlock, struct canary_count *count,
		  struct error *err)
{
	return try_all(inside, sizeof inside / sizeof *inside, order, landlock, count, err);
}
