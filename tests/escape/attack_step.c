/*
 * Races without luck: a command and everything that it starts is stopped before and after each
 * system call. At the steps that the test chooses, two names are exchanged, or nothing goes on
 * until the test says so. A log has the calls that change or sync files.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

enum { SYSCALL_STOP = SIGTRAP | 0x80, MOST = 2 };

struct steps {
	char **names; /* to exchange */
	void (*act)(struct steps *steps);
	unsigned long at[MOST]; /* ascending */
	int planned;
	int done;
	unsigned long count;
	FILE *log; /* of calls that change or sync files */
};

static void exchange(struct steps *steps)
{
	if (syscall(SYS_renameat2, AT_FDCWD, steps->names[0], AT_FDCWD, steps->names[1],
		    RENAME_EXCHANGE) < 0)
		perror("exchange");
}

static void await_line(struct steps *steps)
{
	(void)steps;
	puts("paused");
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin)) {
	}
}

static pid_t followed;

static void pass_on(int number)
{
	kill(followed, number);
}

static pid_t start(char **command)
{
	pid_t child = fork();

	if (child == 0) {
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO); /* ours is for the test */
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(command[0], command);
		_exit(127);
	}
	followed = child;
	signal(SIGTERM, pass_on);
	waitpid(child, NULL, __WALL);
	ptrace(PTRACE_SETOPTIONS, child, 0,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	return child;
}

/* The signal that a stop would deliver: none for the stops that tracing itself makes. */
static long signal_of(int status)
{
	int number = WSTOPSIG(status);

	return number == SYSCALL_STOP || number == SIGTRAP || number == SIGSTOP ? 0 : number;
}

struct logged_call {
	long number;
	const char *name;
	int fd;   /* which argument is the descriptor, or the folder of the name */
	int path; /* which argument is a name, or -1 */
	int fd2;  /* of the second name, or -1 */
	int path2;
};

/* The C library of every program that we build uses the calls that take a folder. */
static const struct logged_call logged_calls[] = {
	{ SYS_fsync, "sync", 0, -1, -1, -1 },      { SYS_fdatasync, "sync", 0, -1, -1, -1 },
	{ SYS_syncfs, "syncfs", 0, -1, -1, -1 },   { SYS_write, "write", 0, -1, -1, -1 },
	{ SYS_pwrite64, "write", 0, -1, -1, -1 },  { SYS_writev, "write", 0, -1, -1, -1 },
	{ SYS_ftruncate, "write", 0, -1, -1, -1 }, { SYS_renameat, "rename", 0, 1, 2, 3 },
	{ SYS_renameat2, "rename", 0, 1, 2, 3 },   { SYS_linkat, "link", 0, 1, 2, 3 },
	{ SYS_unlinkat, "remove", 0, 1, -1, -1 },
#ifdef SYS_rename
	{ SYS_rename, "rename", -1, 0, -1, 1 },    { SYS_link, "link", -1, 0, -1, 1 },
	{ SYS_unlink, "remove", -1, 0, -1, -1 },
#endif
};

static const struct logged_call *logged_call(long number)
{
	for (size_t i = 0; i < sizeof logged_calls / sizeof logged_calls[0]; i++)
		if (logged_calls[i].number == number)
			return &logged_calls[i];
	return NULL;
}

/* Prints the path that a descriptor and a name of the process stand for. */
static void log_path(FILE *log, pid_t pid, const uint64_t *args, int fd, int path)
{
	char link[64];
	char folder[PATH_MAX];
	char name[2 * PATH_MAX];
	struct iovec to = { name, sizeof name - 1 };
	struct iovec from = { (void *)(uintptr_t)(path < 0 ? 0 : args[path]), sizeof name - 1 };
	int number = fd < 0 ? AT_FDCWD : (int)args[fd];
	ssize_t n;

	memset(name, 0, sizeof name);
	if (path >= 0)
		for (from.iov_len = 4096 - (args[path] & 4095); from.iov_len < sizeof name;
		     from.iov_len += 4096)
			if (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 ||
			    memchr(name, 0, from.iov_len))
				break;
	if (number == AT_FDCWD)
		snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
	else
		snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, number);
	n = readlink(link, folder, sizeof folder - 1);
	folder[n < 0 ? 0 : n] = '\0';
	fprintf(log, "\t%s%s%s", *name == '/' ? "" : folder, *name && *name != '/' ? "/" : "",
		name);
}

static void log_call(FILE *log, pid_t pid)
{
	struct __ptrace_syscall_info info;
	const struct logged_call *call;

	if (!log || ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	call = logged_call((long)info.entry.nr);
	if (!call)
		return;
	fprintf(log, "%d\t%s", (int)pid, call->name);
	log_path(log, pid, info.entry.args, call->fd, call->path);
	if (call->path2 >= 0)
		log_path(log, pid, info.entry.args, call->fd2, call->path2);
	fputc('\n', log);
}

static void resume(struct steps *steps, pid_t pid, int status)
{
	if (WSTOPSIG(status) == SYSCALL_STOP) {
		steps->count++;
		log_call(steps->log, pid);
	}
	while (steps->done < steps->planned && steps->count >= steps->at[steps->done]) {
		steps->act(steps);
		steps->done++;
	}
	ptrace(steps->done < steps->planned ? PTRACE_SYSCALL : PTRACE_DETACH, pid, 0,
	       signal_of(status));
}

/* Returns the command's status, when it has ended. With a log, that is enough. Otherwise everything
 * that it started is followed to the end, or until it is let go: a new process begins with a stop,
 * and would never go on if this one had left. */
static int follow(struct steps *steps, pid_t child)
{
	int status = 0;
	int ended = 127;

	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return ended;
		if (WIFSTOPPED(status))
			resume(steps, pid, status);
		else if (pid == child)
			ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (pid == child && !WIFSTOPPED(status) && steps->log)
			return ended;
	}
}

/* Ends with the command's status. SECOND may be `never`: then nothing is followed after the first
 * exchange. The two names are as before, if nobody else exchanged them. */
static int act_swap_at(int n, char **args)
{
	struct steps steps = { .names = args,
			       .act = exchange,
			       .at = { strtoul(args[2], NULL, 10), strtoul(args[3], NULL, 10) },
			       .planned = strcmp(args[3], "never") == 0 ? 1 : MOST };
	int status;

	(void)n;
	status = follow(&steps, start(args + 4));
	if (steps.done == 1)
		exchange(&steps);
	fprintf(stderr, "steps: %lu\n", steps.count);
	exit(status);
}

/* Prints `paused` at the step, and goes on after a line on standard input. */
static int act_pause_at(int n, char **args)
{
	struct steps steps = { .act = await_line,
			       .at = { strtoul(args[0], NULL, 10) },
			       .planned = 1 };
	int status;

	(void)n;
	status = follow(&steps, start(args + 1));
	fprintf(stderr, "steps: %lu\n", steps.count);
	exit(status);
}

/* Writes a line to the file for each call that changes or syncs a file, in order: the thread, what
 * it does, and the paths. */
static int act_log_calls(int n, char **args)
{
	struct steps steps = { .log = fopen(args[0], "w"), .planned = 1, .at = { ~0UL } };
	int status;

	(void)n;
	if (!steps.log)
		return errno;
	status = follow(&steps, start(args + 1));
	fclose(steps.log);
	exit(status);
}

/* Waits until the process begins to write this many bytes, and holds it there until a line comes on
 * standard input. */
static void hold_write(pid_t process, size_t size)
{
	struct __ptrace_syscall_info info = { 0 };
	int status;

	ptrace(PTRACE_INTERRUPT, process, 0, 0);
	while (waitpid(process, &status, __WALL) > 0 && WIFSTOPPED(status)) {
		ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_write &&
		    info.entry.args[2] == size) {
			await_line(NULL);
			break;
		}
		ptrace(PTRACE_SYSCALL, process, 0, signal_of(status));
	}
	ptrace(PTRACE_DETACH, process, 0, 0);
}

/* In a process that is nobody's child: becomes the tracer of the one that made it. */
static void trace_writer(pid_t process, size_t size, int traced)
{
	bool seized = ptrace(PTRACE_SEIZE, process, 0, PTRACE_O_TRACESYSGOOD) == 0;

	dup2(traced, STDERR_FILENO + 1);
	syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
	close(STDERR_FILENO + 1); /* the end of this pipe starts the command */
	if (seized)
		hold_write(process, size);
	_exit(0);
}

/* Becomes the command, and prints `paused` when that begins to write so many bytes. The command
 * goes on after a line on standard input. Its parent stays the same. */
static int act_hold_write(int n, char **args)
{
	size_t size = strtoul(args[0], NULL, 10);
	pid_t self = getpid();
	int traced[2];
	char byte;

	(void)n;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (pipe2(traced, O_CLOEXEC) < 0)
		return errno;
	if (fork() == 0) {
		if (fork() == 0)
			trace_writer(self, size, traced[1]);
		_exit(0);
	}
	wait(NULL);
	close(traced[1]);
	if (read(traced[0], &byte, 1) < 0)
		return errno;
	execv(args[1], args + 1);
	return errno;
}

const struct attack attack_step[] = {
	{ "swap-at", "A B FIRST SECOND COMMAND...", 5, act_swap_at },
	{ "pause-at", "STEP COMMAND...", 2, act_pause_at },
	{ "hold-write", "SIZE COMMAND...", 2, act_hold_write },
	{ "log-calls", "FILE COMMAND...", 2, act_log_calls },
	{ 0 },
};
