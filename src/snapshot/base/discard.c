/* Removing what is left: see discard.h. */
#include "snapshot/base/discard.h"

#include "util/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 256 }; /* as trees of files are kept: store/node.h */

static void discard_at(int folder, const char *name, int depth)
{
	AUTO_FD fd = -1;
	DIR *dir;

	if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM) ||
	    depth > DEEPEST)
		return;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fchmod(fd, 0700) == 0 && (dir = fdopendir(fd))) {
		fd_steal(&fd); /* closedir() closes it */
		for (struct dirent *entry; (entry = readdir(dir));)
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				discard_at(dirfd(dir), entry->d_name, depth + 1);
		closedir(dir);
	}
	unlinkat(folder, name, AT_REMOVEDIR);
}

void discard(int folder, const char *name)
{
	discard_at(folder, name, 0);
}
