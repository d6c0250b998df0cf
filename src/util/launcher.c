/* Launchers: see launcher.h. */
#include "util/launcher.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct launcher {
	int socket;
	pid_t pid;
};

struct request {
	launcher_fn *run; /* of the same program, so the address is the same */
	size_t size;
	char argument[LAUNCHER_ARGUMENT];
};

struct job {
	const struct request *request;
	int fd;
	int socket; /* of the launcher, which the new process does not keep; or -1 */
};

static int run_job(void *argument)
{
	const struct job *job = argument;

	if (job->socket >= 0)
		close(job->socket);
	return job->request->run(job->request->argument, job->request->size, job->fd);
}

/* CLONE_PARENT: the new process is a child of the one that asked. */
static void serve(int socket)
{
	AUTO_FREE struct request *request = mem_zero(sizeof *request);
	struct pollfd waiting = { .fd = socket, .events = POLLIN };
	int fds[FD_PASSED];
	int got;

	for (;;) {
		if (poll(&waiting, 1, -1) < 0 && errno != EINTR)
			return;
		got = fd_receive(socket, request, sizeof *request, fds);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			return;
		if (got < 0)
			continue;

		pid_t pid = process_fork(run_job, &(struct job){ request, fds[0], socket },
					 CLONE_PARENT);
		int answer = pid < 0 ? -errno : pid;

		fd_close(&fds[0]);
		fd_close(&fds[1]);
		if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
			return;
	}
}

static int run_launcher(void *argument)
{
	enum { SOCKET = 3 };
	const int *ends = argument;
	const int wanted[] = { FD_NULL, FD_NULL, FD_NULL, ends[1] };

	/* It holds no lock and no pipe of this process. */
	prctl(PR_SET_NAME, "ringfence-start", 0, 0, 0);
	if (fd_place(wanted, SOCKET + 1) < 0 || syscall(SYS_close_range, SOCKET + 1, ~0U, 0) < 0)
		return 1;
	serve(SOCKET);
	return 0;
}

struct launcher *launcher_new(struct error *err)
{
	struct launcher *launcher;
	int ends[2];
	int room = 2 * (int)sizeof(struct request);
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		error_sys(err, "create a socket pair");
		return NULL;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	pid = process_fork(run_launcher, ends, 0);
	close(ends[1]);
	if (pid < 0) {
		error_sys(err, "start a process");
		close(ends[0]);
		return NULL;
	}
	launcher = mem_alloc(sizeof *launcher);
	*launcher = (struct launcher){ .socket = ends[0], .pid = pid };
	return launcher;
}

void launcher_free(struct launcher *launcher)
{
	if (!launcher)
		return;
	close(launcher->socket); /* it ends */
	while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(launcher);
}

static pid_t ask(const struct launcher *launcher, const struct request *request, int fd)
{
	int answer;

	if (fd_send(launcher->socket, request, sizeof *request, &fd, fd >= 0, 0) < 0 ||
	    recv(launcher->socket, &answer, sizeof answer, 0) != sizeof answer)
		return -1;
	if (answer < 0)
		errno = -answer;
	return answer < 0 ? -1 : answer;
}

pid_t launcher_run(const struct launcher *launcher, launcher_fn *run, const void *argument,
		   size_t size, int fd, struct error *err)
{
	AUTO_FREE struct request *request = mem_zero(sizeof *request);
	pid_t pid;

	if (size > LAUNCHER_ARGUMENT)
		return error_set(err, "start a process: its arguments are too long");
	request->run = run;
	request->size = size;
	memcpy(request->argument, argument, size);
	pid = launcher ? ask(launcher, request, fd)
		       : process_fork(run_job, &(struct job){ request, fd, -1 }, 0);
	if (pid < 0)
		error_sys(err, "start a process");
	return pid;
}
