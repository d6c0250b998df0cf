/* Files of the project: see beneath.h. */
#include "builtin/tool/beneath.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 128, LINKS = 40 };

int beneath_path(const struct tool_context *bench, const char *given, char **ret_path,
		 struct error *err)
{
	AUTO_FREE char *shown = text_escaped(given);
	AUTO_FREE char *clean = NULL;
	size_t root = strlen(bench->path);

	if (!*given)
		return error_set(err, "the path is empty");
	if (strlen(given) >= TOOL_PATH)
		return error_set(err, "the path is longer than %d bytes", TOOL_PATH - 1);
	if (*given != '/') {
		*ret_path = mem_dup(given);
		return 0;
	}
	clean = path_absolute(given, "/");
	if (!path_within(clean, bench->path))
		return error_set(
			err, "'%.500s' is outside of the project: paths are relative to its root",
			shown);
	*ret_path = mem_dup(clean[root] ? clean + root + (root > 1) : ".");
	return 0;
}

static int explain(const char *path, struct error *err)
{
	AUTO_FREE char *shown = text_escaped(path);
	int why = errno;

	if (why == EXDEV)
		error_set(err, "'%.500s' leads out of the project, and is refused", shown);
	else if (why == ENOENT)
		error_set(err, "there is no '%.500s'", shown);
	else if (why == EROFS)
		error_set(err, "'%.500s' is read-only here; that stays so", shown);
	else if (why == EACCES || why == EPERM)
		error_set(err, "'%.500s' is denied here; that stays so", shown);
	else if (why == EISDIR)
		error_set(err, "'%.500s' is a folder", shown);
	else
		error_sys(err, "open '%.500s'", shown);
	errno = why;
	return -1;
}

/* Where a path has led so far: the folders from the root down, so that ".." is the one before. */
struct way {
	const struct tool_context *bench;
	int folders[DEEPEST];
	size_t depth;
	char *rest; /* still to go */
	int links;
};

static int top(const struct way *way)
{
	return way->depth ? way->folders[way->depth - 1] : way->bench->root;
}

static void climb(struct way *way, size_t depth)
{
	while (way->depth > depth)
		fd_close(&way->folders[--way->depth]);
}

static int refuse(int why)
{
	errno = why;
	return -1;
}

/* A symlink's text takes the place of its name. One that begins with a slash may lead into the project, too. */
static int follow(struct way *way, int link, const char *behind)
{
	char target[TOOL_PATH];
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);
	char *rest;

	if (n < 0 || ++way->links > LINKS)
		return n < 0 ? -1 : refuse(ELOOP);
	target[n] = '\0';
	if (*target == '/') {
		AUTO_FREE char *clean = path_absolute(target, "/");

		if (!path_within(clean, way->bench->path))
			return refuse(EXDEV);
		climb(way, 0);
		rest = mem_format("%s/%s", clean + strlen(way->bench->path), behind);
	} else {
		rest = mem_format("%s/%s", target, behind);
	}
	free(way->rest);
	way->rest = rest;
	if (strlen(rest) >= 2 * TOOL_PATH)
		return refuse(ENAMETOOLONG);
	return 0;
}

/* One step to the name that the rest begins with. Returns 1: it is the last, and is kept in `rest`; 0; -1 with errno. */
static int go(struct way *way)
{
	size_t slashes = strspn(way->rest, "/");
	size_t size = strcspn(way->rest + slashes, "/");
	AUTO_FREE char *name = strndup(way->rest + slashes, size);
	AUTO_FREE char *behind = mem_dup(way->rest + slashes + size);
	bool last = behind[strspn(behind, "/")] == '\0';
	AUTO_FD fd = -1;
	struct stat status = { 0 };

	if (size == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		if (size == 2 && way->depth == 0)
			return refuse(EXDEV);
		if (size == 2)
			climb(way, way->depth - 1);
		free(way->rest);
		way->rest = mem_dup(last ? "." : behind);
		return last;
	}
	fd = openat(top(way), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno != ENOENT || !last))
		return -1;
	if (fd >= 0 && fstat(fd, &status) < 0)
		return -1;
	if (fd >= 0 && S_ISLNK(status.st_mode))
		return follow(way, fd, behind);
	if (!last) {
		if (!S_ISDIR(status.st_mode))
			return refuse(ENOTDIR);
		if (way->depth == DEEPEST)
			return refuse(ENAMETOOLONG);
		way->folders[way->depth++] = fd_steal(&fd);
	}
	free(way->rest);
	way->rest = mem_dup(last ? name : behind);
	return last;
}

/*
 * Step by step, because in the fence there is no openat2(), whose arguments could change while they are judged. Each step is
 * a descriptor, so that nothing can be put in the way of those that were made.
 */
int beneath_open(const struct tool_context *bench, const char *path, int flags, struct error *err)
{
	struct way way = { .bench = bench, .rest = mem_dup(path) };
	int fd = -1;
	int step;
	int why;

	do
		step = go(&way);
	while (step == 0);
	if (step > 0)
		fd = openat(top(&way), way.rest,
			    flags | O_NOFOLLOW | O_CLOEXEC |
				    (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY),
			    0666);
	why = errno;
	climb(&way, 0);
	free(way.rest);
	errno = why;
	return fd >= 0 ? fd : explain(path, err);
}

int beneath_open_file(const struct tool_context *bench, const char *path, int flags,
		      struct stat *ret_status, struct error *err)
{
	AUTO_FD fd = beneath_open(bench, path, flags, err);
	AUTO_FREE char *shown = text_escaped(path);

	if (fd < 0)
		return -1;
	if (fstat(fd, ret_status) < 0)
		return error_sys(err, "look at '%.500s'", shown);
	if (S_ISDIR(ret_status->st_mode))
		return error_set(err, "'%.500s' is a folder; the tool list shows what is in it",
				 shown);
	if (!S_ISREG(ret_status->st_mode))
		return error_set(err, "'%.500s' is no regular file", shown);
	return fd_steal(&fd);
}

static int make_one(const struct tool_context *bench, const char *path, struct error *err)
{
	AUTO_FREE char *above = mem_dup(path);
	char *slash = strrchr(above, '/');
	AUTO_FD folder = -1;

	if (slash)
		*slash = '\0';
	folder = beneath_open(bench, slash ? above : ".", O_PATH | O_DIRECTORY, err);
	if (folder < 0)
		return -1;
	if (mkdirat(folder, slash ? slash + 1 : path, 0777) < 0 && errno != EEXIST) {
		AUTO_FREE char *shown = text_escaped(path);

		return error_sys(err, "make the folder '%.500s'", shown);
	}
	return 0;
}

int beneath_make_folders(const struct tool_context *bench, const char *path, struct error *err)
{
	AUTO_FREE char *part = mem_dup(path);

	for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		AUTO_FD folder = -1;

		if (slash == part || slash[-1] == '/')
			continue;
		*slash = '\0';
		folder = beneath_open(bench, part, O_PATH | O_DIRECTORY, err);
		if (folder < 0 && (errno != ENOENT || make_one(bench, part, err) < 0))
			return -1;
		*slash = '/';
	}
	return 0;
}

int beneath_fill(int fd, const char *shown, const char *bytes, size_t size, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_sys(err, "look at '%.500s'", shown);
	/* Some file systems cannot say. */
	if (size && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
		int why = errno;

		/* What was reserved behind its end. */
		if (ftruncate(fd, status.st_size) == 0)
			errno = why;
		return error_sys(err, "write '%.500s', which is as it was", shown);
	}
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_write_all(fd, bytes, size) < 0 ||
	    ftruncate(fd, (off_t)size) < 0)
		return error_sys(err, "write '%.500s', of which only a part is there now", shown);
	return 0;
}
