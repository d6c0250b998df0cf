/* Files that a command is told to write: see output_file.h. */
#include "cli/output_file.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int output_file_write(const char *path, const char *text, size_t size, struct error *err)
{
	const char *name = path_name(path);
	AUTO_FREE char *above = path_folder(path);
	AUTO_FD folder = fd_openat2(AT_FDCWD, *above ? above : ".", O_RDONLY | O_DIRECTORY, 0,
				    RESOLVE_NO_SYMLINKS);

	if (folder < 0 && errno == ELOOP)
		return error_with(err, ERROR_REFUSED,
				  "write '%s': a folder in the path is a symlink; name its target "
				  "instead",
				  path);
	if (folder < 0)
		return error_sys(err, "write '%s'", path);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, "'%s' is a folder; name a file", path);
	if (durable_replace(folder, name, text, size, 0644) < 0)
		return error_sys(err, "write '%s'", path);
	return 0;
}
