/* File descriptors: see fd.h. */
#include "util/fd.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
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

int fd_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		/* Somebody made it non-blocking: a shared terminal. */
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

static int write_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode,
		      bool replace)
{
	AUTO_FREE char *draft = mem_format(".%.200s.%d", name, getpid());
	AUTO_FD fd = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    mode);
	int result;
	int saved;

	if (fd < 0)
		return -1;
	result = fd_write_all(fd, bytes, size);
	if (result == 0)
		result = replace ? renameat(folder, draft, folder, name)
				 : linkat(folder, draft, folder, name, 0);
	saved = errno;
	if (result < 0 || !replace)
		unlinkat(folder, draft, 0);
	errno = saved;
	return result;
}

int fd_replace_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode)
{
	return write_file(folder, name, bytes, size, mode, true);
}

int fd_create_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode)
{
	return write_file(folder, name, bytes, size, mode, false);
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
