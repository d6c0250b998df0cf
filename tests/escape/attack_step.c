/*
 * Races without luck: a command and everything that it starts is stopped before and after each
 * system call. At the steps that the test chooses, two names are exchanged, or nothing goes on
 * until the test says so.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
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

static pid_t start(char **command)
{
	pid_t child = fork();

	if (child == 0) {
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(command[0], command);
		_exit(127);
	}
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

static void resume(struct steps *steps, pid_t pid, int status)
{
	if (WSTOPSIG(status) == SYSCALL_STOP)
		steps->count++;
	while (steps->done < steps->planned && steps->count >= steps->at[steps->done]) {
		steps->act(steps);
		steps->done++;
	}
	ptrace(steps->done < steps->planned ? PTRACE_SYSCALL : PTRACE_DETACH, pid, 0,
	       signal_of(status));
}

static int follow(struct steps *steps, pid_t child)
{
	int status = 0;

	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0)
			return 127;
		if (WIFSTOPPED(status))
			resume(steps, pid, status);
		else if (pid == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* Ends with the command's status. The two names are as before, if nobody else exchanged them. */
static int act_swap_at(int n, char **args)
{
	struct steps steps = { .names = args,
			       .act = exchange,
			       .at = { strtoul(args[2], NULL, 10), strtoul(args[3], NULL, 10) },
			       .planned = 2 };
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

const struct attack attack_step[] = {
	{ "swap-at", "A B FIRST SECOND COMMAND...", 5, act_swap_at },
	{ "pause-at", "STEP COMMAND...", 2, act_pause_at },
	{ 0 },
};
