/* Handing over descriptors: see handover.h. */
#include "fence/run/handover.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME "socket"

int handover_listen(int folder, struct error *err)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	/* The folder's own path may be too long for an address. */
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" NAME, folder);
	/* The folder decides who reaches the socket: init may have another uid. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    fchmodat(folder, NAME, 0666, 0) < 0 || listen(fd, 1) < 0)
		return error_sys(err, "create the socket of ringfence-init");
	return fd_steal(&fd);
}

pid_t handover_give(int listener, const int fds[WIRE_FD_END], int *ret_process, struct error *err)
{
	AUTO_FD socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	AUTO_FD process = -1;
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return error_sys(err, "accept ringfence-init");
	/* Before anything is sent, which fails if init is gone: the number could be another's. */
	process = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	if (process < 0)
		return error_sys(err, "open ringfence-init's process");
	for (int i = 0; i < WIRE_FD_END; i++)
		if (fd_send(socket, &i, sizeof i, &fds[i], 1, 0) < 0)
			return error_sys(err, "hand over descriptors to ringfence-init");
	*ret_process = fd_steal(&process);
	return peer.pid;
}

static int connect_out(void)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct sockaddr_un address = { .sun_family = AF_UNIX,
					     .sun_path = HANDOVER_FOLDER "/" NAME };

	return fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0
		       ? -1
		       : fd_steal(&fd);
}

static int take_one(int socket, int *ret_place, int *ret_fd)
{
	struct pollfd waiting = { .fd = socket, .events = POLLIN };
	int fds[FD_PASSED];
	int got;

	do
		got = poll(&waiting, 1, -1) < 0 && errno != EINTR
			      ? 0
			      : fd_receive(socket, ret_place, sizeof *ret_place, fds);
	while (got < 0 && (errno == EAGAIN || errno == EINTR));
	if (got <= 0)
		return -1;
	fd_close(&fds[1]);
	*ret_fd = fds[0];
	return 0;
}

static bool has_inherited(void)
{
	struct stat status;

	return fstat(WIRE_FD_CONTROL, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Takes the descriptors in their order. */
static int take_all(int socket, int fds[WIRE_FD_END])
{
	for (int i = 0; i < WIRE_FD_END; i++) {
		int place = -1;

		if (take_one(socket, &place, &fds[i]) < 0 || place != i)
			return -1;
	}
	return 0;
}

int handover_take(void)
{
	int fds[WIRE_FD_END] = { -1, -1, -1, -1, -1 };
	int socket;
	int result;

	if (has_inherited())
		return 0;
	socket = connect_out();
	result = socket < 0 ? -1 : take_all(socket, fds);
	fd_close(&socket); /* before another one takes its number */
	/* The caller closes the numbers that they had here. */
	return result < 0 ? -1 : fd_place(fds, WIRE_FD_END);
}
