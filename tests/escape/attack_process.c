/* Acts on other processes, the terminal, shared memory and the process's own identity. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "attack.h"

static int act_ptrace(int n, char **args)
{
	long pid = atol(args[1]);

	(void)n;
	if (strcmp(args[0], "attach") == 0) {
		if (syscall(SYS_ptrace, PTRACE_ATTACH, pid, 0, 0) < 0)
			return errno;
		waitpid((pid_t)pid, NULL, __WALL);
		return attack_verdict(syscall(SYS_ptrace, PTRACE_DETACH, pid, 0, 0));
	}
	if (strcmp(args[0], "seize") == 0)
		return attack_verdict(syscall(SYS_ptrace, PTRACE_SEIZE, pid, 0, 0));
	return ATTACK_MISUSE;
}

/* Returns the start of a writable mapping of the process, or 0 if its maps are hidden. */
static uintptr_t writable_address(long pid)
{
	char path[64], line[512];
	uintptr_t found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long start;
		char perms[8];

		if (sscanf(line, "%lx-%*x %7s", &start, perms) == 2 && perms[1] == 'w')
			found = start;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Writes back the byte that is there, or a guess if it cannot be read. */
static int act_vm_write(int n, char **args)
{
	long pid = atol(args[0]);
	uintptr_t at = writable_address(pid);
	char byte = 0;
	struct iovec local = { &byte, 1 };
	struct iovec remote = { (void *)(at ? at : (uintptr_t)0x400000), 1 };

	(void)n;
	if (syscall(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) < 0)
		return errno;
	return attack_verdict(syscall(SYS_process_vm_writev, pid, &local, 1, &remote, 1, 0));
}

static int act_proc_mem(int n, char **args)
{
	char path[64];

	(void)n;
	snprintf(path, sizeof(path), "/proc/%s/mem", args[0]);
	return attack_verdict(syscall(SYS_openat, AT_FDCWD, path, O_RDWR, 0));
}

static int act_kill(int n, char **args)
{
	return attack_verdict(syscall(SYS_kill, atol(args[0]), n > 1 ? atoi(args[1]) : 0));
}

static int act_pidfd(int n, char **args)
{
	long fd = syscall(SYS_pidfd_open, atol(args[0]), 0);

	(void)n;
	return fd < 0 ? errno : attack_verdict(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
}

/* Steals descriptor FD of process PID. */
static int act_pidfd_getfd(int n, char **args)
{
	long fd = syscall(SYS_pidfd_open, atol(args[0]), 0);

	(void)n;
	return fd < 0 ? errno : attack_verdict(syscall(SYS_pidfd_getfd, fd, atoi(args[1]), 0));
}

static int act_become(int n, char **args)
{
	long id = atol(args[0]);

	(void)n;
	if (syscall(SYS_setresgid, id, id, id) < 0 || syscall(SYS_setresuid, id, id, id) < 0)
		return errno;
	return 0;
}

/*
 * Runs a program and reads its effective uid, which stays visible while it is a zombie. Succeeds if
 * it is not ours.
 */
static int act_suid_gain(int n, char **args)
{
	char path[64], line[256];
	unsigned euid = geteuid();
	int gate[2];
	FILE *status;
	pid_t pid;
	siginfo_t info;

	(void)n;
	if (pipe2(gate, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv(args[0], args);
		_exit(write(gate[1], "x", 1) == 1 ? 127 : 126);
	}
	if (pid < 0)
		return errno;
	close(gate[1]);
	if (read(gate[0], line, 1) != 0) {
		waitpid(pid, NULL, 0);
		return ENOEXEC;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Uid: %*u %u", &euid) == 1)
			break;
	if (status)
		fclose(status);
	waitpid(pid, NULL, 0);
	printf("euid: %u\n", euid);
	return euid == geteuid() ? EPERM : 0;
}

/* Any capability in any usable set. */
static int act_capabilities(int n, char **args)
{
	char line[256];
	bool any = false;
	FILE *status = fopen("/proc/self/status", "re");

	(void)n;
	(void)args;
	while (status && fgets(line, sizeof(line), status)) {
		unsigned long long set;

		if (sscanf(line, "Cap%*3s: %llx", &set) == 1 && set) {
			printf("%s", line);
			any = true;
		}
	}
	if (!status)
		return errno;
	fclose(status);
	return any ? 0 : EPERM;
}

static int act_ioctl(int n, char **args)
{
	unsigned long request = strtoul(args[0], NULL, 0);
	int fd = n > 1 ? open(args[1], O_RDWR | O_NOCTTY) : 0;
	/* A character for TIOCSTI; for TIOCLINUX subcode 6, which only reports the shift keys. */
	char arg = (request & 0xffffffff) == TIOCLINUX ? 6 : 'x';

	if (fd < 0)
		return errno;
	return attack_verdict(syscall(SYS_ioctl, fd, request, &arg));
}

static int act_shm(int n, char **args)
{
	void *at;

	(void)n;
	at = (void *)syscall(SYS_shmat, atoi(args[0]), NULL, 0);
	if (at == (void *)-1)
		return errno;
	printf("got: %s\n", (char *)at);
	return 0;
}

static int act_mqueue(int n, char **args)
{
	(void)n;
	return attack_verdict(syscall(SYS_mq_open, args[0] + 1, O_RDWR, 0, NULL));
}

/* Leaves a process behind that would never end on its own. */
static int act_survive(int n, char **args)
{
	pid_t pid = fork();

	(void)n;
	(void)args;
	if (pid < 0)
		return errno;
	if (pid > 0)
		return attack_verdict(waitpid(pid, NULL, 0));
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0);
	for (;;)
		pause();
}

const struct attack attack_process[] = {
	{ "ptrace", "attach|seize PID", 2, act_ptrace },
	{ "vm-write", "PID", 1, act_vm_write },
	{ "proc-mem", "PID", 1, act_proc_mem },
	{ "kill", "PID [SIGNAL]", 1, act_kill },
	{ "pidfd", "PID", 1, act_pidfd },
	{ "pidfd-getfd", "PID FD", 2, act_pidfd_getfd },
	{ "become", "ID", 1, act_become },
	{ "suid-gain", "PROGRAM [ARG...]", 1, act_suid_gain },
	{ "capabilities", "", 0, act_capabilities },
	{ "ioctl", "REQUEST [TTY]", 1, act_ioctl },
	{ "shm", "ID", 1, act_shm },
	{ "mqueue", "/NAME", 1, act_mqueue },
	{ "survive", "", 0, act_survive },
	{ 0 },
};
