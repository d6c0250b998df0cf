/* Limits and the seccomp filter: see confine.h. */
#include "fence/init/confine.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.inc" /* filter_plain, filter_noticing, filter_tracing; from fence_filter_gen.c */

/* Stops fork bombs. Threads count, so a parallel build needs some room. Without a user namespace,
 * all other processes of the user count as well. */
enum { MOST_PROCESSES = 2048, MOST_PROCESSES_SHARED = 8192 };

static int lower_rlimit(int resource, rlim_t most, const char *name, struct error *err)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return error_sys(err, "read the %s limit", name);
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit(resource, &limit) < 0)
		return error_sys(err, "set the %s limit", name);
	return 0;
}

/* Makes the OOM killer prefer the command's processes to init. */
static int prefer_as_oom_victim(struct error *err)
{
	static const char preference[] = "500";
	AUTO_FD fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, preference, sizeof preference - 1) < 0)
		return error_sys(err, "write /proc/self/oom_score_adj");
	return 0;
}

int confine_limits(const struct order *order, struct error *err)
{
	const struct wire_limits *limits = &order->limits;

	/* Dumpable, as the command will be: its counters are readable, and it may write its own
	 * /proc files. */
	if (limits->memory || limits->counters)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (limits->memory && prefer_as_oom_victim(err) < 0)
		return -1;

	if (limits->open_files &&
	    lower_rlimit(RLIMIT_NOFILE, limits->open_files, "open-files", err) < 0)
		return -1;
	return limits->file_size ? lower_rlimit(RLIMIT_FSIZE, limits->file_size, "file-size", err)
				 : 0;
}

rlim_t confine_processes(const struct order *order)
{
	rlim_t asked = order->limits.processes + 1; /* includes init */

	if (order->limits.processes_exact)
		return asked;
	if (order->flags.shared)
		return MOST_PROCESSES_SHARED;
	return asked > MOST_PROCESSES ? asked : MOST_PROCESSES;
}

/* Adds a small filter that refuses one call, which would circumvent a limit. */
static int refuse_call(uint32_t number, uint32_t error, struct error *err)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof steps / sizeof *steps, .filter = steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_sys(err, "install a filter that enforces a limit");
	return 0;
}

int confine_always(const struct order *order, struct error *err)
{
	if (lower_rlimit(RLIMIT_CORE, 0, "core-size", err) < 0 ||
	    lower_rlimit(RLIMIT_RTPRIO, 0, "real-time priority", err) < 0 ||
	    lower_rlimit(RLIMIT_NPROC, confine_processes(order), "processes", err) < 0)
		return -1;
	/* A process may change its CPU affinity unless that is refused. */
	if (order->limits.cpus && refuse_call(SYS_sched_setaffinity, EPERM, err) < 0)
		return -1;
	/* Space reserved by fallocate() is not counted as written. */
	return order->limits.counters ? refuse_call(SYS_fallocate, EOPNOTSUPP, err) : 0;
}

/* The half of an argument that the kernel uses for an int. */
#define LOW_HALF(argument) offsetof(struct seccomp_data, args[argument])

#define PROGRAM(steps) ((struct sock_fprog){ sizeof(steps) / sizeof *(steps), steps })

/* WAIT_KILLABLE_RECV: a pending call must not restart at every signal. Go sends itself hundreds. */
static int install_with_listener(const struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    program);
}

/* Refuses UDP, which needs no connect(). */
static int refuse_datagrams(struct error *err)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(1)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = PROGRAM(steps);

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0
		       ? error_sys(err, "install a filter against UDP")
		       : 0;
}

/* Here the listener performs acts that Landlock cannot judge, so there must be one. */
static int filter_shared_command(const struct confine_filter *wanted, int *ret_listener,
				 struct error *err)
{
	struct sock_fprog program = wanted->notice == CONFINE_TRACE ? PROGRAM(filter_shared_tracing)
				    : wanted->asks_opens            ? PROGRAM(filter_shared_opens)
								    : PROGRAM(filter_shared);

	if (!wanted->network && refuse_datagrams(err) < 0)
		return -1;
	*ret_listener = install_with_listener(&program);
	return *ret_listener < 0
		       ? error_sys(err,
				   "install the seccomp filter with a listener, without which "
				   "this fence cannot decide about connections (is there another "
				   "listener in a parent process?)")
		       : 0;
}

int confine_seccomp(const struct confine_filter *wanted, int *ret_listener, struct error *err)
{
	struct sock_fprog plain = PROGRAM(filter_plain);
	struct sock_fprog asking = wanted->notice == CONFINE_TRACE ? PROGRAM(filter_tracing)
								   : PROGRAM(filter_noticing);

	if (wanted->shared)
		return filter_shared_command(wanted, ret_listener, err);
	*ret_listener = wanted->notice == CONFINE_SILENT ? -1 : install_with_listener(&asking);
	/* Before Linux 5.19, or under another listener, there is none; the plain filter is as
	 * strict. */
	if (*ret_listener < 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plain) < 0)
		return error_sys(err, "install the seccomp filter");
	return 0;
}
