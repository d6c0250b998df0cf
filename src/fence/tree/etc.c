/* The fence's /etc: see etc.h. */
#include "fence/tree/etc.h"

#include "fence/plan/defaults.h"
#include "fence/run/run_record.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* More depth and bytes than any folder of configuration needs; ages after which copies and
 * unfinished temporary ones are removed. */
enum { MOST_DEPTH = 6, MOST_BYTES = 4 << 20, KEPT_S = 30 * 86400, TEMPORARY_S = 600 };

/* The stamp is an FNV-1a hash; a collision would only mean a stale copy. */
static void mix(uint64_t *stamp, const void *data, size_t size)
{
	for (const unsigned char *at = data; size--; at++)
		*stamp = (*stamp ^ *at) * 0x100000001b3ULL;
}

static void mix_file(uint64_t *stamp, const char *path)
{
	struct stat status;

	mix(stamp, path, strlen(path));
	if (stat(path, &status) < 0)
		return;
	mix(stamp, &status.st_mtim, sizeof status.st_mtim);
	mix(stamp, &status.st_size, sizeof status.st_size);
	mix(stamp, &status.st_ino, sizeof status.st_ino);
}

/* Covers a folder and its entries. A change deeper down goes unnoticed until one of these
 * changes. */
static void mix_folder(uint64_t *stamp, const char *path)
{
	DIR *dir = opendir(path);

	mix_file(stamp, path);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_FREE char *inner = path_join(path, entry->d_name);

		if (entry->d_name[0] != '.')
			mix_file(stamp, inner);
	}
	if (dir)
		closedir(dir);
}

/* Lists the visible folders that exist, as names in /etc. */
static void list_folders(struct list *ret_folders)
{
	DIR *dir = opendir("/etc");

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		for (const char *const *name = defaults_etc_folders; *name; name++) {
			size_t size = strlen(*name);
			bool prefix = (*name)[size - 1] == '*';

			if (strncmp(entry->d_name, *name, prefix ? size - 1 : size + 1) == 0)
				list_add(ret_folders, entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
}

/* Copies a world-readable file. Skips one that cannot be read. */
static int copy_file(const char *from, const char *to, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	AUTO_FD in = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (in < 0 || fstat(in, &status) < 0 || !S_ISREG(status.st_mode) ||
	    !(status.st_mode & S_IROTH) || fd_read_all(in, &bytes) < 0)
		return 0;

	AUTO_FD out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (out < 0 || fchmod(out, 0644 | (status.st_mode & 0111)) < 0 ||
	    fd_write_all(out, bytes.data, bytes.used) < 0)
		return error_sys(err, "write '%s'", to);
	return 0;
}

static int copy_folder(const char *from, const char *to, int depth, struct error *err)
{
	struct stat status;
	DIR *dir = NULL;
	int result = 0;

	if (depth > MOST_DEPTH || stat(from, &status) < 0 || (status.st_mode & 05) != 05 ||
	    !(dir = opendir(from)))
		return 0;
	if (mkdir(to, 0755) < 0 || chmod(to, 0755) < 0) /* mkdir() applies the umask */
		result = error_sys(err, "create '%s'", to);
	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		AUTO_FREE char *source = path_join(from, entry->d_name);
		AUTO_FREE char *target = path_join(to, entry->d_name);
		char link[PATH_MAX];
		ssize_t n;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if ((n = readlink(source, link, sizeof link - 1)) >= 0) {
			link[n] = '\0';
			if (symlink(link, target) < 0)
				result = error_sys(err, "create '%s'", target);
		} else if (entry->d_type == DT_DIR) {
			result = copy_folder(source, target, depth + 1, err);
		} else {
			result = copy_file(source, target, err);
		}
	}
	closedir(dir);
	return result;
}

static int write_text(const char *folder, const char *name, const char *text, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || fchmod(fd, 0644) < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		return error_sys(err, "write '%s'", path);
	return 0;
}

/* Creates the mount point for `path`, which is in /etc. */
static int make_point(const char *folder, const char *path, bool is_dir, struct error *err)
{
	AUTO_FREE char *point = mem_format("%s/%s", folder, path + strlen("/etc/"));
	AUTO_FREE char *parent = mem_dup(point);

	*strrchr(parent, '/') = '\0';
	if (state_folder_make(is_dir ? point : parent, 0755) < 0 ||
	    (!is_dir && mknod(point, S_IFREG | 0644, 0) < 0 && errno != EEXIST))
		return error_sys(err, "create '%s'", point);
	return 0;
}

/* Creates the mount point for a folder of defaults_etc_mounts, or copies it if it is a symlink. */
static int make_mount_point(const char *folder, const char *path, struct error *err)
{
	AUTO_FREE char *point = mem_format("%s/%s", folder, path + strlen("/etc/"));
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n < 0)
		return access(path, F_OK) == 0 ? make_point(folder, path, true, err) : 0;
	target[n] = '\0';
	return symlink(target, point) < 0 ? error_sys(err, "create '%s'", point) : 0;
}

static bool in_etc(const struct fence_rule *rule)
{
	return path_within(rule->path, "/etc") && strcmp(rule->path, "/etc") != 0;
}

static int fill(const char *folder, const struct fence_plan *plan, const char *users,
		const char *groups, const struct list *folders, struct error *err)
{
	int result = 0;

	if (write_text(folder, "passwd", users, err) < 0 ||
	    write_text(folder, "group", groups, err) < 0)
		return -1;
	result = make_point(folder, "/etc/ssl", true, err);
	for (const char *const *path = defaults_etc_mounts; result == 0 && *path; path++)
		result = make_mount_point(folder, *path, err);
	for (const char *const *name = defaults_etc_files; result == 0 && *name; name++) {
		AUTO_FREE char *from = path_join("/etc", *name);
		AUTO_FREE char *to = path_join(folder, *name);

		result = copy_file(from, to, err);
	}
	for (size_t i = 0; result == 0 && i < folders->count; i++) {
		AUTO_FREE char *from = path_join("/etc", folders->items[i]);
		AUTO_FREE char *to = path_join(folder, folders->items[i]);

		result = copy_folder(from, to, 0, err);
	}
	if (result == 0 && plan->spec->net == FENCE_NET_OPEN) {
		AUTO_FREE char *to = path_join(folder, "resolv.conf");

		result = copy_file("/etc/resolv.conf", to, err);
	}
	for (size_t i = 0; result == 0 && i < plan->rule_count; i++)
		if (in_etc(&plan->rules[i]))
			result = make_point(folder, plan->rules[i].path, plan->rules[i].is_dir,
					    err);
	return result;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Removes copies that no fence has used for a long time, and temporary ones of killed
 * processes. */
static void prune(const char *shelf)
{
	DIR *dir = opendir(shelf);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(shelf, entry->d_name);
		struct stat status;

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    lstat(path, &status) == 0 &&
		    time(NULL) - status.st_mtime > (entry->d_name[0] == '.' ? TEMPORARY_S : KEPT_S))
			remove_tree(path);
	}
	if (dir)
		closedir(dir);
}

/* Keeps apart the temporary copies of processes that make the same copy at once, even in other
 * namespaces. */
static unsigned long random_number(void)
{
	unsigned long number = (unsigned long)getpid();

	if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
		number ^= (unsigned long)time(NULL) << 32;
	return number;
}

/* Returns the stamp of everything that the copy depends on. */
static uint64_t make_stamp(const struct fence_plan *plan, const char *users,
			   const struct list *folders)
{
	static const char synced[] = "synced"; /* copies of older versions were not */
	uint64_t stamp = 0xcbf29ce484222325ULL;

	mix(&stamp, RINGFENCE_VERSION, strlen(RINGFENCE_VERSION));
	mix(&stamp, synced, strlen(synced));
	mix(&stamp, users, strlen(users));
	for (const char *const *name = defaults_etc_files; *name; name++) {
		AUTO_FREE char *file = path_join("/etc", *name);

		mix_file(&stamp, file);
	}
	for (size_t i = 0; i < folders->count; i++) {
		AUTO_FREE char *folder = path_join("/etc", folders->items[i]);

		mix_folder(&stamp, folder);
	}
	for (const char *const *mounted = defaults_etc_mounts; *mounted; mounted++) {
		struct stat status = { 0 };

		lstat(*mounted, &status); /* its type, or 0 if it is missing */
		mix(&stamp, &status.st_mode, sizeof status.st_mode);
	}
	if (plan->spec->net == FENCE_NET_OPEN)
		mix_file(&stamp, "/etc/resolv.conf");
	for (size_t i = 0; i < plan->rule_count; i++)
		if (in_etc(&plan->rules[i])) {
			mix(&stamp, plan->rules[i].path, strlen(plan->rules[i].path));
			mix(&stamp, &plan->rules[i].is_dir, sizeof plan->rules[i].is_dir);
		}
	return stamp;
}

/* Reports whether a copy has its users. After a power cut, a copy that was not synced has empty
 * files. */
static bool is_whole(const char *path, size_t users_size)
{
	AUTO_FREE char *users = path_join(path, "passwd");
	struct stat status;

	return stat(users, &status) == 0 && (size_t)status.st_size == users_size;
}

/* Gives the temporary copy its name. The caller removes whatever is left at the temporary name. */
static int place_copy(const char *shelf, const char *temporary, const char *path, size_t users_size)
{
	AUTO_FD above = open(shelf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (above < 0)
		return -1;
	if (durable_name_folder(above, path_name(temporary), path_name(path)) == 0)
		return 0;
	/* Another process made the same copy first, or there is a damaged one. */
	if (errno != EEXIST && errno != ENOTEMPTY)
		return -1;
	if (is_whole(path, users_size))
		return 0;
	return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) < 0 ? -1
										   : fsync(above);
}

/* Makes the copy at SHELF/STAMP, which `path` names. */
static int make_copy(const struct fence_plan *plan, const char *users, const struct list *folders,
		     const char *shelf, const char *path, struct error *err)
{
	const struct fence_identity *identity = &plan->identity;
	AUTO_FREE char *groups = mem_format("root:x:0:\n%s:x:%u:\nnogroup:x:65534:\n",
					    identity->name, identity->gid);
	AUTO_FREE char *temporary = mem_format("%s/.%s-%016lx", shelf, path_name(path),
					       random_number());
	int result;

	if (state_folder_make(shelf, 0700) < 0 || mkdir(temporary, 0755) < 0 ||
	    chmod(temporary, 0755) < 0)
		result = error_sys(err, "create '%s'", temporary);
	else
		result = fill(temporary, plan, users, groups, folders, err);
	if (result == 0 && place_copy(shelf, temporary, path, strlen(users)) < 0)
		result = error_sys(err, "create '%s'", path);
	remove_tree(temporary);
	prune(shelf);
	return result;
}

int etc_prepare(const struct fence_plan *plan, char **ret_path, struct error *err)
{
	__attribute__((cleanup(list_release))) struct list folders = { 0 };
	const struct fence_identity *identity = &plan->identity;
	AUTO_FREE char *users = mem_format(
		"root:x:0:0:root:/root:/bin/sh\n%s:x:%u:%u::%s:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
		identity->name, identity->uid, identity->gid, plan->home);
	AUTO_FREE char *shelf = path_join(plan->state, "etc");
	AUTO_FREE char *path = NULL;

	list_folders(&folders);
	path = mem_format("%s/%016lx", shelf, (unsigned long)make_stamp(plan, users, &folders));
	if (is_whole(path, strlen(users)))
		utimensat(AT_FDCWD, path, NULL, 0); /* still in use */
	else if (make_copy(plan, users, &folders, shelf, path, err) < 0)
		return -1;
	*ret_path = path;
	path = NULL;
	return 0;
}
