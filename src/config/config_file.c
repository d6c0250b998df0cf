/* Reading configuration files: see config_file.h. */
#include "config/config_file.h"

#include "util/file/fd.h"
#include "util/file/ownership.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/* Reads an open file, if it is a regular one. */
static int read_open(int fd, const char *shown, struct buffer *bytes, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_sys(err, "examine '%s'", shown);
	if (!S_ISREG(status.st_mode))
		return error_set(err, "'%s' is %s, not a file; remove it to run anything here",
				 shown, type_name(status.st_mode));
	if (fd_read_all(fd, bytes) < 0)
		return errno == EFBIG
			       ? error_set(err, "'%s' is larger than the maximum of %zu bytes",
					   shown, bytes->max)
			       : error_sys(err, "read '%s'", shown);
	return 0;
}

int config_file_read_project(int project, const char *name, struct buffer *bytes, bool *ret_exists,
			     struct error *err)
{
	AUTO_FD fd = fd_openat2(project, name, OPEN_FLAGS | O_NOFOLLOW, 0,
				RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);

	if (fd < 0 && errno == ENOENT) {
		*ret_exists = false;
		return 0;
	}
	if (fd < 0 && errno == ELOOP)
		return error_set(
			err,
			"'%s' is a symlink, whose target could be replaced; put the file itself there",
			name);
	if (fd < 0 && errno == ENXIO)
		return error_set(err,
				 "'%s' is a socket, not a file; remove it to run anything here",
				 name);
	if (fd < 0)
		return error_sys(err, "open '%s'", name);
	if (read_open(fd, name, bytes, err) < 0)
		return -1;
	*ret_exists = true;
	return 0;
}

int config_file_read_user(const char *path, const char *shown, const char *project, uid_t uid,
			  struct buffer *bytes, bool *ret_exists, struct error *err)
{
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat status;
	AUTO_FD fd = -1;

	if (!real && (errno == ENOENT || errno == ENOTDIR)) {
		*ret_exists = false;
		return 0;
	}
	if (!real)
		return error_sys(err, "open '%s'", shown);
	if (path_within(real, project))
		return error_set(
			err,
			"'%s' is in the project '%s', where a command could write to it; keep your own settings elsewhere",
			shown, project);
	fd = fd_openat2(AT_FDCWD, real, OPEN_FLAGS | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "open '%s'", shown);
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		return error_set(
			err,
			"'%s' has a hard link elsewhere, through which a command could write to it; replace it with "
			"a copy",
			shown);
	if (S_ISREG(status.st_mode) && ownership_check(path, uid, err) < 0)
		return -1;
	if (read_open(fd, shown, bytes, err) < 0)
		return -1;
	*ret_exists = true;
	return 0;
}
