/* Acts against kernel boundaries: namespaces, mounts, other ABIs, keyrings, dangerous calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

#define MS_RDONLY_  1UL
#define MS_REMOUNT_ 32UL
#define MS_BIND_    4096UL
#define MS_REC_     16384UL
#define MS_PRIVATE_ (1UL << 18)
#define DETACH      2
#define LARGE       0100000u /* O_LARGEFILE, which some libraries add */

static const struct {
	const char *name;
	unsigned long flag;
} namespaces[] = {
	{ "user", CLONE_NEWUSER },     { "mount", CLONE_NEWNS },  { "net", CLONE_NEWNET },
	{ "pid", CLONE_NEWPID },       { "ipc", CLONE_NEWIPC },   { "uts", CLONE_NEWUTS },
	{ "cgroup", CLONE_NEWCGROUP }, { "time", CLONE_NEWTIME },
};

/* "user+mount" to flags; 0 if a name is unknown. */
static unsigned long namespace_flags(const char *names)
{
	unsigned long flags = 0;

	while (*names) {
		size_t len = strcspn(names, "+");
		unsigned long flag = 0;

		for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
			if (strlen(namespaces[i].name) == len &&
			    strncmp(namespaces[i].name, names, len) == 0)
				flag = namespaces[i].flag;
		if (!flag)
			return 0;
		flags |= flag;
		names += len + (names[len] == '+');
	}
	return flags;
}

static int act_unshare(int n, char **args)
{
	unsigned long flags = namespace_flags(args[0]);

	(void)n;
	return flags ? attack_verdict(syscall(SYS_unshare, flags)) : ATTACK_MISUSE;
}

static int reap(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	while (waitpid((pid_t)pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return 0;
}

static int act_clone(int n, char **args)
{
	unsigned long flags = namespace_flags(args[0]);

	(void)n;
	return flags ? reap(syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0)) : ATTACK_MISUSE;
}

static int act_clone3(int n, char **args)
{
	struct clone_args clone = {
		.flags = namespace_flags(args[0]),
		.exit_signal = SIGCHLD,
	};

	(void)n;
	return clone.flags ? reap(syscall(SYS_clone3, &clone, sizeof(clone))) : ATTACK_MISUSE;
}

static int act_setns(int n, char **args)
{
	char path[64];
	long fd;

	(void)n;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", args[0]);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
	return fd < 0 ? errno : attack_verdict(syscall(SYS_setns, fd, 0));
}

static int act_mount_tmpfs(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_mount, "tmpfs", args[0], "tmpfs", 0, NULL));
}

static int act_mount_bind(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_mount, args[0], args[1], NULL, MS_BIND_, NULL));
}

static int act_mount_proc(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_mount, "proc", args[0], "proc", 0, NULL));
}

static int act_remount_rw(int n, char **args)
{
	(void)n;
	return attack_verdict(
		syscall(SYS_mount, NULL, args[0], NULL, MS_REMOUNT_ | MS_BIND_, NULL));
}

static int act_fsopen(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_fsopen, args[0], 0));
}

static int act_fspick(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_fspick, AT_FDCWD, args[0], 0));
}

static int act_open_tree(int n, char **args)
{
	(void)n;
	return attack_verdict(
		syscall(SYS_open_tree, AT_FDCWD, args[0], OPEN_TREE_CLONE | AT_RECURSIVE));
}

static int act_move_mount(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_move_mount, AT_FDCWD, args[0], AT_FDCWD, args[1], 0));
}

static int act_mount_setattr(int n, char **args)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOEXEC };

	(void)n;
	return attack_verdict(
		syscall(SYS_mount_setattr, AT_FDCWD, args[0], 0, &attr, sizeof(attr)));
}

static int act_umount(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_umount2, args[0], DETACH));
}

static int act_pivot_root(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_pivot_root, args[0], args[1]));
}

static int act_chroot(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_chroot, args[0]));
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

static int own_namespaces(void)
{
	char uid_map[64], gid_map[64];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1\n", (unsigned)geteuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1\n", (unsigned)getegid());
	if (syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	    write_text("/proc/self/setgroups", "deny") < 0)
		return -1;
	return write_text("/proc/self/uid_map", uid_map) < 0
		       ? -1
		       : write_text("/proc/self/gid_map", gid_map);
}

/*
 * Defeats a read-only bind mount over DIR/NAME: in a nested user and mount namespace with a tmpfs
 * as its root, the old tree is detached. NAME is then no longer a mount point of the namespace, so
 * a descriptor of DIR that was kept can rename NAME and put another file in its place.
 */
static int act_detach_rename(int n, char **args)
{
	int dir = open(args[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
	char away[256], hooks[256], hook[256];
	int fd;

	(void)n;
	snprintf(away, sizeof(away), "%.200s.away", args[1]);
	snprintf(hooks, sizeof(hooks), "%.200s/hooks", args[1]);
	snprintf(hook, sizeof(hook), "%.200s/hooks/pre-commit", args[1]);
	if (dir < 0 || own_namespaces() < 0)
		return errno;
	if (syscall(SYS_mount, NULL, "/", NULL, MS_REC_ | MS_PRIVATE_, NULL) < 0 ||
	    syscall(SYS_mount, "tmpfs", "/tmp", "tmpfs", 0, NULL) < 0 ||
	    mkdir("/tmp/old", 0755) < 0 || syscall(SYS_pivot_root, "/tmp", "/tmp/old") < 0 ||
	    chdir("/") < 0 || syscall(SYS_umount2, "/old", DETACH) < 0)
		return errno;
	if (renameat(dir, args[1], dir, away) < 0 || mkdirat(dir, args[1], 0755) < 0 ||
	    mkdirat(dir, hooks, 0755) < 0)
		return errno;
	fd = openat(dir, hook, O_WRONLY | O_CREAT | O_EXCL, 0755);
	return attack_verdict(fd);
}

static int act_io_uring(int n, char **args)
{
	struct io_uring_params params = { 0 };

	(void)n;
	(void)args;
	return attack_verdict(syscall(SYS_io_uring_setup, 4, &params));
}

/* getpid through the i386 table: 20 is getpid there, but writev on x86-64. */
static int act_int80(int n, char **args)
{
	long result = 20;

	(void)n;
	(void)args;
#if defined(__x86_64__)
	__asm__ volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
#else
	return ENOSYS;
#endif
	return result == getpid() ? 0 : ENOSYS;
}

static int act_x32(int n, char **args)
{
	(void)n;
	(void)args;
	return attack_verdict(syscall(0x40000000L | SYS_getpid));
}

static int act_key_add(int n, char **args)
{
	long key = syscall(SYS_add_key, "user", args[0], "secret", 6, KEY_SPEC_SESSION_KEYRING);

	(void)n;
	return attack_verdict(key);
}

static int act_key_find(int n, char **args)
{
	char payload[64];
	long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", args[0], 0);
	long len;

	(void)n;
	if (key < 0)
		return errno;
	len = syscall(SYS_keyctl, KEYCTL_READ, key, payload, sizeof(payload));
	if (len < 0)
		return errno;
	printf("got: %.*s\n", (int)len, payload);
	return 0;
}

static int act_key_request(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_request_key, "user", args[0], NULL, 0));
}

static int act_key_session(int n, char **args)
{
	(void)n;
	(void)args;
	return attack_verdict(
		syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
}

/* A map of one element: harmless, and the first step of every program loader. */
static int act_bpf(int n, char **args)
{
	union bpf_attr attr;

	(void)n;
	(void)args;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 4;
	attr.max_entries = 1;
	return attack_verdict(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int act_perf(int n, char **args)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	(void)n;
	(void)args;
	return attack_verdict(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int act_userfaultfd(int n, char **args)
{
	(void)n;
	(void)args;
	return attack_verdict(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

/*
 * Loads nothing: if the kernel itself refuses the nonsense (EINVAL, ENOEXEC, EFAULT, ENOENT), the
 * call got through.
 */
static int reached_loader(long result)
{
	if (result < 0 &&
	    (errno == ENOEXEC || errno == EINVAL || errno == EFAULT || errno == ENOENT))
		return 0;
	return attack_verdict(result);
}

static int act_kexec(int n, char **args)
{
	const unsigned long no_such_flags = 0xffff;

	(void)n;
	(void)args;
	return reached_loader(syscall(SYS_kexec_load, 0, 0, NULL, no_such_flags));
}

static int act_init_module(int n, char **args)
{
	(void)n;
	(void)args;
	return reached_loader(syscall(SYS_init_module, "", 0, ""));
}

static int act_finit_module(int n, char **args)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY, 0);

	(void)n;
	(void)args;
	return reached_loader(syscall(SYS_finit_module, fd, "", 0));
}

static int act_delete_module(int n, char **args)
{
	(void)n;
	(void)args;
	return reached_loader(syscall(SYS_delete_module, "ringfence_no_such_module", 0));
}

/* A call that a filter answers with success, without doing anything, if an argument has a value, or
 * another one than that. */
static const struct lie {
	const char *name;
	uint32_t number;
	int argument; /* -1: whatever the arguments */
	uint32_t mask, value;
	bool differs;
} lies[] = {
	{ "open-for-writing", SYS_openat, 2, ~LARGE, O_WRONLY | O_CLOEXEC, false },
#ifdef SYS_open
	{ "open-for-writing", SYS_open, 1, ~LARGE, O_WRONLY | O_CLOEXEC, false },
	{ "readlink-root", SYS_readlink, 2, ~0u, 16, false },
#endif
	{ "readlink-root", SYS_readlinkat, 3, ~0u, 16, false },
	{ "connect-unix", SYS_connect, 2, ~0u, 16, true }, /* not an internet address */
	{ "connect-internet", SYS_connect, 2, ~0u, 16, false },
	{ "unshare", SYS_unshare, -1, 0, 0, false },
	{ "mount", SYS_mount, -1, 0, 0, false },
	{ "keyctl", SYS_keyctl, -1, 0, 0, false },
	{ "no-new-privileges", SYS_prctl, 0, ~0u, PR_GET_NO_NEW_PRIVS, false },
	{ "landlock", SYS_landlock_restrict_self, -1, 0, 0, false },
	{ "set-limits", SYS_prlimit64, 3, ~0u, 0,
	  false }, /* no place for the old limit: sets one */
	{ "close", SYS_close_range, -1, 0, 0, false },
};

static int install_lie(const struct lie *lie)
{
	const uint32_t at = offsetof(struct seccomp_data, args) +
			    (uint32_t)(lie->argument < 0 ? 0 : lie->argument) * sizeof(uint64_t);
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lie->number, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, lie->mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lie->value, lie->differs, !lie->differs),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof steps / sizeof *steps, steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	return attack_verdict(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

/* Starts a program for which a call seems to succeed, with a descriptor that it did not ask for. */
static int act_lie(int n, char **args)
{
	enum { EXTRA = 77 };
	int failed = ATTACK_MISUSE;

	(void)n;
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
		if (strcmp(lies[i].name, args[0]) == 0)
			failed = install_lie(&lies[i]);
	if (failed)
		return failed;
	dup2(STDIN_FILENO, EXTRA);
	return attack_verdict(execv(args[1], args + 1));
}

const struct attack attack_kernel[] = {
	{ "unshare", "NAMESPACE[+NAMESPACE...]", 1, act_unshare },
	{ "clone", "NAMESPACE[+NAMESPACE...]", 1, act_clone },
	{ "clone3", "NAMESPACE[+NAMESPACE...]", 1, act_clone3 },
	{ "setns", "FILE-OF-/proc/self/ns", 1, act_setns },
	{ "mount-tmpfs", "DIR", 1, act_mount_tmpfs },
	{ "mount-bind", "FROM TO", 2, act_mount_bind },
	{ "mount-proc", "DIR", 1, act_mount_proc },
	{ "remount-rw", "DIR", 1, act_remount_rw },
	{ "fsopen", "TYPE", 1, act_fsopen },
	{ "fspick", "DIR", 1, act_fspick },
	{ "open-tree", "DIR", 1, act_open_tree },
	{ "move-mount", "FROM TO", 2, act_move_mount },
	{ "mount-setattr", "DIR", 1, act_mount_setattr },
	{ "umount", "DIR", 1, act_umount },
	{ "pivot-root", "NEW OLD", 2, act_pivot_root },
	{ "chroot", "DIR", 1, act_chroot },
	{ "detach-rename", "DIR NAME", 2, act_detach_rename },
	{ "io-uring", "", 0, act_io_uring },
	{ "int80", "", 0, act_int80 },
	{ "x32", "", 0, act_x32 },
	{ "key-add", "NAME", 1, act_key_add },
	{ "key-find", "NAME", 1, act_key_find },
	{ "key-request", "NAME", 1, act_key_request },
	{ "key-session", "", 0, act_key_session },
	{ "bpf", "", 0, act_bpf },
	{ "perf", "", 0, act_perf },
	{ "userfaultfd", "", 0, act_userfaultfd },
	{ "kexec", "", 0, act_kexec },
	{ "init-module", "", 0, act_init_module },
	{ "finit-module", "", 0, act_finit_module },
	{ "delete-module", "", 0, act_delete_module },
	{ "lie", "CALL PROGRAM [ARG...]", 2, act_lie },
	{ 0 },
};
