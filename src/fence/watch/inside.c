/* Paths as the fence shows them: see inside.h. */
#include "fence/watch/inside.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int inside_open(struct inside *inside, pid_t pid)
{
	char path[32];

	if (inside->root < 0) {
		snprintf(path, sizeof path, "/proc/%d/root", pid);
		inside->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return inside->root < 0 ? -1 : 0;
}

static void drop(struct inside_folder *folder)
{
	if (folder->path)
		fd_close(&folder->fd);
	free(folder->path);
	free(folder->real);
	*folder = (struct inside_folder){ .fd = -1 };
}

void inside_forget(struct inside *inside)
{
	for (size_t i = 0; i < INSIDE_FOLDERS; i++)
		drop(&inside->folders[i]);
}

void inside_close(struct inside *inside)
{
	inside_forget(inside);
	fd_close(&inside->root);
}

static int join(char ret_path[PATH_MAX], const char *base, const char *rest)
{
	int n = snprintf(ret_path, PATH_MAX, "%s%s%s", base, base[1] ? "/" : "", rest);

	return n >= PATH_MAX ? -1 : 0;
}

/* Opens a path as processes in the fence see it. *ret_real is its real path. Returns a descriptor,
 * or -1 with errno. */
static int open_real(const struct inside *inside, const char *path, int flags,
		     char ret_real[PATH_MAX])
{
	AUTO_FD fd = fd_openat2(inside->root, path, O_PATH | flags, 0, RESOLVE_IN_ROOT);
	char link[32];
	ssize_t n;

	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, ret_real, PATH_MAX - 1);
	if (n <= 0 || ret_real[0] != '/') {
		errno = EIO;
		return -1;
	}
	ret_real[n] = '\0';
	return fd_steal(&fd);
}

static const struct inside_folder *remember(struct inside *inside, const char *path,
					    const char *real, int fd)
{
	struct inside_folder *folder = &inside->folders[inside->count++ % INSIDE_FOLDERS];

	drop(folder);
	*folder = (struct inside_folder){ mem_dup(path), mem_dup(real), fd };
	return folder;
}

/* Returns the folder at a path, or NULL. */
static const struct inside_folder *find_folder(struct inside *inside, const char *path)
{
	char real[PATH_MAX];
	int fd;

	for (size_t i = 0; i < INSIDE_FOLDERS; i++)
		if (inside->folders[i].path && strcmp(inside->folders[i].path, path) == 0)
			return &inside->folders[i];
	fd = open_real(inside, path, O_DIRECTORY, real);
	return fd < 0 ? NULL : remember(inside, path, real, fd);
}

/* Splits a path at its last name, which is empty if the path ends with a slash. Returns the name;
 * ret_above is the rest. */
static const char *split(const char *path, char ret_above[PATH_MAX])
{
	const char *name = strrchr(path, '/') + 1;

	snprintf(ret_above, PATH_MAX, "%.*s", name - path > 1 ? (int)(name - path - 1) : 1, path);
	return name;
}

/* Resolves a path whose last name is not a symlink to be followed: only its folder can lead
 * elsewhere. Returns false if the path is not of this kind. */
static bool resolve_in_folder(struct inside *inside, bool follow, char path[PATH_MAX],
			      struct inside_entry *ret_entry)
{
	char above[PATH_MAX];
	char joined[PATH_MAX];
	const char *name = split(path, above);
	const struct inside_folder *folder;
	struct statx status = { 0 };

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	folder = find_folder(inside, above);
	/* Neither waits for a file server nor triggers an automount. */
	if (!folder ||
	    (statx(folder->fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		   STATX_TYPE, &status) < 0 &&
	     errno != ENOENT))
		return false;
	if ((follow && S_ISLNK(status.stx_mode)) || join(joined, folder->real, name) < 0)
		return false;
	memcpy(path, joined, sizeof joined);
	*ret_entry = (struct inside_entry){ .there = status.stx_mode != 0,
					    .folder = true,
					    .file = S_ISREG(status.stx_mode),
					    .is_dir = S_ISDIR(status.stx_mode) };
	return true;
}

/* Cleans the path lexically, where the file system gives no answer. */
static void clean_lexically(char path[PATH_MAX])
{
	AUTO_FREE char *clean = path_absolute(path, "/");

	snprintf(path, PATH_MAX, "%s", clean);
}

/*
 * Resolves a path whose last component does not exist. Returns true if that component is a dangling
 * symlink; path is then its target, to be resolved again.
 */
static bool resolve_missing(struct inside *inside, bool follow, char path[PATH_MAX],
			    struct inside_entry *entry)
{
	AUTO_FREE char *whole = mem_dup(path);
	const struct inside_folder *folder;
	char above[PATH_MAX];
	char target[PATH_MAX];
	const char *name;
	ssize_t n;

	for (size_t end = strlen(whole); end > 1 && whole[end - 1] == '/';)
		whole[--end] = '\0';
	name = split(whole, above);
	folder = find_folder(inside, above);
	if (!folder || strcmp(name, "..") == 0 || join(path, folder->real, name) < 0) {
		clean_lexically(path);
		return false;
	}
	entry->folder = true;
	n = follow ? readlinkat(folder->fd, name, target, sizeof target - 1) : -1;
	if (n <= 0)
		return false;
	target[n] = '\0';
	if (target[0] == '/')
		snprintf(path, PATH_MAX, "%s", target);
	return target[0] == '/' || join(path, folder->real, target) == 0;
}

static bool is_dir(int fd)
{
	struct statx status = { 0 };

	statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &status);
	return S_ISDIR(status.stx_mode);
}

void inside_resolve(struct inside *inside, bool follow, char path[PATH_MAX],
		    struct inside_entry *ret_entry)
{
	enum { MOST_LINKS = 8 };
	char real[PATH_MAX];

	*ret_entry = (struct inside_entry){ 0 };
	if (resolve_in_folder(inside, follow, path, ret_entry))
		return;
	for (int i = 0; i < MOST_LINKS; i++) {
		AUTO_FD fd = open_real(inside, path, follow ? 0 : O_NOFOLLOW, real);

		if (fd >= 0) {
			memcpy(path, real, sizeof real);
			*ret_entry = (struct inside_entry){ .there = true,
							    .folder = true,
							    .is_dir = is_dir(fd) };
			return;
		}
		if (errno != ENOENT)
			break;
		if (!resolve_missing(inside, follow, path, ret_entry))
			return;
	}
	clean_lexically(path);
}
