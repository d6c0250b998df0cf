/* Paths that are made for a run: see made_paths.h. */
#include "fenced/made_paths.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER = O_PATH | O_DIRECTORY };

static int open_beneath(int folder, const char *path, int flags)
{
	return fd_openat2(folder, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Makes an empty file unless something is there. Returns 1 if it was made, 0 if not, or -1 with
 * errno. */
static int make_file(int root, const char *path)
{
	AUTO_FD file = fd_openat2(root, path, O_WRONLY | O_CREAT | O_EXCL, 0666,
				  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	return file >= 0 ? 1 : errno == EEXIST ? 0 : -1;
}

static int make_folder(int root, const char *path)
{
	AUTO_FREE char *above = path_folder(path);
	AUTO_FD folder = open_beneath(root, *above ? above : ".", FOLDER);

	if (folder >= 0 && mkdirat(folder, path_name(path), 0777) == 0)
		return 1;
	return folder >= 0 && errno == EEXIST ? 0 : -1;
}

/* Makes what is missing of a path, part by part. */
static int make_path(int root, const char *path, struct list *made, struct error *err)
{
	for (const char *at = path; *at;) {
		const char *slash = strchr(at, '/');
		size_t size = slash ? (size_t)(slash - path) : strlen(path);
		AUTO_FREE char *part = mem_format("%.*s", (int)size, path);
		int result = slash ? make_folder(root, part) : make_file(root, part);

		if (result < 0)
			return error_sys(err, "make '%s' for a phase to write", part);
		if (result > 0)
			list_add(made, part);
		at = slash ? slash + 1 : path + size;
	}
	return 0;
}

int made_paths_make(const char *project, const struct fence_paths *paths, struct list *made,
		    struct error *err)
{
	AUTO_FD root = open(project, FOLDER | O_CLOEXEC);
	size_t size = strlen(project) + 1;

	if (root < 0)
		return error_sys(err, "open '%s'", project);
	for (size_t i = 0; i < paths->count; i++)
		if (paths->items[i].made && path_within(paths->items[i].path, project) &&
		    make_path(root, paths->items[i].path + size, made, err) < 0)
			return -1;
	return 0;
}

static bool is_empty_file(int root, const char *path)
{
	AUTO_FD file = open_beneath(root, path, O_PATH | O_NOFOLLOW);
	struct stat status;

	return file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_size == 0;
}

void made_paths_drop(const char *project, const struct list *made)
{
	AUTO_FD root = open(project, FOLDER | O_CLOEXEC);

	for (size_t i = made->count; root >= 0 && i-- > 0;) {
		AUTO_FREE char *above = path_folder(made->items[i]);
		AUTO_FD folder = open_beneath(root, *above ? above : ".", FOLDER);
		int flags = is_empty_file(root, made->items[i]) ? 0 : AT_REMOVEDIR;

		/* A folder that is not empty stays, and so does anything else that is there now. */
		if (folder >= 0)
			unlinkat(folder, path_name(made->items[i]), flags);
	}
}
