/*
 * Writes the gateway's seccomp filter as a C table at build time.
 *
 * The filter allows what the gateway needs: forwarding data, internet sockets, reading files. Other
 * calls fail with EPERM; calls that only an intruder would make kill the process, as do foreign
 * architectures.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define INT_IS(arg, value)         SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (value))
#define BITS_ARE(arg, mask, value) SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (mask), (value))

static const char *const allowed[] = {
	/* data */
	"read",
	"readv",
	"write",
	"writev",
	"recvfrom",
	"recvmsg",
	"sendto",
	"sendmsg",
	"close",
	"lseek",
	"splice",
	"pread64",
	"pwrite64",
	"memfd_create", /* for request bodies, invisible to other processes */
	/* sockets; socket() has its own rules */
	"accept4",
	"connect",
	"getsockname",
	"getpeername",
	"getsockopt",
	"setsockopt",
	"shutdown",
	"fcntl",
	/* waiting */
	"epoll_wait",
	"epoll_pwait",
	"epoll_ctl",
	"poll",
	"ppoll",
	"futex",
	"restart_syscall",
	"clock_gettime",
	"clock_nanosleep",
	"gettimeofday",
	"time",
	/* file metadata */
	"fstat",
	"newfstatat",
	"stat",
	"statx",
	"getrandom",
	/* memory; executable mappings have their own rules */
	"munmap",
	"mremap",
	"brk",
	"madvise",
	/* exiting, including abort() */
	"exit",
	"exit_group",
	"rt_sigreturn",
	"rt_sigprocmask",
	"rt_sigaction",
	"getpid",
	"gettid",
	"tgkill",
	"sched_yield",
};

static const char *const deadly[] = {
	"execve",
	"execveat",
	"fork",
	"vfork",
	"clone",
	"clone3",
	"ptrace",
	"bpf",
	"process_vm_readv",
	"process_vm_writev",
	"mount",
	"setns",
	"unshare",
	"keyctl",
	"io_uring_setup",
	"userfaultfd",
	"perf_event_open",
	"init_module",
	"finit_module",
	"kexec_load",
};

static scmp_filter_ctx filter;

static void must(int result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "filter_gen: %s: %s\n", what, strerror(-result));
		exit(1);
	}
}

#define ALLOW_IF(name, count, ...)                                                               \
	must(seccomp_rule_add(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(name), count, \
			      __VA_ARGS__),                                                      \
	     name)

static void add_list(const char *const *names, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number != __NR_SCMP_ERROR)
			must(seccomp_rule_add(filter, action, number, 0), names[i]);
	}
}

static void add_conditions(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };
	const unsigned int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			ALLOW_IF("socket", 2, INT_IS(0, families[i]),
				 BITS_ARE(1, 0xffffffffu & ~flags, types[j]));
	ALLOW_IF("openat", 1,
		 BITS_ARE(2, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY),
			  O_RDONLY));
	if (seccomp_syscall_resolve_name("open") >= 0)
		ALLOW_IF("open", 1,
			 BITS_ARE(1,
				  O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND |
					  (O_TMPFILE & ~O_DIRECTORY),
				  O_RDONLY));
	ALLOW_IF("mmap", 1, BITS_ARE(2, PROT_EXEC, 0));
	ALLOW_IF("mprotect", 1, BITS_ARE(2, PROT_EXEC, 0));
	ALLOW_IF("ioctl", 1, INT_IS(1, FIONBIO));
}

int main(void)
{
	struct sock_filter step;
	int pipes[2];

	must(seccomp_api_set(3), "api");
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	must(filter ? 0 : -ENOMEM, "init");
	must(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
	     "architecture");
	must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimise");
	add_list(allowed, sizeof allowed / sizeof *allowed, SCMP_ACT_ALLOW);
	add_list(deadly, sizeof deadly / sizeof *deadly, SCMP_ACT_KILL_PROCESS);
	add_conditions();
	must(pipe(pipes) < 0 ? -errno : 0, "pipe");
	must(seccomp_export_bpf(filter, pipes[1]), "export");
	close(pipes[1]);
	printf("/* Made by filter_gen.c. */\nstatic struct sock_filter gateway_filter[] = {\n");
	while (read(pipes[0], &step, sizeof step) == sizeof step)
		printf("\t{0x%x, %u, %u, 0x%x},\n", step.code, step.jt, step.jf, step.k);
	printf("};\n");
	return 0;
}
