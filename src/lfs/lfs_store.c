/* A store of Git LFS. */
#include "lfs/lfs_store.h"

#include "util/file/durable.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, FOLDER = 3, MOST_AT_ONCE = 1000 };

static int open_folder(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a folder, and makes it if it is not there. Its name is on disk then. */
static int make_folder(int above, const char *name)
{
	if (mkdirat(above, name, 0777) == 0) {
		if (fsync(above) < 0)
			return -1;
	} else if (errno != EEXIST) {
		return -1;
	}
	return open_folder(above, name);
}

/* Opens the folder of an object: ab/cd. */
static int object_folder(int objects, const char *hex, int open_one(int, const char *))
{
	char first[FOLDER];
	char second[FOLDER];

	snprintf(first, sizeof first, "%.2s", hex);
	snprintf(second, sizeof second, "%.2s", hex + 2);

	AUTO_FD above = open_one(objects, first);

	return above < 0 ? -1 : open_one(above, second);
}

int lfs_store_open(int objects, const struct lfs_pointer *pointer)
{
	AUTO_FD folder = object_folder(objects, pointer->hex, open_folder);
	AUTO_FD fd = folder < 0 ? -1
				: openat(folder, pointer->hex,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) < 0)
		return -1;
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size != pointer->size) {
		errno = ENOENT;
		return -1;
	}
	return fd_steal(&fd);
}

static bool is_named(int fd, int folder, const char *name)
{
	struct stat own, named;

	return fstat(fd, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* A file is locked while a process writes it. */
static bool is_in_use(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Creates a file with a lock. Only who has the lock of a file removes it, so the file keeps its
 * name. Fails with EEXIST if another process uses the name. */
static int create_own(int folder, const char *name)
{
	AUTO_FD old = openat(folder, name,
			     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_FD fd = -1;

	if (old >= 0 && !is_in_use(old) && is_named(old, folder, name))
		unlinkat(folder, name, 0);
	fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd >= 0 && (is_in_use(fd) || !is_named(fd, folder, name))) {
		errno = EEXIST;
		return -1;
	}
	return fd_steal(&fd);
}

/* Creates the file of an entry under the first name that nobody uses. */
static int create_first(struct lfs_store_entry *entry, const char *temporary)
{
	snprintf(entry->temporary, sizeof entry->temporary, "%s", temporary);
	entry->fd = create_own(entry->folder, entry->temporary);
	for (int i = 1; entry->fd < 0 && errno == EEXIST && i < MOST_AT_ONCE; i++) {
		snprintf(entry->temporary, sizeof entry->temporary, "%.200s-%d", temporary, i);
		entry->fd = create_own(entry->folder, entry->temporary);
	}
	return entry->fd < 0 ? -1 : 0;
}

int lfs_store_begin(int lfs, const char *temporary, struct lfs_store_entry *ret_entry,
		    struct error *err)
{
	struct lfs_store_entry entry = { .lfs = lfs, .fd = -1 };

	entry.folder = make_folder(lfs, "tmp");
	if (entry.folder < 0 || create_first(&entry, temporary) < 0) {
		error_sys(err, "create a file in the LFS store");
		fd_close(&entry.folder);
		return -1;
	}
	sha256_init(&entry.sha256);
	*ret_entry = entry;
	return 0;
}

int lfs_store_add(struct lfs_store_entry *entry, const void *bytes, size_t size, struct error *err)
{
	if (fd_write_all(entry->fd, bytes, size) < 0)
		return error_sys(err, "write to the LFS store");
	sha256_add(&entry->sha256, bytes, size);
	entry->size += size;
	return 0;
}

int lfs_store_add_file(struct lfs_store_entry *entry, int fd, uint64_t most, struct error *err)
{
	char piece[PIECE];
	ssize_t n;

	while (most && (n = read(fd, piece, most < PIECE ? most : PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the content of an LFS file");
		most -= (uint64_t)n;
		if (lfs_store_add(entry, piece, (size_t)n, err) < 0)
			return -1;
	}
	return 0;
}

void lfs_store_drop(struct lfs_store_entry *entry)
{
	if (is_named(entry->fd, entry->folder, entry->temporary))
		unlinkat(entry->folder, entry->temporary, 0);
	fd_close(&entry->fd);
	fd_close(&entry->folder);
}

/* Moves the object to its name. */
static int name_object(const struct lfs_store_entry *entry, const char *hex)
{
	AUTO_FD objects = make_folder(entry->lfs, "objects");
	AUTO_FD folder = objects < 0 ? -1 : object_folder(objects, hex, make_folder);

	return folder < 0 ? -1
			  : durable_name(entry->fd, entry->folder, entry->temporary, folder, hex);
}

int lfs_store_end(struct lfs_store_entry *entry, const struct lfs_pointer *wanted,
		  struct lfs_pointer *ret_pointer, struct error *err)
{
	struct lfs_pointer made = { .size = entry->size };
	int result = 0;

	sha256_end(&entry->sha256, made.hex);
	if (wanted && (wanted->size != made.size || strcmp(wanted->hex, made.hex) != 0))
		result = error_set(err, "the LFS object %s is damaged", wanted->hex);
	else if (name_object(entry, made.hex) < 0)
		result = error_sys(err, "store the LFS object %s", made.hex);
	lfs_store_drop(entry);
	if (result == 0 && ret_pointer)
		*ret_pointer = made;
	return result;
}
