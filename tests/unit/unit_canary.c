/* Canaries against a kernel that the test makes up: a fence that holds, then one weakness at a
 * time. */
#include "unit.h"

#include "fence/init/confine.h"
#include "util/file/fd.h"
#include "util/file/mounts.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum { PAGE = 4096, LAST_CAPABILITY = 40, PROCESSES = 64, HOST_DEVICE = 900, CHILD = 77 };

struct place {
	const char *path;
	unsigned int device, inode, mode;
	bool writable, missing, unreadable;
	unsigned int blocks;
};

/* Places of a fence that holds, in the order of these names. */
enum { ROOT, DEV, PTS, PROC, HOME, TMP, PROJECT, GIT, HIDDEN, AROUND, PLACES };

static char home[UNIT_PATH];
static char tmp[UNIT_PATH];
static char descriptors[UNIT_PATH];

static struct {
	pid_t pid, session, reaped;
	const char *self;
	size_t shared; /* a namespace that is the host's; WIRE_NAMESPACES: none */
	bool no_namespace_file;
	long clone, capget, keyctl;
	struct __user_cap_data_struct capabilities[2];
	int bounding; /* a capability that could be regained, or -1 */
	uid_t uid, euid;
	gid_t gid;
	struct place places[PLACES];
	const char *mounts[16];
	const char *unlisted; /* a folder that cannot be listed */
	bool canary_read, canary_written, setting, memory, init_root, landlock_open;
	bool abstract, route, no_unix, no_internet, unshare, mount, affinity;
	int seccomp, no_new_privileges, keyctl_errno, landlock_errno, inherited;
	rlim_t core_soft, core_hard, processes, files, file_size;
	int unread_limit; /* a resource, or -1 */
	int cpus;         /* -1: cannot be read */
	char connected[108];
	socklen_t connected_size;
	bool left;
	bool metadata, listening; /* with --fence landlock */
} k;

static struct order_rule order_rules[4];
static const char *order_scratch[] = { home, tmp };
static const char *order_mounts[] = { "/shown/mount" };
static uint64_t order_devices[] = { HOST_DEVICE - 1, HOST_DEVICE };
static struct order given;

static struct place *place_of(const char *path)
{
	for (size_t i = 0; i < PLACES; i++)
		if (strcmp(k.places[i].path, path) == 0)
			return k.places[i].missing ? NULL : &k.places[i];
	return NULL;
}

static const struct place *opened; /* by fake_openat2() */

static int fill(const struct place *place, struct stat *ret_status)
{
	errno = ENOENT;
	if (!place || place->unreadable)
		return -1;
	*ret_status = (struct stat){ .st_dev = place->device,
				     .st_ino = place->inode,
				     .st_mode = place->mode };
	return 0;
}

static int fill_mount(const struct place *place, struct statvfs *ret_status)
{
	errno = EIO;
	if (!place || place->blocks == 1)
		return -1;
	*ret_status = (struct statvfs){ .f_flag = place->writable ? 0 : ST_RDONLY,
					.f_blocks = place->blocks,
					.f_frsize = PAGE };
	return 0;
}

static int fake_stat(const char *path, struct stat *ret_status)
{
	static const char folder[] = "/proc/self/ns/";

	for (size_t i = 0; i < WIRE_NAMESPACES; i++)
		if (strncmp(path, folder, sizeof folder - 1) == 0 &&
		    strcmp(path + sizeof folder - 1, wire_namespaces[i]) == 0) {
			*ret_status = (struct stat){ .st_ino = i + (i == k.shared ? 10 : 100) };
			return k.no_namespace_file ? -1 : 0;
		}
	return fill(place_of(path), ret_status);
}

static int fake_openat2(const char *path, uint64_t resolve)
{
	opened = resolve == RESOLVE_NO_SYMLINKS ? place_of(path) : NULL;
	return opened ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
}

static ssize_t fake_readlink(const char *path, char *target, size_t size)
{
	if (strcmp(path, "/proc/1/root") == 0)
		return k.init_root ? 0 : -1;
	return (ssize_t)strlen(strncpy(target, k.self, size));
}

static long fake_syscall(long number, ...)
{
	va_list rest;
	struct __user_cap_data_struct *data;

	if (number == SYS_clone)
		return k.clone;
	if (number == SYS_keyctl) {
		errno = k.keyctl_errno;
		return k.keyctl;
	}
	va_start(rest, number);
	va_arg(rest, struct __user_cap_header_struct *);
	data = va_arg(rest, struct __user_cap_data_struct *);
	va_end(rest);
	memcpy(data, k.capabilities, sizeof k.capabilities);
	return k.capget;
}

static int fake_prctl(int option, int capability)
{
	if (option == PR_GET_SECCOMP)
		return k.seccomp;
	if (option == PR_GET_NO_NEW_PRIVS)
		return k.no_new_privileges;
	return capability > LAST_CAPABILITY ? -1 : capability == k.bounding;
}

static int fake_open(const char *path, int flags, ...)
{
	bool open_it = strcmp(path, "/proc/1/mem") == 0              ? k.memory
		       : strcmp(path, "/dev/ringfence-canary") == 0  ? k.landlock_open
		       : strncmp(path, "/proc/sys/kernel/", 17) == 0 ? k.setting
		       : strcmp(path, given.canary) != 0             ? false
		       : (flags & O_ACCMODE) == O_RDONLY             ? k.canary_read
								     : k.canary_written;
	int fd = open_it ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	errno = k.landlock_errno;
	return fd;
}

static DIR *fake_opendir(const char *path)
{
	if (k.unlisted && strcmp(path, k.unlisted) == 0)
		return NULL;
	return opendir(strcmp(path, "/proc/self/fd") == 0 ? descriptors : path);
}

static int fake_socket(int family)
{
	if (family == AF_UNIX ? k.no_unix : k.no_internet)
		return -1;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int fake_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	const struct sockaddr_in *internet = (const struct sockaddr_in *)address;

	(void)fd;
	if (address->sa_family == AF_INET)
		return k.route && internet->sin_addr.s_addr == inet_addr("192.0.2.1") ? 0 : -1;
	memcpy(k.connected, ((const struct sockaddr_un *)address)->sun_path, sizeof k.connected);
	k.connected_size = size;
	return k.abstract ? 0 : -1;
}

static int fake_getrlimit(int resource, struct rlimit *ret_limit)
{
	rlim_t most = resource == RLIMIT_NPROC    ? k.processes
		      : resource == RLIMIT_NOFILE ? k.files
		      : resource == RLIMIT_FSIZE  ? k.file_size
						  : 0;

	*ret_limit = (struct rlimit){ most, most };
	if (resource == RLIMIT_CORE)
		*ret_limit = (struct rlimit){ k.core_soft, k.core_hard };
	return resource == k.unread_limit ? -1 : 0;
}

static int fake_getaffinity(cpu_set_t *ret_set)
{
	CPU_ZERO(ret_set);
	for (int i = 0; i < k.cpus; i++)
		CPU_SET((size_t)i, ret_set);
	return k.cpus < 0 ? -1 : 0;
}

static int fake_mounts(mounts_fn *look, void *context, struct error *err)
{
	for (size_t i = 0; k.mounts[i]; i++)
		if (look(context, 1, k.mounts[i], err) < 0)
			return -1;
	return 0;
}

/* Descriptors 0 to 3 are listed; 3 is `inherited`, or closed on exec. */
static int fake_descriptor_flags(int fd)
{
	return fd > 2 && fd != k.inherited ? FD_CLOEXEC : 0;
}

rlim_t confine_processes(const struct order *of)
{
	return of == &given ? PROCESSES : 0;
}

#define getpid()                                   k.pid
#define getppid()                                  1
#define chmod(path, mode)                          (k.metadata ? 0 : -1)
#define listen(fd, backlog)                        (k.listening ? 0 : -1)
#define getsid(process)                            ((process) == 0 ? k.session : -1)
#define getuid()                                   k.uid
#define geteuid()                                  k.euid
#define getgid()                                   k.gid
#define stat(path, status)                         fake_stat(path, status)
#define lstat(path, status)                        fill(place_of(path), status)
#define statvfs(path, status)                      fill_mount(place_of(path), status)
#define fstat(fd, status)                          fill(opened, status)
#define fstatvfs(fd, status)                       fill_mount(opened, status)
#define fd_openat2(at, path, flags, mode, resolve) fake_openat2(path, resolve)
#define readlink(path, target, size)               fake_readlink(path, target, size)
#define syscall(...)                               fake_syscall(__VA_ARGS__)
#define prctl(option, capability, ...)             fake_prctl(option, capability)
#define waitpid(child, status, options)            (k.reaped = (child))
#define _exit(status)                              (k.left = true)
#define open(path, ...)                            fake_open(path, __VA_ARGS__)
#define opendir(path)                              fake_opendir(path)
#define socket(family, type, protocol)             fake_socket(family)
#define connect(fd, address, size)                 fake_connect(fd, address, size)
#define unshare(flags)                             (k.unshare ? 0 : -1)
#define mount(from, to, type, flags, data)         (k.mount ? 0 : -1)
#define getrlimit(resource, limit)                 fake_getrlimit(resource, limit)
#define sched_getaffinity(process, size, set)      fake_getaffinity(set)
#define sched_setaffinity(process, size, set)      (k.affinity ? 0 : -1)
#define mounts_each(look, context, err)            fake_mounts(look, context, err)
#define fcntl(fd, command)                         fake_descriptor_flags(fd)
#include "fence/init/canary.c"
#undef open

static void set_order(void)
{
	static const uint32_t access[] = { WIRE_WRITE, WIRE_READ, WIRE_HIDE, WIRE_HIDE_AROUND };

	given = (struct order){ .flags = { .net_private = 1 },
				.host = { .home_device = 20, .home_inode = 21 },
				.scratch = order_scratch,
				.scratch_count = 2,
				.host_mounts = order_mounts,
				.host_mount_count = 1,
				.host_devices = order_devices,
				.host_device_count = 2,
				.rules = order_rules,
				.rule_count = 4,
				.canary = "/host/canary",
				.abstract = "name" };
	given.limits = (struct wire_limits){
		.open_files = 100, .file_size = 1000, .tmp_size = 10 * PAGE - 1, .cpus = 2
	};
	for (size_t i = 0; i < WIRE_NAMESPACES; i++)
		given.host.namespaces[i] = 10 + i;
	for (size_t i = 0; i < 4; i++)
		order_rules[i] = (struct order_rule){
			{ k.places[PROJECT + i].device,
			  k.places[PROJECT + i].inode + (access[i] == WIRE_HIDE_AROUND), access[i],
			  0 },
			k.places[PROJECT + i].path,
		};
}

/* A fence that holds. */
static void reset(void)
{
	memset(&k, 0, sizeof k);
	k.pid = k.session = 1;
	k.self = "1";
	k.shared = WIRE_NAMESPACES;
	k.clone = k.keyctl = k.bounding = k.unread_limit = k.inherited = -1;
	k.uid = k.euid = 1000;
	k.gid = 1000;
	memcpy(k.places,
	       (struct place[PLACES]){
		       [ROOT] = { "/", 1, 1, S_IFDIR | 0755, .blocks = 9 },
		       [DEV] = { "/dev", 2, 1, S_IFDIR | 0755, true, .blocks = 9 },
		       [PTS] = { "/dev/pts", 3, 1, S_IFDIR | 0755, true, .blocks = 9 },
		       [PROC] = { "/proc", 4, 1, S_IFDIR | 0555, .blocks = 9 },
		       [HOME] = { home, 5, 1, S_IFDIR | 0700, true, .blocks = 10 },
		       [TMP] = { tmp, 6, 1, S_IFDIR | 0777, true, .blocks = 10 },
		       [PROJECT] = { "/p", HOST_DEVICE, 50, S_IFDIR | 0755, true, .blocks = 9 },
		       [GIT] = { "/p/.git", HOST_DEVICE, 51, S_IFDIR | 0755, .blocks = 9 },
		       [HIDDEN] = { "/p/.env", HOST_DEVICE, 52, S_IFREG, .blocks = 9 },
		       [AROUND] = { "/p/around", 7, 53, S_IFDIR | 0755, .blocks = 9 },
	       },
	       sizeof k.places);
	memcpy(k.mounts,
	       (const char *[]){ "/", "/proc", "/dev/pts", home, tmp, "/p", "/p/.git", "/p/around",
				 "/shown/mount", NULL },
	       10 * sizeof *k.mounts);
	k.seccomp = 2;
	k.no_new_privileges = 1;
	k.keyctl_errno = EPERM;
	k.landlock_errno = EACCES;
	k.processes = PROCESSES;
	k.files = 100;
	k.file_size = 1000;
	k.cpus = 2;
	set_order();
}

/* Runs all canaries. Returns whether they hold, or else the error. */
static bool holds(struct canary_count *count, struct error *err)
{
	memset(count, 0, sizeof *count);
	err->text[0] = '\0';
	return canary_outside(&given, count, err) == 0 &&
	       canary_inside(&given, true, count, err) == 0;
}

/* Whether exactly this canary complains, with this text. */
static bool caught(const char *name, const char *text)
{
	struct canary_count count;
	struct error err;
	char start[128];
	bool refused = !holds(&count, &err) && count.total == count.held + 1;

	snprintf(start, sizeof start, "canary '%s' got through: ", name);
	return refused && strncmp(err.text, start, strlen(start)) == 0 &&
	       strstr(err.text + strlen(start), text);
}

#define CAUGHT(sentence, weakness, name, text)       \
	do {                                         \
		reset();                             \
		weakness;                            \
		CHECK(sentence, caught(name, text)); \
	} while (0)

#define HOLDS(sentence, change)                       \
	do {                                          \
		struct canary_count count;            \
		struct error err;                     \
		reset();                              \
		change;                               \
		CHECK(sentence, holds(&count, &err)); \
	} while (0)

static void processes(void)
{
	CAUGHT("init that is not process 1 is noticed", k.pid = 2, "process-namespace",
	       "init is process 2");
	CAUGHT("/proc of another namespace is noticed", k.self = "7", "process-namespace",
	       "/proc shows");
	CAUGHT("a longer process number is noticed", k.self = "17", "process-namespace",
	       "/proc shows");
	CAUGHT("a session of the caller is noticed", k.session = 5, "session", "session");
	for (size_t i = 0; i < WIRE_NAMESPACES; i++)
		CAUGHT("a namespace of the host is noticed", k.shared = i, "namespaces",
		       wire_namespaces[i]);
	CAUGHT("a namespace that cannot be looked at is noticed", k.no_namespace_file = true,
	       "namespaces", "stat");
	HOLDS("with --net open the network may be the host's",
	      (k.shared = 3, given.flags.net_private = 0));
	CAUGHT("no other namespace may be", (k.shared = 4, given.flags.net_private = 0),
	       "namespaces", "ipc");
	CAUGHT("a nested namespace is noticed", k.clone = CHILD, "nested-namespace", "nested");
	CHECK("its process is waited for", k.reaped == CHILD && !k.left);
}

static void privileges(void)
{
	CAUGHT("capabilities that cannot be read are noticed", k.capget = -1, "capabilities",
	       "read");
	for (size_t i = 0; i < 2; i++) {
		CAUGHT("an effective capability is noticed", k.capabilities[i].effective = 1,
		       "capabilities", "has");
		CAUGHT("a permitted capability is noticed", k.capabilities[i].permitted = 2,
		       "capabilities", "has");
		CAUGHT("an inheritable capability is noticed", k.capabilities[i].inheritable = 4,
		       "capabilities", "has");
	}
	CAUGHT("the first capability of the bounding set is noticed", k.bounding = 0,
	       "capabilities", "capability 0 ");
	CAUGHT("the last capability of the bounding set is noticed", k.bounding = LAST_CAPABILITY,
	       "capabilities", "capability 40 ");
	CAUGHT("a user id of root is noticed", k.uid = 0, "root", "root");
	CAUGHT("an effective user id of root is noticed", k.euid = 0, "root", "root");
	CAUGHT("a group id of root is noticed", k.gid = 0, "root", "root");
}

static void file_systems(void)
{
	static const size_t own[] = { ROOT, DEV, PTS, PROC };

	CAUGHT("a writable root is noticed", k.places[ROOT].writable = true, "system", "read-only");
	CAUGHT("a root that cannot be looked at is noticed", k.places[ROOT].blocks = 1, "system",
	       "stat");
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		CAUGHT("a place of the system on the host's disk is noticed",
		       k.places[own[i]].device = HOST_DEVICE, "file-systems",
		       k.places[own[i]].path);
		CAUGHT("the first device counts like the last",
		       k.places[own[i]].device = HOST_DEVICE - 1, "file-systems", "of the host");
		CAUGHT("a missing place of the system is noticed",
		       k.places[own[i]].unreadable = true, "file-systems", k.places[own[i]].path);
	}
	CAUGHT("a mount that nobody asked for is noticed", k.mounts[9] = "/extra", "mounts",
	       "'/extra'");
	CAUGHT("a mount in a private folder is noticed", k.mounts[9] = "/p/below", "mounts",
	       "'/p/below'");
}

static void touch(const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);

	if (mkdir(path, 0700) < 0)
		abort();
}

static void forget(const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);

	rmdir(path);
}

static void private_folders(void)
{
	AUTO_FREE char *inner = path_join(home, "given/inner");

	for (size_t i = HOME; i <= TMP; i++) {
		CAUGHT("a missing private folder is noticed", k.places[i].missing = true, "home",
		       "missing");
		CAUGHT("a private folder that is a file is noticed", k.places[i].mode = S_IFREG,
		       "home", "missing");
		CAUGHT("a private folder that is a link is noticed", k.places[i].mode = S_IFLNK,
		       "home", "missing");
		CAUGHT("the host's home is noticed",
		       (k.places[i].device = 20, k.places[i].inode = 21), "home", "host's home");
		HOLDS("another inode of that device is not the host's home",
		      (k.places[i].device = 20, k.places[i].inode = 22));
		HOLDS("that inode of another device is not either", k.places[i].inode = 21);
		CAUGHT("a private folder on the fence's root is noticed", k.places[i].device = 1,
		       "home", "separate");
		CAUGHT("a private folder on a disk of the host is noticed",
		       k.places[i].device = HOST_DEVICE, "home", "of the host");
	}
	CAUGHT("a private folder that cannot be listed is noticed", k.unlisted = tmp, "home",
	       "list");
	touch(tmp, "x");
	CAUGHT("a private folder with something in it is noticed", (void)0, "home", "not empty");
	forget(tmp, "x");
	touch(home, "given");
	HOLDS("a folder above a rule may be there",
	      order_rules[3].path = k.places[AROUND].path = k.mounts[7] = inner);
	HOLDS("a folder above another private folder may be there",
	      order_scratch[1] = k.places[TMP].path = k.mounts[4] = inner;
	      k.unlisted = NULL; touch(home, "given/inner"));
	order_scratch[1] = tmp;
	forget(home, "given/inner");
	forget(home, "given");
}

static void rules_hold(void)
{
	for (size_t i = PROJECT; i <= AROUND; i++) {
		CAUGHT("a rule without its file is noticed", k.places[i].missing = true, "rules",
		       k.places[i].path);
		CAUGHT("a rule whose file cannot be looked at is noticed",
		       k.places[i].unreadable = true, "rules", "check the rule");
		CAUGHT("a rule whose mount cannot be looked at is noticed", k.places[i].blocks = 1,
		       "rules", "check the rule");
	}
	for (size_t i = PROJECT; i < AROUND; i++) {
		CAUGHT("another inode is noticed", k.places[i].inode++, "rules", "planned");
		CAUGHT("another device is noticed", k.places[i].device++, "rules", "planned");
	}
	CAUGHT("a hidden folder with exceptions that is shown is noticed", k.places[AROUND].inode++,
	       "rules", "planned");
	for (size_t i = GIT; i <= AROUND; i++)
		CAUGHT("a protected place that is writable is noticed", k.places[i].writable = true,
		       "rules", "read-only");
	CAUGHT("a hidden file that its owner can read is noticed", k.places[HIDDEN].mode |= 0400,
	       "rules", "not hidden");
	CAUGHT("a hidden file that others can read is noticed", k.places[HIDDEN].mode |= 0004,
	       "rules", "not hidden");
}

static void acts(void)
{
	CAUGHT("a file of the host that can be read is noticed", k.canary_read = true, "host-file",
	       "/host/canary");
	CAUGHT("a file of the host that can be written is noticed", k.canary_written = true,
	       "host-file", "/host/canary");
	CAUGHT("an abstract socket that answers is noticed", k.abstract = true, "abstract-socket",
	       "answered");
	CHECK("it is asked for by its name",
	      memcmp(k.connected, "\0name\0", 6) == 0 &&
		      k.connected_size == offsetof(struct sockaddr_un, sun_path) + 5);
	CAUGHT("a socket that cannot be made is noticed", k.no_unix = true, "abstract-socket",
	       "create");
	CAUGHT("a name that is too long is noticed",
	       given.abstract = "12345678901234567890123456789012345678901234567890"
				"1234567890123456789012345678901234567890123456789012345678",
	       "abstract-socket", "too long");
	HOLDS("a name of 107 bytes fits",
	      given.abstract = "12345678901234567890123456789012345678901234567890"
			       "123456789012345678901234567890123456789012345678901234567");
	CAUGHT("a route is noticed", k.route = true, "route", "internet");
	HOLDS("without internet sockets there is none", (k.no_internet = true, k.route = true));
	CAUGHT("a new namespace is noticed", k.unshare = true, "unshare", "namespace");
	CAUGHT("a mount is noticed", k.mount = true, "mount", "mounted");
}

static void walls(void)
{
	CAUGHT("a missing filter is noticed", k.seccomp = 0, "seccomp", "no seccomp filter");
	CAUGHT("a call that works is noticed", k.keyctl = 5, "seccomp", "keyring");
	CAUGHT("a call that fails for another reason is noticed", k.keyctl_errno = ENOKEY,
	       "seccomp", "keyring");
	CAUGHT("missing no_new_privs are noticed", k.no_new_privileges = 0, "no-new-privileges",
	       "not set");
	CAUGHT("a writable kernel setting is noticed", k.setting = true, "kernel-settings",
	       "kernel setting");
	CAUGHT("init's memory is watched", k.memory = true, "init", "memory");
	CAUGHT("init's root is watched", k.init_root = true, "init", "root folder");
	CAUGHT("a file in /dev is noticed", k.landlock_open = true, "landlock", "not in force");
	CAUGHT("another refusal than Landlock's is noticed", k.landlock_errno = EROFS, "landlock",
	       "not in force");
	CAUGHT("an inherited descriptor is noticed", k.inherited = 3, "descriptors",
	       "descriptor 3");
	CAUGHT("descriptors that cannot be listed are noticed", k.unlisted = "/proc/self/fd",
	       "descriptors", "list");
}

static void limits(void)
{
	CAUGHT("core dumps are noticed", k.core_hard = 1, "limits", "core-size");
	CAUGHT("a soft limit is read as well", k.core_soft = 1, "limits", "core-size");
	CAUGHT("a limit that cannot be read is noticed", k.unread_limit = RLIMIT_CORE, "limits",
	       "read the core-size");
	CAUGHT("too many processes are noticed", k.processes++, "limits", "processes");
	CAUGHT("too many open files are noticed", k.files++, "limits", "open-files");
	CAUGHT("too large files are noticed", k.file_size++, "limits", "file-size");
	HOLDS("open files need no limit", (k.files++, given.limits.open_files = 0));
	HOLDS("the size of files needs no limit", (k.file_size++, given.limits.file_size = 0));
	for (size_t i = HOME; i <= TMP; i++) {
		CAUGHT("a private folder that is too large is noticed", k.places[i].blocks++,
		       "limits", k.places[i].path);
		CAUGHT("a private folder without a size is noticed", k.places[i].blocks = 0,
		       "limits", "larger");
		CAUGHT("a private folder whose size is unknown is noticed", k.places[i].blocks = 1,
		       "limits", "stat");
		HOLDS("private folders need no limit",
		      (k.places[i].blocks++, given.limits.tmp_size = 0));
	}
	CAUGHT("too many CPUs are noticed", k.cpus = 3, "limits", "3 CPUs");
	CAUGHT("CPUs that cannot be read are noticed", k.cpus = -1, "limits", "affinity");
	CAUGHT("a choice of CPUs is noticed", k.affinity = true, "limits", "change");
	HOLDS("CPUs need no limit", (k.cpus = 3, k.affinity = true, given.limits.cpus = 0));
}

static void counts(void)
{
	struct canary_count count;
	struct error err;

	reset();
	CHECK("a fence that holds has 23 canaries",
	      holds(&count, &err) && count.total == 23 && count.held == 23);
	reset();
	k.landlock_open = true;
	memset(&count, 0, sizeof count);
	CHECK("without Landlock its canary is left out",
	      canary_inside(&given, false, &count, &err) == 0 && count.total == 11);
	reset();
	k.abstract = k.route = true;
	given.flags.net_private = 0;
	CHECK("with --net open there is no canary for the network",
	      holds(&count, &err) && count.total == 21);
	reset();
	k.abstract = true;
	given.flags = (struct wire_flags){ .scopes = 1 };
	CHECK("scopes bring the abstract socket back",
	      !holds(&count, &err) && strstr(err.text, "answered"));
}

/* A command that shares the host's namespaces. */
static void sharing(void)
{
	struct canary_count count;
	struct error err;

	reset();
	given.flags.shared = 1;
	k.pid = 42;
	k.shared = 0;
	k.bounding = 3;
	k.session = 42;
	CHECK("a fence without namespaces has 17 canaries, none of them about namespaces",
	      holds(&count, &err) && count.total == 17 && count.held == 17);
	k.metadata = true;
	CHECK("that metadata of a file of the host can be set is noticed",
	      !holds(&count, &err) && strstr(err.text, "mode"));
	k.metadata = false;
	k.listening = true;
	CHECK("that a command can listen on the host's network is noticed",
	      !holds(&count, &err) && strstr(err.text, "listen"));
	given.flags.net_private = 0;
	CHECK("with --net open it may listen", holds(&count, &err));
}

int main(void)
{
	if (!unit_temp(home) || !unit_temp(tmp) || !unit_temp(descriptors))
		return 1;
	touch(descriptors, "0");
	touch(descriptors, "2");
	touch(descriptors, "3");
	counts();
	sharing();
	processes();
	privileges();
	file_systems();
	private_folders();
	rules_hold();
	acts();
	walls();
	limits();
	return unit_failures > 0;
}
