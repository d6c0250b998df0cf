/* The lists of the quarantine: see fence_kept.h. */
#include "fence/fence_kept.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fence_kept_add(const char *state, const char *run, const struct fence_found_item *item)
{
	AUTO_FREE char *folder = path_join(state, "quarantined");
	int made = state_folder_make(folder, 0700);
	AUTO_FREE char *path = path_join(folder, run);
	AUTO_FD fd = made < 0 ? -1
			      : open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
				     0600);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	const char *parts[] = { item->path, item->reason, item->kept };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		buffer_add(&text, parts[i], strlen(parts[i]) + 1);
	if (fd >= 0 && !buffer_overflowed(&text))
		(void)!fd_write_all(fd, text.data, text.used);
}

static bool exists(const char *path)
{
	/* A folder of the quarantine that is in a project has no permissions. */
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno == EACCES;
}

/* Takes the next text of a list, or NULL at its end. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;
	const char *zero = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;

	*at = zero ? zero + 1 : end;
	return zero ? text : NULL;
}

static void add_list(int folder, const char *run, struct fence_kept *kept)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(FENCE_KEPT_BYTES);
	struct stat status;
	const char *at;
	const char *end;

	if (fstatat(folder, run, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fd_read_file(folder, run, &bytes) < 0)
		return;
	at = buffer_text(&bytes);
	end = at + bytes.used;
	while (at < end) {
		const char *path = next_text(&at, end);
		const char *reason = next_text(&at, end);
		const char *place = next_text(&at, end);

		if (!place || *path != '/' || *place != '/' || !exists(place))
			continue;
		kept->items = mem_extend(kept->items, kept->count, sizeof *kept->items);
		kept->items[kept->count++] = (struct fence_kept_item){
			.run = mem_dup(run),
			.at_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 +
				 status.st_mtim.tv_nsec,
			.path = mem_dup(path),
			.reason = mem_dup(reason),
			.kept = mem_dup(place),
		};
	}
}

static int by_age(const void *a, const void *b)
{
	const struct fence_kept_item *one = a;
	const struct fence_kept_item *two = b;

	if (one->at_ns != two->at_ns)
		return one->at_ns < two->at_ns ? -1 : 1;
	return strcmp(one->path, two->path);
}

int fence_kept_list(const char *state, struct fence_kept *ret_kept, struct error *err)
{
	AUTO_FREE char *path = path_join(state, "quarantined");
	DIR *folder = opendir(path);

	*ret_kept = (struct fence_kept){ 0 };
	if (!folder)
		return errno == ENOENT ? 0 : error_sys(err, "open '%s'", path);
	for (struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			add_list(dirfd(folder), entry->d_name, ret_kept);
	closedir(folder);
	if (ret_kept->count)
		qsort(ret_kept->items, ret_kept->count, sizeof *ret_kept->items, by_age);
	return 0;
}

void fence_kept_release(struct fence_kept *kept)
{
	for (size_t i = 0; i < kept->count; i++) {
		free(kept->items[i].run);
		free(kept->items[i].path);
		free(kept->items[i].reason);
		free(kept->items[i].kept);
	}
	free(kept->items);
	*kept = (struct fence_kept){ 0 };
}

/* ---- moving back ---- */

/* Opens the folder of a path. Returns -1 with err set if it is gone, or is reached by a symlink. */
static int open_folder(const char *path, struct error *err)
{
	AUTO_FREE char *folder = mem_format("%.*s", (int)(path_name(path) - path - 1), path);
	int fd = fd_openat2(AT_FDCWD, *folder ? folder : "/", O_PATH | O_DIRECTORY, 0,
			    RESOLVE_NO_SYMLINKS);

	if (fd < 0 && errno == ELOOP)
		error_set(err, "'%s' is reached by a symlink by now: move the file yourself",
			  folder);
	else if (fd < 0)
		error_sys(err, "open the folder '%s'", folder);
	return fd;
}

/* Gives the owner back the permissions that a sweep has taken from a folder, or from an entry.
 * Returns whether it had none. */
static bool permit(int fd, mode_t mode)
{
	AUTO_FREE char *path = mem_format("/proc/self/fd/%d", fd);
	struct stat status;

	return fstat(fd, &status) == 0 && !S_ISLNK(status.st_mode) && !(status.st_mode & 0777) &&
	       chmod(path, mode) == 0;
}

static void permit_entry(int folder, const char *name)
{
	AUTO_FD entry = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (entry >= 0 && fstat(entry, &status) == 0)
		permit(entry, S_ISDIR(status.st_mode) ? 0700 : 0600);
}

/* Removes folders of the quarantine that are empty now. A folder in a project loses its permissions
 * again if it is not. */
static void tidy_folders(const char *state, const struct fence_kept_item *item, int opened)
{
	AUTO_FREE char *all = path_join(state, "quarantine");
	AUTO_FREE char *folder = mem_dup(item->kept);
	AUTO_FREE char *again = mem_format("/proc/self/fd/%d", opened);
	bool own = path_within(item->kept, all);

	do
		*strrchr(folder, '/') = '\0';
	while (strcmp(folder, all) != 0 && rmdir(folder) == 0 && own);
	if (opened >= 0)
		(void)!chmod(again, 0);
}

/* Removes the list of a run of which nothing is in quarantine any more. */
static void tidy_list(const char *state, const char *run)
{
	AUTO_FREE char *path = path_join(state, "quarantined");
	AUTO_FD folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fence_kept left = { 0 };

	if (folder >= 0)
		add_list(folder, run, &left);
	if (folder >= 0 && !left.count)
		unlinkat(folder, run, 0);
	fence_kept_release(&left);
}

static int move_back(const struct fence_kept_item *item, int from, int to, struct error *err)
{
	const char *name = path_name(item->path);

	if (renameat2(from, path_name(item->kept), to, name, RENAME_NOREPLACE) == 0) {
		permit_entry(to, name);
		durable_sync_name(item->path);
		return 0;
	}
	if (errno == EEXIST)
		return error_with(err, ERROR_REFUSED,
				  "'%s' exists by now: move it away first (the other one is '%s')",
				  item->path, item->kept);
	return error_sys(err, "move '%s' to '%s'", item->kept, item->path);
}

int fence_kept_restore(const char *state, const struct fence_kept_item *item, struct error *err)
{
	AUTO_FD from = open_folder(item->kept, err);
	AUTO_FD to = from < 0 ? -1 : open_folder(item->path, err);
	bool opened = to >= 0 && permit(from, 0700);
	int result = to < 0 ? -1 : move_back(item, from, to, err);

	tidy_folders(state, item, opened ? from : -1);
	if (result == 0)
		tidy_list(state, item->run);
	return result;
}
