/* Pins in a copy: see tree_pins.h. */
#include "draft/tree_pins.h"

#include "draft/tree_copy.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct copying {
	int tree;
	struct error *err;
};

static bool is_folder(int tree, const char *path)
{
	struct stat status;

	return fstatat(tree, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* Overlayfs's own mark. On an overlay it cannot be made, but there all views are copies, and any
 * other kind of file will do that is never pinned. */
int tree_pins_hide(int folder, const char *name)
{
	int result = mknodat(folder, name, S_IFCHR, makedev(0, 0));

	if (result < 0 && errno == EPERM)
		result = mkfifoat(folder, name, 0600);
	return result < 0 && errno == EEXIST ? 0 : result;
}

static bool is_mark(const struct dirwalk_entry *entry)
{
	struct stat status;

	return fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (S_ISFIFO(status.st_mode) || (S_ISCHR(status.st_mode) && status.st_rdev == 0));
}

static int copy_mode(const struct copying *copying, const struct dirwalk_entry *entry, int folder)
{
	struct stat status;

	if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchmodat(folder, entry->name, status.st_mode & 07777, 0) < 0)
		return error_sys(copying->err, "set the mode of the pinned '%s'", entry->path);
	return 0;
}

/* Folders above the entry were made before: they are visited first. */
static int copy_entry(const struct copying *copying, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *above = path_folder(entry->path);
	AUTO_FD folder = fd_openat2(copying->tree, *above ? above : ".", O_RDONLY | O_DIRECTORY, 0,
				    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	if (folder < 0)
		return error_sys(copying->err, "open the folder of the pinned '%s'", entry->path);
	if (entry->type == DT_DIR && is_folder(folder, entry->name))
		return copy_mode(copying, entry, folder);
	if (dirwalk_remove(folder, entry->name, NULL) < 0 && errno != ENOENT)
		return error_sys(copying->err, "replace '%s' in a copy", entry->path);
	if (entry->type == DT_DIR && mkdirat(folder, entry->name, 0777) < 0)
		return error_sys(copying->err, "create the pinned '%s' in a copy", entry->path);
	if (entry->type == DT_DIR)
		return copy_mode(copying, entry, folder);
	return is_mark(entry)
		       ? 0
		       : tree_copy_entry(entry->folder, entry->name, folder, NULL, copying->err);
}

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	const struct copying *copying = context;

	return copy_entry(copying, entry) < 0 ? DIRWALK_STOP : DIRWALK_ON;
}

int tree_pins_copy(const char *pins, int tree, struct error *err)
{
	AUTO_FD folder = open(pins, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct copying copying = { tree, err };
	const struct dirwalk walk = { .visit = visit,
				      .context = &copying,
				      .deepest = DIRWALK_DEPTH };

	if (folder < 0)
		return error_sys(err, "open '%s'", pins);
	return dirwalk_tree(&walk, folder, NULL, err);
}
