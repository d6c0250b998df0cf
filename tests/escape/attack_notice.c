/*
 * Acts against the process that inspects this one while it waits: strange pointers, races, sudden
 * deaths. An act succeeds if the kernel answered everything as it does without a listener.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

static int open_at(const void *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
}

static bool fails_with(long result, int wanted)
{
	if (result < 0 && errno == wanted)
		return true;
	printf("result %ld, errno %s instead of %s\n", result, attack_errno_name(errno),
	       attack_errno_name(wanted));
	return false;
}

/* Places a text at the end of a page, without a NUL; the next page is not mapped. */
static char *at_the_edge(const char *text)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + 4096, 4096);
	return memcpy(pages + 4096 - strlen(text), text, strlen(text));
}

static int act_bad_paths(int n, char **args)
{
	static char endless[1 << 20];
	void *const nowhere[] = { NULL, (void *)1, (void *)-1, (void *)-4096,
				  at_the_edge("/etc/passwd") };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool held = true;

	(void)n;
	(void)args;
	memset(endless, 'a', sizeof endless);
	for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
		held &= fails_with(open_at(nowhere[i]), EFAULT);
		held &= fails_with(syscall(SYS_mkdirat, AT_FDCWD, nowhere[i], 0700), EFAULT);
		held &= fails_with(syscall(SYS_renameat2, AT_FDCWD, nowhere[i], AT_FDCWD,
					   nowhere[i], 0),
				   EFAULT);
	}
	held &= fails_with(open_at(endless), ENAMETOOLONG);
	held &= fails_with(open_at(""), ENOENT);
	held &= fails_with(syscall(SYS_openat, 12345, "x", O_WRONLY), EBADF);
	held &= fails_with(syscall(SYS_openat, fd, "x", O_WRONLY), ENOTDIR);
	held &= fails_with(syscall(SYS_connect, fd, nowhere[4], 110), EFAULT);
	held &= fails_with(syscall(SYS_connect, fd, &address, 1 << 30), EINVAL);
	held &= fails_with(syscall(SYS_connect, fd, &address, 0), EINVAL);
	held &= fails_with(syscall(SYS_bind, fd, NULL, sizeof address), EFAULT);
	memset(address.sun_path, 'a', sizeof address.sun_path); /* unterminated */
	held &= fails_with(syscall(SYS_connect, fd, &address, sizeof address), ENOENT);
	return held ? 0 : EIO;
}

static char shared[64];
static volatile bool over;

static void *flip(void *argument)
{
	while (!over) {
		snprintf(shared, sizeof shared, "%s", (char *)argument);
		snprintf(shared, sizeof shared, "%s", "/etc/passwd");
	}
	return NULL;
}

/* Changes the path while it is being inspected. */
static int act_race_path(int n, char **args)
{
	pthread_t thread;

	(void)n;
	pthread_create(&thread, NULL, flip, args[0]);
	for (int i = 0; i < 3000; i++) {
		int fd = (int)syscall(SYS_openat, AT_FDCWD, shared, O_WRONLY);

		if (fd >= 0)
			close(fd);
	}
	over = true;
	pthread_join(thread, NULL);
	return 0;
}

/* Kills processes while they wait for a verdict. */
static int act_die_asking(int n, char **args)
{
	(void)n;
	for (int i = 0; i < atoi(args[0]); i++) {
		pid_t child = fork();

		if (child == 0)
			for (;;)
				open_at("/etc/planted");
		usleep((useconds_t)(i % 20) * 50);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}

/* Requests many different refused names. */
static int act_storm(int n, char **args)
{
	(void)n;
	for (int i = 0; i < atoi(args[0]); i++) {
		char path[64];

		snprintf(path, sizeof path, "/etc/planted-%d", i);
		if (open_at(path) >= 0)
			return EEXIST;
	}
	return 0;
}

static void ignore(int number)
{
	(void)number;
}

/* Sends a signal every fifth of a millisecond, like a runtime that interrupts its own threads. */
static int act_open_under_signals(int n, char **args)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct itimerval timer = { .it_interval.tv_usec = 200, .it_value.tv_usec = 200 };

	(void)n;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 5000; i++) {
		int fd = open_at(args[0]);

		if (fd < 0)
			return errno;
		close(fd);
	}
	return 0;
}

/*
 * Installs its own seccomp filter, which allows everything; with an argument, one with a listener.
 */
static int act_own_filter(int n, char **args)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &all };

	(void)args;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    n > 0 ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program) < 0)
		return errno;
	return attack_verdict(open_at("made-behind-own-filter"));
}

/* Nobody can inspect an undumpable process, except the fence's owner. */
static int act_write_undumpable(int n, char **args)
{
	(void)n;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return attack_verdict(open_at(args[0]));
}

const struct attack attack_notice[] = {
	{ "bad-paths", "", 0, act_bad_paths },
	{ "race-path", "PATH", 1, act_race_path },
	{ "die-asking", "COUNT", 1, act_die_asking },
	{ "storm", "COUNT", 1, act_storm },
	{ "open-under-signals", "PATH", 1, act_open_under_signals },
	{ "own-filter", "[listener]", 0, act_own_filter },
	{ "write-undumpable", "PATH", 1, act_write_undumpable },
	{ 0 },
};
