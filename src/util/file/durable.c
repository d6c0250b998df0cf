/* Files and folders that are whole after a power cut: see durable.h. */
#include "util/file/durable.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int durable_name(int fd, int temporary_folder, const char *temporary, int folder, const char *name)
{
	return fsync(fd) < 0 || renameat(temporary_folder, temporary, folder, name) < 0
		       ? -1
		       : fsync(folder);
}

int durable_name_folder(int above, const char *temporary, const char *name)
{
	return syncfs(above) < 0 || renameat(above, temporary, above, name) < 0 ? -1 : fsync(above);
}

int durable_sync_name(const char *path)
{
	AUTO_FREE char *folder = path_folder(path);
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

int durable_remove(int folder, const char *name)
{
	return unlinkat(folder, name, 0) < 0 ? -1 : fsync(folder);
}

/* As durable_name(), unless the name exists. */
static int name_new(int fd, int folder, const char *temporary, const char *name)
{
	return fsync(fd) < 0 || linkat(folder, temporary, folder, name, 0) < 0 ? -1 : fsync(folder);
}

static int write_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode,
		      bool replace)
{
	AUTO_FREE char *temporary = NULL;
	AUTO_FD fd = fd_open_temporary(folder, name, mode, &temporary);
	int result;
	int saved;

	if (fd < 0)
		return -1;
	result = fd_write_all(fd, bytes, size);
	if (result == 0)
		result = replace ? durable_name(fd, folder, temporary, folder, name)
				 : name_new(fd, folder, temporary, name);
	saved = errno;
	if (result < 0 || !replace)
		unlinkat(folder, temporary, 0);
	errno = saved;
	return result;
}

int durable_replace(int folder, const char *name, const void *bytes, size_t size, mode_t mode)
{
	return write_file(folder, name, bytes, size, mode, true);
}

int durable_create(int folder, const char *name, const void *bytes, size_t size, mode_t mode)
{
	return write_file(folder, name, bytes, size, mode, false);
}
