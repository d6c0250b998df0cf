/* The keeper: see keeper.h. */
#include "loop/supervise/keeper.h"

#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A supervisor that dies this often, each time this soon, is not restarted. */
enum { MOST_DEATHS = 5, SOON_S = 30 };

/* The descriptor of the farewell pipe of an adopted supervisor. */
enum { FAREWELL = 3 };

/* Detaches from the terminal and logs to a file. */
static void become_daemon(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "supervisor.log");
	int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	sigset_t none;

	setsid();
	if (chdir("/") < 0)
		errno = 0;
	fd_place((const int[]){ FD_NULL, log, log }, 3);
	if (log > STDERR_FILENO)
		fd_close(&log);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "ringfence-keep", 0, 0, 0);
}

/* Waits for a supervisor to end. Returns true if it said farewell. */
static bool watch_supervisor(pid_t supervisor, int farewell)
{
	AUTO_FD process = (int)syscall(SYS_pidfd_open, supervisor, 0);
	char byte;

	if (process >= 0)
		while (poll(&(struct pollfd){ .fd = process, .events = POLLIN }, 1, -1) < 0 &&
		       errno == EINTR)
			;
	waitpid(supervisor, NULL, 0); /* if it is a child */
	return read(farewell, &byte, 1) == 1;
}

static pid_t start_supervisor(const char *folder, int kept,
			      int (*supervise)(const char *folder, int farewell), int *ret_farewell)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		fd_close(&kept);
		_exit(supervise(folder, ends[1]));
	}
	close(ends[1]);
	*ret_farewell = ends[0];
	return child;
}

static void give_up(const char *folder, int deaths)
{
	AUTO_FREE char *why =
		mem_format("the supervisor died %d times in a row (see '%s/supervisor.log')",
			   deaths, folder);

	dprintf(2, "%s\n", why);
	loop_report_trouble(folder, why);
}

int keeper_run(const char *folder, pid_t adopted,
	       int (*supervise)(const char *folder, int farewell))
{
	int farewell = FAREWELL;
	int deaths = 0;

	fcntl(farewell, F_SETFD, FD_CLOEXEC);
	become_daemon(folder);

	int kept = loop_folder_keep(folder); /* open until this process ends */

	for (;;) {
		time_t began = time(NULL);

		if (!adopted)
			fd_close(&farewell); /* of no one, or of the previous supervisor */

		pid_t supervisor = adopted ? adopted
					   : start_supervisor(folder, kept, supervise, &farewell);

		adopted = 0;
		if (supervisor < 0 || watch_supervisor(supervisor, farewell))
			return supervisor < 0;
		fd_close(&farewell);
		env_set("RINGFENCE_FAULT", NULL); /* a fault happens once */
		deaths = time(NULL) - began < SOON_S ? deaths + 1 : 1;
		if (deaths >= MOST_DEATHS) {
			give_up(folder, deaths);
			return 1;
		}
	}
}

/*
 * In the child: executes the program again, without any of its parent's open files. SQLite must not
 * be carried across a fork.
 */
static _Noreturn void become_keeper(const char *folder, pid_t adopted, int farewell)
{
	AUTO_FREE char *pid = mem_format("%d", (int)adopted);
	char *const arguments[] = { (char *)"ringfence", (char *)"keep", (char *)folder, pid,
				    NULL };

	fd_place((const int[]){ FD_UNTOUCHED, FD_UNTOUCHED, FD_UNTOUCHED, farewell }, FAREWELL + 1);
	syscall(SYS_close_range, FAREWELL + 1, ~0U, 0);
	execve("/proc/self/exe", arguments, env_all());
	_exit(1);
}

int keeper_start(const char *folder, pid_t adopted, int *ret_farewell, struct error *err)
{
	int ends[2];
	int status = 0;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_sys(err, "create a pipe");

	pid_t child = fork();

	if (child == 0) { /* forks again to have no parent */
		if (fork() != 0)
			_exit(0);
		become_keeper(folder, adopted, ends[0]);
	}
	close(ends[0]);
	if (child > 0)
		waitpid(child, &status, 0);
	if (ret_farewell && child > 0)
		*ret_farewell = ends[1];
	else
		close(ends[1]);
	return child < 0 ? error_sys(err, "start the keeper") : 0;
}
