/* Journals that nobody writes: see journal_still.h. */
#include "journal/journal_still.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* A change within one tick of the kernel's clock may leave the time of the file as it was. */
enum { SETTLED_S = 2 };

/* In the header of a database: 2 and 2 stand for a write-ahead log, which a database in memory
 * cannot have, and 1 and 1 for none. */
enum { HEADER = 100, WRITE_VERSION = 18, READ_VERSION = 19 };

static bool has_log(const char *path)
{
	AUTO_FREE char *log = mem_format("%s-wal", path);

	return access(log, F_OK) == 0;
}

static bool can_be_written(const char *path)
{
	AUTO_FREE char *folder = path_folder(path);
	struct statvfs disk;

	return access(path, W_OK) == 0 && access(folder, W_OK) == 0 &&
	       statvfs(folder, &disk) == 0 && disk.f_bavail > 0;
}

static bool is_settled(const struct stat *file)
{
	return S_ISREG(file->st_mode) && file->st_size <= JOURNAL_STILL_BYTES &&
	       file->st_mtim.tv_sec < time(NULL) - SETTLED_S;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool journal_still_read(const char *path, struct buffer *bytes)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat before;
	struct stat after;

	/* A writer makes a log before it changes the database. */
	if (fd < 0 || has_log(path) || !can_be_written(path) || fstat(fd, &before) < 0 ||
	    !is_settled(&before) || fd_read_all(fd, bytes) < 0 || fstat(fd, &after) < 0 ||
	    !is_same(&before, &after) || has_log(path))
		return false;
	if (bytes->used < HEADER || bytes->data[WRITE_VERSION] != 2 ||
	    bytes->data[READ_VERSION] != 2)
		return false;
	bytes->data[WRITE_VERSION] = bytes->data[READ_VERSION] = 1;
	return true;
}
