/* Pins in a copy: see tree_pins.h. */
#include "draft/tree_pins.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct moving {
	int tree;
	struct error *err;
};

static bool is_folder(int tree, const char *path)
{
	struct stat status;

	return fstatat(tree, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static bool is_mark(const struct dirwalk_entry *entry)
{
	struct stat status;

	return fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISCHR(status.st_mode) && status.st_rdev == 0;
}

static int copy_mode(const struct dirwalk_entry *entry, int folder)
{
	struct stat status;

	return fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0
		       ? -1
		       : fchmodat(folder, entry->name, status.st_mode & 07777, 0);
}

/* Folders above the entry were made before: they are visited first. */
static int move_entry(const struct moving *moving, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *above = path_folder(entry->path);
	AUTO_FD folder = fd_openat2(moving->tree, *above ? above : ".", O_RDONLY | O_DIRECTORY, 0,
				    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	if (folder < 0)
		return -1;
	if (entry->type == DT_DIR && is_folder(folder, entry->name))
		return copy_mode(entry, folder);
	if (dirwalk_remove(folder, entry->name, NULL) < 0 && errno != ENOENT)
		return -1;
	if (entry->type == DT_DIR)
		return mkdirat(folder, entry->name, 0777) < 0 ? -1 : copy_mode(entry, folder);
	return is_mark(entry) ? 0 : renameat(entry->folder, entry->name, folder, entry->name);
}

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	const struct moving *moving = context;

	if (move_entry(moving, entry) == 0)
		return DIRWALK_ON;
	error_sys(moving->err, "show the pinned '%s' in a copy", entry->path);
	return DIRWALK_STOP;
}

int tree_pins_move(const char *pins, int tree, struct error *err)
{
	AUTO_FD folder = open(pins, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct moving moving = { tree, err };
	const struct dirwalk walk = { .visit = visit,
				      .context = &moving,
				      .deepest = DIRWALK_DEPTH };

	if (folder < 0)
		return error_sys(err, "open '%s'", pins);
	return dirwalk_tree(&walk, folder, NULL, err);
}
