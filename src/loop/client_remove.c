/* Removing a loop with all that it has kept: see client.h. */
#include "loop/client.h"

#include "loop/loop_folder.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Agents keep files here, too: a tree of theirs may be deeper than there are descriptors. */
enum { DEEPEST = 64 };

#define GONE ".removed-"

struct removal {
	int base;       /* what is too deep is brought here */
	unsigned deep;  /* so often */
	uint64_t bytes; /* on the disk */
};

static void remove_entry(struct removal *at, int folder, const char *name, int depth)
{
	struct stat status;
	AUTO_FD fd = -1;
	DIR *dir;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	at->bytes += (uint64_t)status.st_blocks * 512;
	if (!S_ISDIR(status.st_mode)) {
		unlinkat(folder, name, 0);
		return;
	}
	if (depth > DEEPEST) {
		AUTO_FREE char *other = mem_format("deep-%u", at->deep++);

		renameat(folder, name, at->base, other);
		return;
	}
	if ((status.st_mode & 0700) != 0700 && fchmodat(folder, name, 0700, 0) < 0)
		return;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (dir) {
		fd_steal(&fd); /* closedir() closes it */
		for (struct dirent *entry; (entry = readdir(dir));)
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				remove_entry(at, dirfd(dir), entry->d_name, depth + 1);
		closedir(dir);
	}
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* A folder below another one, with everything in it. Returns 0, or -1 with errno. */
static int remove_folder(int above, const char *name, uint64_t *ret_bytes)
{
	AUTO_FD base = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct removal at = { .base = base };
	unsigned before;

	if (base < 0)
		return -1;
	/* What was brought up is removed in the next round. */
	do {
		AUTO_FD copy = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = copy < 0 ? NULL : fdopendir(copy);

		before = at.deep;
		if (!dir)
			return -1;
		fd_steal(&copy);
		for (struct dirent *entry; (entry = readdir(dir));)
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				remove_entry(&at, base, entry->d_name, 1);
		closedir(dir);
	} while (at.deep != before);
	*ret_bytes += at.bytes;
	return unlinkat(above, name, AT_REMOVEDIR);
}

/* Those whose removal was cut off. */
static void remove_leftovers(int loops, uint64_t *bytes)
{
	int copy = fcntl(loops, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, GONE, strlen(GONE)) == 0)
			remove_folder(loops, entry->d_name, bytes);
	if (dir)
		closedir(dir);
}

char *client_work_trees(const char *state)
{
	return mem_format("%s-worktrees", state);
}

int client_remove_folder(const char *path, uint64_t *bytes, struct error *err)
{
	AUTO_FREE char *above = strndup(path, strlen(path) - strlen(path_name(path)));
	AUTO_FD folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if ((folder < 0 || remove_folder(folder, path_name(path), bytes) < 0) && errno != ENOENT)
		return error_sys(err, "remove '%s'", path);
	return 0;
}

int client_remove(const char *state, const struct client_loop *loop, uint64_t *ret_bytes,
		  struct error *err)
{
	AUTO_FREE char *path = loop_folder_loops(state, err);
	AUTO_FREE char *gone = mem_format(GONE "%s", loop->id);
	AUTO_FD loops = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	*ret_bytes = 0;
	if (!path)
		return -1;
	if (loops < 0)
		return error_sys(err, "open '%s'", path);
	remove_leftovers(loops, ret_bytes);
	/* In one step: it is there as a whole, or not at all. */
	if (renameat(loops, loop->id, loops, gone) < 0 || remove_folder(loops, gone, ret_bytes) < 0)
		return error_sys(err, "remove the loop %s", loop->id);
	return 0;
}
