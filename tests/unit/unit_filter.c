/*
 * The filters, tried with a small interpreter: a table of calls with the answer of each filter, and
 * a comparison on every call and on arguments that matter. Where the noticing and the tracing
 * filter ask the listener, its answer is that of the plain one.
 */
#include "unit.h"
#include "unit_bpf.h"

#include "fence/init/filter_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

struct call {
	int number;
	int error;
	const char *name;
};

#include "calls.inc"
/* The tables of a fence without namespaces are tested from outside. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#include "filter.inc"
#pragma GCC diagnostic pop

/* --- the answer to each call */

enum {
	YES = (int)SECCOMP_RET_ALLOW,
	ASK = (int)SECCOMP_RET_USER_NOTIF,
	PERM = (int)(SECCOMP_RET_ERRNO | EPERM),
	FAMILY = (int)(SECCOMP_RET_ERRNO | EAFNOSUPPORT),
	ABSENT = (int)(SECCOMP_RET_ERRNO | ENOSYS),
	TIME_NAMESPACE = 0x80,
	HIGH_HALF = 32, /* the kernel ignores this half of an int argument */
};

/* A call, and what the plain, the noticing and the tracing filter answer. */
struct expected {
	const char *name;
	int number;
	int answers[3];
	uint64_t args[6];
};

#define ROW(call, plain, noticing, tracing, ...)                 \
	{                                                        \
#call, SYS_##call, { plain, noticing, tracing }, \
		{                                                \
			__VA_ARGS__                              \
		}                                                \
	}
#define REFUSED(call, ...)      ROW(call, PERM, ASK, ASK, __VA_ARGS__)
#define SILENT(call, ...)       ROW(call, PERM, PERM, PERM, __VA_ARGS__)
#define CHANGING(call, ...)     ROW(call, YES, ASK, ASK, __VA_ARGS__)
#define READING(call, ...)      ROW(call, YES, YES, ASK, __VA_ARGS__)
#define ALLOWED(call, ...)      ROW(call, YES, YES, YES, __VA_ARGS__)
#define MISSING(call, ...)      ROW(call, ABSENT, ABSENT, ABSENT, __VA_ARGS__)
#define WRONG_FAMILY(call, ...) ROW(call, FAMILY, ASK, ASK, __VA_ARGS__)
/* All filters judge the mode at a place, after other arguments. */
#define MODES(call, ...)                                                          \
	CHANGING(call, __VA_ARGS__ 0644), CHANGING(call, __VA_ARGS__ 01777),      \
		SILENT(call, __VA_ARGS__ 04755), SILENT(call, __VA_ARGS__ 02755), \
		SILENT(call, __VA_ARGS__ 06755),                                  \
		SILENT(call, __VA_ARGS__(uint64_t) 1 << HIGH_HALF | 04755)
#define OPENS(call, ...)                                                                          \
	READING(call, __VA_ARGS__ O_RDONLY), READING(call, __VA_ARGS__ O_RDONLY, 06755),          \
		READING(call, __VA_ARGS__ O_PATH), READING(call, __VA_ARGS__ O_DIRECTORY),        \
		CHANGING(call, __VA_ARGS__ O_WRONLY), CHANGING(call, __VA_ARGS__ O_RDWR),         \
		CHANGING(call, __VA_ARGS__ O_TRUNC), CHANGING(call, __VA_ARGS__ O_WRONLY, 06755), \
		CHANGING(call, __VA_ARGS__ O_CREAT, 0644),                                        \
		SILENT(call, __VA_ARGS__ O_CREAT, 04755),                                         \
		SILENT(call, __VA_ARGS__ O_WRONLY | O_CREAT, 02755),                              \
		CHANGING(call, __VA_ARGS__ O_RDWR | O_TMPFILE, 0644),                             \
		SILENT(call, __VA_ARGS__ O_RDWR | O_TMPFILE, 04755),                              \
		SILENT(call, __VA_ARGS__ O_RDWR | O_TMPFILE, 02755)
#define NAMESPACES(call)                                                                         \
	REFUSED(call, CLONE_NEWNS), REFUSED(call, CLONE_NEWCGROUP), REFUSED(call, CLONE_NEWUTS), \
		REFUSED(call, CLONE_NEWIPC), REFUSED(call, CLONE_NEWUSER),                       \
		REFUSED(call, CLONE_NEWPID), REFUSED(call, CLONE_NEWNET),                        \
		REFUSED(call, CLONE_NEWNET | CLONE_FS),                                          \
		REFUSED(call, (uint64_t)1 << HIGH_HALF | CLONE_NEWUSER)

static const struct expected expected[] = {
	/* file systems and namespaces */
	REFUSED(mount),
	REFUSED(umount2),
	REFUSED(pivot_root),
	REFUSED(chroot),
	REFUSED(fsopen),
	REFUSED(fsconfig),
	REFUSED(fsmount),
	REFUSED(fspick),
	REFUSED(move_mount),
	REFUSED(open_tree),
	REFUSED(mount_setattr),
	REFUSED(setns),
	REFUSED(open_by_handle_at),
	REFUSED(swapon),
	REFUSED(swapoff),
	REFUSED(quotactl),
	REFUSED(quotactl_fd),
	NAMESPACES(unshare),
	REFUSED(unshare, TIME_NAMESPACE),
	ALLOWED(unshare, 0),
	ALLOWED(unshare, CLONE_FS | CLONE_FILES),
	NAMESPACES(clone),
	ALLOWED(clone, SIGCHLD),
	ALLOWED(clone, CLONE_VM | CLONE_VFORK | SIGCHLD),
	ALLOWED(clone, TIME_NAMESPACE | SIGCHLD), /* a part of the signal */
	MISSING(clone3),
	/* kernel interfaces that no build needs */
	SILENT(io_uring_setup),
	SILENT(io_uring_enter),
	SILENT(io_uring_register),
	REFUSED(bpf),
	REFUSED(perf_event_open),
	REFUSED(userfaultfd),
	REFUSED(add_key),
	REFUSED(request_key),
	REFUSED(keyctl),
	SILENT(lookup_dcookie),
	SILENT(nfsservctl),
	SILENT(remap_file_pages),
	ALLOWED(personality, 0x0),
	ALLOWED(personality, 0x8),
	ALLOWED(personality, 0x20000),
	ALLOWED(personality, 0x20008),
	ALLOWED(personality, 0x40000),
	ALLOWED(personality, 0x40008),
	ALLOWED(personality, 0xffffffff),
	MISSING(personality, 0x1),
	MISSING(personality, 0x0400000), /* READ_IMPLIES_EXEC */
	/* machine administration */
	REFUSED(init_module),
	REFUSED(finit_module),
	REFUSED(delete_module),
	REFUSED(kexec_load),
	REFUSED(kexec_file_load),
	REFUSED(reboot),
	REFUSED(acct),
	REFUSED(syslog),
	REFUSED(settimeofday),
	REFUSED(clock_settime),
	SILENT(clock_adjtime),
	SILENT(adjtimex),
	REFUSED(sethostname),
	REFUSED(setdomainname),
	SILENT(vhangup),
#ifdef __x86_64__
	SILENT(modify_ldt),
	SILENT(uselib),
	SILENT(_sysctl),
	SILENT(sysfs),
	SILENT(ustat),
	SILENT(vserver),
	REFUSED(create_module),
	REFUSED(query_module),
	REFUSED(get_kernel_syms),
	REFUSED(iopl),
	REFUSED(ioperm),
#endif
	/* changes of files, and connections */
	CHANGING(mkdirat),
	CHANGING(unlinkat),
	CHANGING(renameat),
	CHANGING(renameat2),
	CHANGING(linkat),
	CHANGING(symlinkat),
	CHANGING(truncate),
	CHANGING(fchownat),
	CHANGING(connect),
	CHANGING(bind),
	MODES(fchmodat, 0, 0, ),
	MODES(mknodat, 0, 0, ),
	ALLOWED(fchmod, 0, 0644),
	SILENT(fchmod, 0, 04755),
	SILENT(fchmod, 0, 02755),
	OPENS(openat, 0, 0, ),
	MISSING(openat2),
#ifdef __x86_64__
	CHANGING(mkdir),
	CHANGING(unlink),
	CHANGING(rmdir),
	CHANGING(rename),
	CHANGING(link),
	CHANGING(symlink),
	CHANGING(chown),
	CHANGING(lchown),
	MODES(chmod, 0, ),
	MODES(creat, 0, ),
	MODES(mknod, 0, ),
	OPENS(open, 0, ),
#endif
	/* reads */
	READING(faccessat),
	READING(faccessat2),
	READING(readlinkat),
	READING(execve),
	READING(execveat),
	READING(chdir),
	READING(newfstatat),
	ALLOWED(newfstatat, 0, 0, 0, AT_EMPTY_PATH),
	READING(statx),
	ALLOWED(statx, 0, 0, AT_EMPTY_PATH),
#ifdef __x86_64__
	READING(stat),
	READING(lstat),
	READING(access),
	READING(readlink),
#endif
	/* sockets */
	ALLOWED(socket, AF_UNIX),
	ALLOWED(socket, AF_INET),
	ALLOWED(socket, AF_INET6),
	ALLOWED(socket, (uint64_t)1 << HIGH_HALF | AF_INET),
	ALLOWED(socket, AF_NETLINK, 0, 0),
	WRONG_FAMILY(socket, AF_NETLINK, 0, 1),
	WRONG_FAMILY(socket, AF_NETLINK, 0, 9 /* NETLINK_AUDIT */),
	WRONG_FAMILY(socket, AF_NETLINK, 0, 63),
	WRONG_FAMILY(socket, AF_NETLINK, 0, 64),
	WRONG_FAMILY(socket, AF_NETLINK, 0, 1u << 31),
	WRONG_FAMILY(socket, 0),
	WRONG_FAMILY(socket, AF_PACKET),
	WRONG_FAMILY(socket, AF_ALG),
	WRONG_FAMILY(socket, AF_VSOCK),
	WRONG_FAMILY(socket, 63),
	WRONG_FAMILY(socket, 64),
	WRONG_FAMILY(socket, 1u << 31),
	ALLOWED(socketpair, AF_UNIX),
	ROW(socketpair, FAMILY, FAMILY, FAMILY, AF_INET),
	ROW(socketpair, FAMILY, FAMILY, FAMILY, 0),
	ROW(socketpair, FAMILY, FAMILY, FAMILY, 63),
	MISSING(socketpair, 64),
	/* terminals */
	REFUSED(ioctl, 0, TIOCSTI),
	REFUSED(ioctl, 0, TIOCLINUX),
	REFUSED(ioctl, 0, (uint64_t)1 << HIGH_HALF | TIOCSTI),
	ALLOWED(ioctl, 0, TIOCGWINSZ),
	ALLOWED(ioctl, 0, TIOCSTI ^ 1),
	ALLOWED(ioctl, 0, TIOCLINUX ^ 0x80000000u),
	ALLOWED(ioctl, 0, 0),
	/* everything else, up to the last call that the filter knows */
	ALLOWED(read),
	ALLOWED(write),
	ALLOWED(exit_group),
	ALLOWED(ptrace),
	ALLOWED(prctl),
	ALLOWED(seccomp),
	{ "the last known call", 450, { YES, YES, YES }, { 0 } },
	{ "the first unknown call", 451, { ABSENT, ABSENT, ABSENT }, { 0 } },
};

static bool answers(const struct expected *at)
{
	struct seccomp_data data = { .nr = at->number, .arch = (uint32_t)NATIVE };
	uint32_t seen[3];
	bool held = true;

	memcpy(data.args, at->args, sizeof data.args);
	seen[0] = RUN(filter_plain, &data);
	seen[1] = RUN(filter_noticing, &data);
	seen[2] = RUN(filter_tracing, &data);
	for (size_t i = 0; i < COUNT(seen); i++)
		held = held && seen[i] == (uint32_t)at->answers[i];
	if (!held)
		printf("# %s(%#llx, %#llx, %#llx, %#llx): %#x %#x %#x, not %#x %#x %#x\n", at->name,
		       (unsigned long long)at->args[0], (unsigned long long)at->args[1],
		       (unsigned long long)at->args[2], (unsigned long long)at->args[3], seen[0],
		       seen[1], seen[2], (uint32_t)at->answers[0], (uint32_t)at->answers[1],
		       (uint32_t)at->answers[2]);
	return held;
}

static void table(void)
{
	bool held = true;

	for (size_t i = 0; i < COUNT(expected); i++)
		held = answers(&expected[i]) && held;
	CHECK("each call in the table has the answer of each filter", held);
#ifdef __x86_64__
	const struct seccomp_data x32 = { .nr = 0x40000000 | SYS_openat, .arch = (uint32_t)NATIVE };

	CHECK("all filters kill a call of x32",
	      RUN(filter_plain, &x32) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_noticing, &x32) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_tracing, &x32) == SECCOMP_RET_KILL_PROCESS);
#endif
}

static const struct call *find(int number)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* Reports whether a filter for shared namespaces allows only what the plain one allows, and asks
 * only about listed calls. */
static bool is_stricter(uint32_t answer, uint32_t plain, int number)
{
	if (answer == SECCOMP_RET_USER_NOTIF)
		return find(number) != NULL;
	return answer != SECCOMP_RET_ALLOW || plain == SECCOMP_RET_ALLOW;
}

enum { NO_SUPPORT = (int)(SECCOMP_RET_ERRNO | EOPNOTSUPP) };

/* Calls of a command that shares the host's namespaces. */
static void shared_table(void)
{
	static const struct {
		const char *name;
		int number;
		int answer;
		uint64_t args[6];
	} rows[] = {
		{ "its own limits", SYS_prlimit64, YES, { 0 } },
		{ "the limits of another process", SYS_prlimit64, PERM, { 42 } },
		{ "its own priority", SYS_setpriority, YES, { 0, 0 } },
		{ "the priority of another process", SYS_setpriority, PERM, { 0, 42 } },
		{ "the priority of all processes of the user", SYS_setpriority, PERM, { 2, 0 } },
		{ "the affinity of another process", SYS_sched_setaffinity, PERM, { 42 } },
		{ "shared memory of the host", SYS_shmat, PERM, { 1 } },
		{ "a message queue of the host", SYS_mq_open, PERM, { 0 } },
		{ "an owner", SYS_fchownat, PERM, { 0 } },
		{ "an extended attribute", SYS_setxattr, NO_SUPPORT, { 0 } },
		{ "a unix stream", SYS_socket, YES, { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC } },
		{ "a unix datagram", SYS_socket, PERM, { AF_UNIX, SOCK_DGRAM } },
		{ "a raw unix socket", SYS_socket, PERM, { AF_UNIX, SOCK_RAW } },
		{ "a pair of unix datagrams", SYS_socketpair, PERM, { AF_UNIX, SOCK_DGRAM } },
		{ "a pair of unix streams", SYS_socketpair, YES, { AF_UNIX, SOCK_STREAM } },
		{ "TCP", SYS_socket, YES, { AF_INET6, SOCK_STREAM, IPPROTO_TCP } },
		{ "MPTCP", SYS_socket, PERM, { AF_INET, SOCK_STREAM, 262 } },
		{ "SCTP", SYS_socket, PERM, { AF_INET, SOCK_STREAM, IPPROTO_SCTP } },
		{ "ping", SYS_socket, PERM, { AF_INET, SOCK_DGRAM, IPPROTO_ICMP } },
		{ "a raw socket", SYS_socket, PERM, { AF_INET, SOCK_RAW, 255 } },
		{ "sending", SYS_sendto, YES, { 3, 0, 0, MSG_NOSIGNAL } },
		{ "sending that connects", SYS_sendto, NO_SUPPORT, { 3, 0, 0, MSG_FASTOPEN } },
		{ "a message that connects", SYS_sendmsg, NO_SUPPORT, { 3, 0, MSG_FASTOPEN } },
		{ "messages that connect", SYS_sendmmsg, NO_SUPPORT, { 3, 0, 0, MSG_FASTOPEN } },
		{ "connecting", SYS_connect, ASK, { 3 } },
		{ "binding", SYS_bind, ASK, { 3 } },
		{ "listening", SYS_listen, ASK, { 3 } },
		{ "a mode, by descriptor", SYS_fchmod, ASK, { 3, 0644 } },
		{ "a setuid mode, by descriptor", SYS_fchmod, PERM, { 3, 04755 } },
		{ "times, by descriptor", SYS_utimensat, ASK, { 3, 0, 1 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seccomp_data data = { .nr = rows[i].number, .arch = (uint32_t)NATIVE };

		memcpy(data.args, rows[i].args, sizeof data.args);
		CHECK(rows[i].name, (int)RUN(filter_shared, &data) == rows[i].answer &&
					    (int)RUN(filter_shared_opens, &data) == rows[i].answer);
	}

	const struct seccomp_data opened = { .nr = SYS_openat, .arch = (uint32_t)NATIVE };

	CHECK("only one of them asks before files are opened for reading",
	      RUN(filter_shared, &opened) == SECCOMP_RET_ALLOW &&
		      RUN(filter_shared_opens, &opened) == SECCOMP_RET_USER_NOTIF);
}

/* Reports whether a filter's answer, or the listener's if the filter asks, is that of the plain
 * one. */
static bool agrees(uint32_t answer, uint32_t plain, int number)
{
	const struct call *call = find(number);

	if (answer != SECCOMP_RET_USER_NOTIF)
		return answer == plain;
	return call && plain == (call->error ? SECCOMP_RET_ERRNO | (uint32_t)call->error
					     : SECCOMP_RET_ALLOW);
}

static uint64_t argument(void)
{
	static const uint64_t telling[] = {
		0,
		1,
		2,
		3,
		O_CREAT,
		O_WRONLY | O_CREAT | O_TRUNC,
		O_RDWR | O_TMPFILE,
		O_TRUNC,
		O_PATH,
		0644,
		04755,
		02755,
		CLONE_NEWUSER,
		CLONE_NEWNS | SIGCHLD,
		CLONE_VM | CLONE_THREAD,
		AT_EMPTY_PATH,
		16,
		17,
		40,
		TIOCSTI,
		TIOCLINUX,
		TIOCGWINSZ,
		0x20000,
		UINT64_MAX,
	};
	uint64_t value = telling[(size_t)random() % COUNT(telling)];

	switch (random() % 8) {
	case 0:
		return (uint64_t)random() << 32 |
		       value; /* the kernel ignores this half of an int */
	case 1:
		return (uint64_t)random();
	default:
		return value;
	}
}

/* A filter as libseccomp writes it: a step for each number, and one call judged by an argument. */
static void packing(void)
{
	enum { LAST = 300, JUDGED = 41 };
	static struct filter_pack made;
	static struct filter_pack packed;
	const struct sock_filter head[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)NATIVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_filter tail[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	memcpy(made.steps, head, sizeof head);
	made.count = COUNT(head);
	for (uint32_t number = 0; number <= LAST; number++) { /* allow the number, with
							       * exceptions */
		bool refused = number % 7 == 3;

		made.steps[made.count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
									number, 0, 1);
		made.steps[made.count++] =
			number == JUDGED
				? (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
							       2 * (LAST - number) + 1)
				: (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							       refused ? SECCOMP_RET_ERRNO | EPERM
								       : SECCOMP_RET_ALLOW);
	}
	memcpy(&made.steps[made.count], tail, sizeof tail);
	made.count += COUNT(tail);

	CHECK("a packed filter is smaller",
	      filter_pack(&made, (uint32_t)NATIVE, LAST, &packed) == 0 &&
		      packed.count < made.count / 2);
	CHECK("a packed filter gives the same answers",
	      filter_pack_compare(&made, &packed, (uint32_t)NATIVE, LAST) == 0);

	bool noticed = true;

	for (size_t i = 0; i < packed.count; i++) {
		struct sock_filter *step = &packed.steps[i];
		struct sock_filter saved = *step;

		if (step->code != (BPF_RET | BPF_K) || step->k == SECCOMP_RET_KILL_PROCESS)
			continue;
		step->k = SECCOMP_RET_LOG;
		noticed = noticed &&
			  filter_pack_compare(&made, &packed, (uint32_t)NATIVE, LAST) < 0;
		*step = saved;
	}
	CHECK("a single different answer is noticed", noticed);

	struct sock_filter *first = &made.steps[0];

	first->k = offsetof(struct seccomp_data, instruction_pointer);
	CHECK("a filter of another form is refused",
	      filter_pack(&made, (uint32_t)NATIVE, LAST, &packed) < 0);
}

int main(void)
{
	enum { LAST = 480, ROUNDS = 1500 };
	bool noticing = true;
	bool tracing = true;
	size_t asked[COUNT(calls)] = { 0 };
	bool all = true;
	bool shared = true;

	for (int i = 0; i < LAST * ROUNDS; i++) {
		struct seccomp_data data = { .nr = i % LAST, .arch = (uint32_t)NATIVE };
		uint32_t plain;
		uint32_t traced;

		for (size_t k = 0; k < COUNT(data.args); k++)
			data.args[k] = argument();
		plain = RUN(filter_plain, &data);
		traced = RUN(filter_tracing, &data);
		noticing = noticing && agrees(RUN(filter_noticing, &data), plain, data.nr);
		tracing = tracing && agrees(traced, plain, data.nr);
		shared = shared && is_stricter(RUN(filter_shared, &data), plain, data.nr) &&
			 is_stricter(RUN(filter_shared_opens, &data), plain, data.nr);
		if (traced == SECCOMP_RET_USER_NOTIF && find(data.nr))
			asked[find(data.nr) - calls]++;
		traced = RUN(filter_shared_tracing, &data);
		shared = shared && is_stricter(traced, plain, data.nr);
		if (traced == SECCOMP_RET_USER_NOTIF && find(data.nr))
			asked[find(data.nr) - calls]++;
	}
	for (size_t i = 0; i < COUNT(calls); i++)
		all = all && asked[i] > 0;
	CHECK("with the listener's answers, the noticing filter matches the plain one", noticing);
	CHECK("with the listener's answers, the tracing filter matches the plain one", tracing);
	CHECK("the filters for shared namespaces allow only what the plain one allows", shared);
	CHECK("the filter asks about every call in the listener's list", all);

	const struct seccomp_data native = { .nr = SYS_getpid, .arch = (uint32_t)NATIVE };

	CHECK("all filters judge calls of the architecture that they are built for",
	      RUN(filter_plain, &native) == SECCOMP_RET_ALLOW &&
		      RUN(filter_noticing, &native) == SECCOMP_RET_ALLOW &&
		      RUN(filter_tracing, &native) == SECCOMP_RET_ALLOW);

	const struct seccomp_data foreign = { .nr = SYS_openat, .arch = AUDIT_ARCH_I386 };

	CHECK("all filters kill a foreign architecture",
	      RUN(filter_plain, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_noticing, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_tracing, &foreign) == SECCOMP_RET_KILL_PROCESS);
	table();
	shared_table();
	packing();
	return unit_failures > 0;
}
