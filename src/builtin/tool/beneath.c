/* Resolves paths below the project root: see beneath.h. */
#include "builtin/tool/beneath.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 128, LINKS = 40 };

int beneath_path(const struct tool_context *ctx, const char *given, char **ret_path,
		 struct error *err)
{
	AUTO_FREE char *shown = text_escaped(given);
	AUTO_FREE char *clean = NULL;
	size_t root = strlen(ctx->path);

	if (!*given)
		return error_set(err, "the path is empty");
	if (strlen(given) >= TOOL_PATH)
		return error_set(err, "the path is longer than %d bytes", TOOL_PATH - 1);
	if (*given != '/') {
		*ret_path = mem_dup(given);
		return 0;
	}
	clean = path_absolute(given, "/");
	if (!path_within(clean, ctx->path))
		return error_set(err,
				 "'%.500s' is outside the project: use a path relative to its root",
				 shown);
	*ret_path = mem_dup(clean[root] ? clean + root + (root > 1) : ".");
	return 0;
}

static int explain(const char *path, struct error *err)
{
	AUTO_FREE char *shown = text_escaped(path);
	int why = errno;

	if (why == EXDEV)
		error_set(err, "'%.500s' leads out of the project: refused", shown);
	else if (why == ENOENT)
		error_set(err, "there is no '%.500s'", shown);
	else if (why == EROFS)
		error_set(err, "'%.500s' is read-only here; retrying will not help", shown);
	else if (why == EACCES || why == EPERM)
		error_set(err, "'%.500s' is denied here; retrying will not help", shown);
	else if (why == EISDIR)
		error_set(err, "'%.500s' is a folder", shown);
	else
		error_sys(err, "open '%.500s'", shown);
	errno = why;
	return -1;
}

/*
 * A path being resolved: the open folders from the root down, so that ".." returns to the previous
 * one.
 */
struct walk {
	const struct tool_context *ctx;
	int folders[DEEPEST];
	size_t depth;
	char *rest; /* not resolved yet */
	int links;
};

static int top(const struct walk *walk)
{
	return walk->depth ? walk->folders[walk->depth - 1] : walk->ctx->root;
}

static void climb(struct walk *walk, size_t depth)
{
	while (walk->depth > depth)
		fd_close(&walk->folders[--walk->depth]);
}

static int refuse(int why)
{
	errno = why;
	return -1;
}

/*
 * Puts a symlink's target in place of its name. An absolute target may also lead into the project.
 */
static int follow(struct walk *walk, int link, const char *behind)
{
	char target[TOOL_PATH];
	ssize_t n = readlinkat(link, "", target, sizeof target - 1);
	char *rest;

	if (n < 0 || ++walk->links > LINKS)
		return n < 0 ? -1 : refuse(ELOOP);
	target[n] = '\0';
	if (*target == '/') {
		AUTO_FREE char *clean = path_absolute(target, "/");

		if (!path_within(clean, walk->ctx->path))
			return refuse(EXDEV);
		climb(walk, 0);
		rest = mem_format("%s/%s", clean + strlen(walk->ctx->path), behind);
	} else {
		rest = mem_format("%s/%s", target, behind);
	}
	free(walk->rest);
	walk->rest = rest;
	if (strlen(rest) >= 2 * TOOL_PATH)
		return refuse(ENAMETOOLONG);
	return 0;
}

/*
 * Resolves the first name of `rest`. Returns 1 if it is the last one, which stays in `rest`; 0; or
 * -1 with errno set.
 */
static int resolve_step(struct walk *walk)
{
	size_t slashes = strspn(walk->rest, "/");
	size_t size = strcspn(walk->rest + slashes, "/");
	AUTO_FREE char *name = strndup(walk->rest + slashes, size);
	AUTO_FREE char *behind = mem_dup(walk->rest + slashes + size);
	bool last = behind[strspn(behind, "/")] == '\0';
	AUTO_FD fd = -1;
	struct stat status = { 0 };

	if (size == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		if (size == 2 && walk->depth == 0)
			return refuse(EXDEV);
		if (size == 2)
			climb(walk, walk->depth - 1);
		free(walk->rest);
		walk->rest = mem_dup(last ? "." : behind);
		return last;
	}
	fd = openat(top(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno != ENOENT || !last))
		return -1;
	if (fd >= 0 && fstat(fd, &status) < 0)
		return -1;
	if (fd >= 0 && S_ISLNK(status.st_mode))
		return follow(walk, fd, behind);
	if (!last) {
		if (!S_ISDIR(status.st_mode))
			return refuse(ENOTDIR);
		if (walk->depth == DEEPEST)
			return refuse(ENAMETOOLONG);
		walk->folders[walk->depth++] = fd_steal(&fd);
	}
	free(walk->rest);
	walk->rest = mem_dup(last ? name : behind);
	return last;
}

/*
 * Resolves step by step: openat2() is not available in the fence, because its arguments could
 * change after the check. Each step holds a descriptor, so that resolved folders cannot be swapped.
 */
int beneath_open(const struct tool_context *ctx, const char *path, int flags, struct error *err)
{
	struct walk walk = { .ctx = ctx, .rest = mem_dup(path) };
	int fd = -1;
	int step;
	int why;

	do
		step = resolve_step(&walk);
	while (step == 0);
	if (step > 0)
		fd = openat(top(&walk), walk.rest,
			    flags | O_NOFOLLOW | O_CLOEXEC |
				    (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY),
			    0666);
	why = errno;
	climb(&walk, 0);
	free(walk.rest);
	errno = why;
	return fd >= 0 ? fd : explain(path, err);
}

int beneath_open_file(const struct tool_context *ctx, const char *path, int flags,
		      struct stat *ret_status, struct error *err)
{
	AUTO_FD fd = beneath_open(ctx, path, flags, err);
	AUTO_FREE char *shown = text_escaped(path);

	if (fd < 0)
		return -1;
	if (fstat(fd, ret_status) < 0)
		return error_sys(err, "inspect '%.500s'", shown);
	if (S_ISDIR(ret_status->st_mode))
		return error_set(err, "'%.500s' is a folder; use list to see its contents", shown);
	if (!S_ISREG(ret_status->st_mode))
		return error_set(err, "'%.500s' is not a regular file", shown);
	return fd_steal(&fd);
}

static int make_one(const struct tool_context *ctx, const char *path, struct error *err)
{
	AUTO_FREE char *above = mem_dup(path);
	char *slash = strrchr(above, '/');
	AUTO_FD folder = -1;

	if (slash)
		*slash = '\0';
	folder = beneath_open(ctx, slash ? above : ".", O_PATH | O_DIRECTORY, err);
	if (folder < 0)
		return -1;
	if (mkdirat(folder, slash ? slash + 1 : path, 0777) < 0 && errno != EEXIST) {
		AUTO_FREE char *shown = text_escaped(path);

		return error_sys(err, "create the folder '%.500s'", shown);
	}
	return 0;
}

int beneath_make_folders(const struct tool_context *ctx, const char *path, struct error *err)
{
	AUTO_FREE char *part = mem_dup(path);

	for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		AUTO_FD folder = -1;

		if (slash == part || slash[-1] == '/')
			continue;
		*slash = '\0';
		folder = beneath_open(ctx, part, O_PATH | O_DIRECTORY, err);
		if (folder < 0 && (errno != ENOENT || make_one(ctx, part, err) < 0))
			return -1;
		*slash = '/';
	}
	return 0;
}

int beneath_fill(int fd, const char *shown, const char *bytes, size_t size, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_sys(err, "inspect '%.500s'", shown);
	/* Some file systems do not support this. */
	if (size && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
		int why = errno;

		/* Release the space reserved past the end. */
		if (ftruncate(fd, status.st_size) == 0)
			errno = why;
		return error_sys(err, "write '%.500s' (the file is unchanged)", shown);
	}
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_write_all(fd, bytes, size) < 0 ||
	    ftruncate(fd, (off_t)size) < 0)
		return error_sys(err, "write '%.500s' (the file is now incomplete)", shown);
	return 0;
}
