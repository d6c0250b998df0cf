/* What a folder takes: see disk_usage.h. */
#include "loop/disk_usage.h"

#include "util/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN = 64, DEEPEST = 1 << 20, MOST_ENTRIES = 5000000 };

/* A folder on the way to where we are. Only the last ones are open; to the others ".." leads back. */
struct level {
	DIR *dir;
	dev_t device;
	ino_t inode;
	off_t at; /* where in it we went down */
};

struct count {
	uint64_t bytes;
	size_t entries;
	struct level *levels;
	size_t depth, room;
};

/* Opens a folder, to be read from level->at on. */
static bool open_level(struct level *level, int from, const char *name)
{
	AUTO_FD fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || lseek(fd, level->at, SEEK_SET) < 0)
		return false;
	level->device = status.st_dev;
	level->inode = status.st_ino;
	level->dir = fdopendir(fd);
	if (level->dir)
		fd_steal(&fd); /* closedir() closes it */
	return level->dir;
}

static void close_level(struct level *level)
{
	if (level->dir)
		closedir(level->dir);
	level->dir = NULL;
}

/* From one that was moved meanwhile ".." leads elsewhere. */
static bool open_again(struct level *level, int below)
{
	struct level found = { .at = level->at };

	if (!open_level(&found, below, ".."))
		return false;
	if (found.device != level->device || found.inode != level->inode)
		close_level(&found);
	level->dir = found.dir;
	return level->dir;
}

static void go_down(struct count *count, int from, const char *name)
{
	struct level level = { 0 };

	if (count->depth == DEEPEST || !open_level(&level, from, name))
		return;
	if (count->depth == count->room) {
		count->room = count->room ? 2 * count->room : OPEN;
		count->levels = mem_resize(count->levels, count->room, sizeof *count->levels);
	}
	count->levels[count->depth++] = level;
	if (count->depth > OPEN)
		close_level(&count->levels[count->depth - OPEN - 1]);
}

static void go_up(struct count *count)
{
	struct level *left = &count->levels[--count->depth];

	/* Where no way leads back, what is above is not found again. */
	if (count->depth && !left[-1].dir && !open_again(&left[-1], dirfd(left->dir)))
		count->depth = 0;
	close_level(left);
}

static void add_entry(struct count *count, struct level *level, const struct dirent *entry)
{
	struct stat status;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
	    fstatat(dirfd(level->dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	count->entries++;
	/* A file with several names is counted once, as far as that goes without a list of them. */
	count->bytes += (uint64_t)status.st_blocks * 512 /
			(S_ISDIR(status.st_mode) || !status.st_nlink ? 1 : status.st_nlink);
	if (!S_ISDIR(status.st_mode))
		return;
	level->at = entry->d_off;
	go_down(count, dirfd(level->dir), entry->d_name);
}

uint64_t disk_usage_bytes(const char *path)
{
	struct count count = { 0 };

	go_down(&count, AT_FDCWD, path);
	while (count.depth) {
		struct level *level = &count.levels[count.depth - 1];
		const struct dirent *entry = count.entries < MOST_ENTRIES ? readdir(level->dir)
									  : NULL;

		if (entry)
			add_entry(&count, level, entry);
		else
			go_up(&count);
	}
	free(count.levels);
	return count.bytes;
}
