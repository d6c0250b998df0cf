/* File descriptors: see fd.h. */
#include "util/file/fd.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void fd_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		close(*fd);
		errno = saved;
	}
	*fd = -1;
}

int fd_steal(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

int fd_openat2(int folder, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
				.mode = mode,
				.resolve = resolve };

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* Duplicates fd to a number above the places. */
static int move_up(int fd, int count)
{
	AUTO_FD null = fd == FD_NULL ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

	return fcntl(fd == FD_NULL ? null : fd, F_DUPFD_CLOEXEC, count);
}

int fd_place(const int *wanted, int count)
{
	int moved[FD_PLACES];
	int result = 0;

	if (count > FD_PLACES) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; i < count; i++)
		moved[i] = wanted[i] == FD_UNTOUCHED ? FD_UNTOUCHED : move_up(wanted[i], count);
	for (int i = 0; i < count; i++) {
		if (moved[i] != FD_UNTOUCHED && dup2(moved[i], i) < 0)
			result = -1;
		fd_close(&moved[i]);
	}
	return result;
}

int fd_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		/* A shared terminal may have been made non-blocking by another process. */
		if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (n < 0)
			return -1;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int fd_read_all(int fd, struct buffer *buffer)
{
	char chunk[16384];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			return 0;
		buffer_add(buffer, chunk, (size_t)n);
		if (buffer_overflowed(buffer)) {
			errno = EFBIG;
			return -1;
		}
	}
}

static int read_regular(int folder, const char *name, int flags, struct buffer *buffer)
{
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (!S_ISREG(status.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return fd_read_all(fd, buffer);
}

int fd_read_file(int folder, const char *name, struct buffer *buffer)
{
	return read_regular(folder, name, O_NOFOLLOW, buffer);
}

int fd_read_path(const char *path, struct buffer *buffer)
{
	return read_regular(AT_FDCWD, path, 0, buffer);
}

int fd_open_temporary(int folder, const char *name, mode_t mode, char **ret_temporary)
{
	char *temporary = mem_format(".%.200s.%d", name, getpid());
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(folder, temporary, flags, mode);

	/* A killed process with this number left it, perhaps before a reboot. */
	if (fd < 0 && errno == EEXIST && unlinkat(folder, temporary, 0) == 0)
		fd = openat(folder, temporary, flags, mode);
	if (fd < 0) {
		free(temporary);
		return -1;
	}
	*ret_temporary = temporary;
	return fd;
}

int fd_replace_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode)
{
	AUTO_FREE char *temporary = NULL;
	AUTO_FD fd = fd_open_temporary(folder, name, mode, &temporary);
	int saved;

	if (fd < 0)
		return -1;
	if (fd_write_all(fd, bytes, size) == 0 && renameat(folder, temporary, folder, name) == 0)
		return 0;
	saved = errno;
	unlinkat(folder, temporary, 0);
	errno = saved;
	return -1;
}

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(FD_PASSED * sizeof(int))];
};

int fd_send(int socket, const void *message, size_t size, const int *fds, size_t count, int flags)
{
	struct iovec bytes = { .iov_base = (void *)message, .iov_len = size };
	union control control = { 0 };
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (count > 0) {
		header.msg_control = control.space;
		header.msg_controllen = CMSG_SPACE(count * sizeof *fds);

		struct cmsghdr *attached = CMSG_FIRSTHDR(&header);

		attached->cmsg_level = SOL_SOCKET;
		attached->cmsg_type = SCM_RIGHTS;
		attached->cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(attached), fds, count * sizeof *fds);
	}
	for (;;) {
		if (sendmsg(socket, &header, MSG_NOSIGNAL | flags) >= 0)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

static void take_passed(struct msghdr *header, int ret_fds[FD_PASSED])
{
	for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
		size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof *ret_fds;

		if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS &&
		    count <= FD_PASSED)
			memcpy(ret_fds, CMSG_DATA(at), count * sizeof *ret_fds);
	}
}

int fd_receive(int socket, void *ret_message, size_t size, int ret_fds[FD_PASSED])
{
	struct iovec bytes = { .iov_base = ret_message, .iov_len = size };
	union control control = { 0 };
	struct msghdr header = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof control.space,
	};
	ssize_t n;

	for (size_t i = 0; i < FD_PASSED; i++)
		ret_fds[i] = -1;
	do
		n = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == ECONNRESET ? 0 : (int)n;
	take_passed(&header, ret_fds);
	if ((size_t)n == size)
		return 1;
	for (size_t i = 0; i < FD_PASSED; i++)
		fd_close(&ret_fds[i]);
	errno = EPROTO;
	return -1;
}

int fd_memory(const char *name, const void *data, size_t size)
{
	AUTO_FD fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || fd_write_all(fd, data, size) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -1;
	return fd_steal(&fd);
}
