/* The gateway's sandbox, by its effects: each act succeeds without it and fails inside. */
#include "unit.h"
#include "unit_bpf.h"

#include "gateway/gateway_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway_filter.inc"

typedef int act_fn(void); /* 0, or the errno */

static int result_of(long result)
{
	return result < 0 ? errno : 0;
}

static int read_hosts(void)
{
	return result_of(open("/etc/hosts", O_RDONLY | O_CLOEXEC));
}

static int read_passwd(void)
{
	return result_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int write_null(void)
{
	return result_of(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int make_file(void)
{
	return result_of(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static int internet_socket(void)
{
	return result_of(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int unix_socket(void)
{
	return result_of(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int netlink_socket(void)
{
	return result_of(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int listening(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : result_of(bind(fd, (const struct sockaddr *)&any, sizeof any));
}

static int executable_memory(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? errno : 0;
}

static int signal_parent(void)
{
	return result_of(kill(getppid(), 0));
}

static int start_program(void)
{
	char name[] = "true";
	char *const arguments[] = { name, NULL };

	execv("/bin/true", arguments);
	return errno;
}

static int start_process(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, 0L);

	if (child == 0)
		syscall(SYS_exit_group, 0);
	return result_of(child);
}

static int more_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return errno;
	return result_of(setrlimit(RLIMIT_NOFILE, &limit));
}

static int trace(void)
{
	return result_of(syscall(SYS_ptrace, 0L, 0L, 0L, 0L));
}

static int change_directory(void)
{
	return result_of(chdir("/"));
}

/* Skips the sanitizers' exit handlers, which the filter would refuse. */
static void end(int status)
{
	syscall(SYS_exit_group, status);
}

/* Returns the exit status of the act in its own process; -1: killed by the filter; -2: no
 * sandbox. */
static int outcome(act_fn *act, bool confined)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		AUTO_BUFFER struct buffer warnings = BUFFER_INIT(1000);
		struct error err;

		if (confined && gateway_confine(65534, 65534, &warnings, &err) < 0)
			end(254);
		end(act());
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? -1 : -3;
	return WEXITSTATUS(status) == 254 ? -2 : WEXITSTATUS(status);
}

enum { KILLED = -1 };

/* --- the answer to each call */

enum {
	YES = (int)SECCOMP_RET_ALLOW,
	NO = (int)(SECCOMP_RET_ERRNO | EPERM),
	DEATH = (int)SECCOMP_RET_KILL_PROCESS,
};

#define ROW(call, answer, ...)             \
	{                                  \
#call, SYS_##call, answer, \
		{                          \
			__VA_ARGS__        \
		}                          \
	}
#define ALLOWED(call, ...) ROW(call, YES, __VA_ARGS__)
#define REFUSED(call, ...) ROW(call, NO, __VA_ARGS__)
#define DEADLY(call, ...)  ROW(call, DEATH, __VA_ARGS__)

static const struct {
	const char *name;
	int number;
	int answer;
	uint64_t args[6];
} answers[] = {
	ALLOWED(read),
	ALLOWED(readv),
	ALLOWED(write),
	ALLOWED(writev),
	ALLOWED(recvfrom),
	ALLOWED(recvmsg),
	ALLOWED(sendto),
	ALLOWED(sendmsg),
	ALLOWED(close),
	ALLOWED(lseek),
	ALLOWED(splice),
	ALLOWED(pread64),
	ALLOWED(pwrite64),
	ALLOWED(memfd_create),
	ALLOWED(accept4),
	ALLOWED(connect),
	ALLOWED(getsockname),
	ALLOWED(getpeername),
	ALLOWED(getsockopt),
	ALLOWED(setsockopt),
	ALLOWED(shutdown),
	ALLOWED(fcntl),
	ALLOWED(epoll_pwait),
	ALLOWED(epoll_ctl),
	ALLOWED(ppoll),
	ALLOWED(futex),
	ALLOWED(restart_syscall),
	ALLOWED(clock_gettime),
	ALLOWED(clock_nanosleep),
	ALLOWED(gettimeofday),
	ALLOWED(fstat),
	ALLOWED(newfstatat),
	ALLOWED(statx),
	ALLOWED(getrandom),
	ALLOWED(munmap),
	ALLOWED(mremap),
	ALLOWED(brk),
	ALLOWED(madvise),
	ALLOWED(exit),
	ALLOWED(exit_group),
	ALLOWED(rt_sigreturn),
	ALLOWED(rt_sigprocmask),
	ALLOWED(rt_sigaction),
	ALLOWED(getpid),
	ALLOWED(gettid),
	ALLOWED(tgkill),
	ALLOWED(sched_yield),
#ifdef __x86_64__
	ALLOWED(epoll_wait),
	ALLOWED(poll),
	ALLOWED(time),
	ALLOWED(stat),
#endif
	DEADLY(execve),
	DEADLY(execveat),
	DEADLY(clone),
	DEADLY(clone3),
	DEADLY(ptrace),
	DEADLY(bpf),
	DEADLY(process_vm_readv),
	DEADLY(process_vm_writev),
	DEADLY(mount),
	DEADLY(setns),
	DEADLY(unshare),
	DEADLY(keyctl),
	DEADLY(io_uring_setup),
	DEADLY(userfaultfd),
	DEADLY(perf_event_open),
	DEADLY(init_module),
	DEADLY(finit_module),
	DEADLY(kexec_load),
#ifdef __x86_64__
	DEADLY(fork),
	DEADLY(vfork),
#endif
	ALLOWED(socket, AF_INET, SOCK_STREAM),
	ALLOWED(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC),
	ALLOWED(socket, AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC),
	ALLOWED(socket, AF_INET6, SOCK_DGRAM),
	REFUSED(socket, AF_INET, SOCK_RAW),
	REFUSED(socket, AF_INET6, SOCK_RAW),
	REFUSED(socket, AF_UNIX, SOCK_STREAM),
	REFUSED(socket, AF_PACKET, SOCK_DGRAM),
	ALLOWED(openat, 0, 0, O_RDONLY | O_CLOEXEC),
	REFUSED(openat, 0, 0, O_WRONLY),
	REFUSED(openat, 0, 0, O_RDWR),
	REFUSED(openat, 0, 0, O_CREAT),
	REFUSED(openat, 0, 0, O_TRUNC),
	REFUSED(openat, 0, 0, O_APPEND),
	REFUSED(openat, 0, 0, O_TMPFILE),
#ifdef SYS_open
	ALLOWED(open, 0, O_RDONLY),
	REFUSED(open, 0, O_WRONLY),
	REFUSED(open, 0, O_CREAT),
#endif
	ALLOWED(mmap, 0, 0, PROT_READ | PROT_WRITE),
	REFUSED(mmap, 0, 0, PROT_EXEC),
	ALLOWED(mprotect, 0, 0, PROT_READ),
	REFUSED(mprotect, 0, 0, PROT_READ | PROT_EXEC),
	ALLOWED(ioctl, 0, FIONBIO),
	REFUSED(ioctl, 0, TIOCSTI),
	REFUSED(kill),
	REFUSED(bind),
	REFUSED(listen),
	REFUSED(openat2),
	REFUSED(chdir),
	REFUSED(prlimit64),
	REFUSED(unlinkat),
	REFUSED(setuid),
};

static void check_answers(void)
{
	bool held = true;

	for (size_t i = 0; i < COUNT(answers); i++) {
		struct seccomp_data data = { .nr = answers[i].number, .arch = (uint32_t)NATIVE };
		uint32_t seen;

		memcpy(data.args, answers[i].args, sizeof data.args);
		seen = RUN(gateway_filter, &data);
		if (seen == (uint32_t)answers[i].answer)
			continue;
		printf("# %s(%#llx, %#llx, %#llx): %#x, not %#x\n", answers[i].name,
		       (unsigned long long)data.args[0], (unsigned long long)data.args[1],
		       (unsigned long long)data.args[2], seen, (uint32_t)answers[i].answer);
		held = false;
	}
	CHECK("each call in the table has its answer", held);
	CHECK("a foreign architecture is killed",
	      RUN(gateway_filter,
		  (&(const struct seccomp_data){ .nr = SYS_read, .arch = AUDIT_ARCH_I386 })) ==
		      SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
	static const struct {
		const char *sentence;
		act_fn *act;
		int expected;
	} walls[] = {
		{ "control: it reads the resolver's files", read_hosts, 0 },
		{ "it reads no other file", read_passwd, EACCES },
		{ "it opens nothing for writing", write_null, EPERM },
		{ "it creates no file", make_file, EPERM },
		{ "control: it creates internet sockets", internet_socket, 0 },
		{ "it creates no unix socket", unix_socket, EPERM },
		{ "it makes no other request to the kernel", netlink_socket, EPERM },
		{ "it listens nowhere", listening, EPERM },
		{ "it makes no memory executable", executable_memory, EPERM },
		{ "it signals nobody", signal_parent, EPERM },
		{ "it changes no limit", more_files, EPERM },
		{ "it goes nowhere in the file system", change_directory, EPERM },
		{ "it is killed if it executes a program", start_program, KILLED },
		{ "it is killed if it starts a process", start_process, KILLED },
		{ "it is killed if it traces", trace, KILLED },
	};

	for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
		int without = outcome(walls[i].act, false);
		int behind = outcome(walls[i].act, true);

		if (without != 0 || behind != walls[i].expected)
			printf("# %s: %d without the sandbox, %d inside\n", walls[i].sentence,
			       without, behind);
		CHECK(walls[i].sentence, without == 0 && behind == walls[i].expected);
	}
	check_answers();
	return unit_failures > 0;
}
