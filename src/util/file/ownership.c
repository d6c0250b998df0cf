/* The people who can change a file: see ownership.h. */
#include "util/file/ownership.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOST_SYMLINKS = 40, OVERFLOW_UID = 65534 };

/* Reads /etc/passwd directly, like the fence: the name service may use the network. Returns whether
 * another user has this primary group; *ret_name is the user's own name, or NULL. */
static bool has_other_user(gid_t group, uid_t uid, char **ret_name)
{
	FILE *file = fopen("/etc/passwd", "re");
	bool other = false;

	*ret_name = NULL;
	for (struct passwd *entry; file && (entry = fgetpwent(file));) {
		other = other || (entry->pw_gid == group && entry->pw_uid != uid);
		if (entry->pw_uid == uid && !*ret_name)
			*ret_name = mem_dup(entry->pw_name);
	}
	if (file)
		fclose(file);
	return other;
}

static bool has_other_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!name || strcmp(*member, name) != 0)
			return true;
	return false;
}

/* Whether the user is the only member of a group. A group that no file lists is the user's own if
 * it has the same number. */
static bool is_own_group(gid_t group, uid_t uid)
{
	AUTO_FREE char *name = NULL;
	bool own = !has_other_user(group, uid, &name);
	bool listed = false;
	FILE *file = fopen("/etc/group", "re");

	for (struct group *entry; own && file && (entry = fgetgrent(file));) {
		if (entry->gr_gid != group)
			continue;
		listed = true;
		own = !has_other_member(entry, name);
	}
	if (file)
		fclose(file);
	return own && (listed || group == uid);
}

/* Whether this process sees users who are not mapped: then the owner of a folder can be unknown.
 * Without /proc nothing runs later anyway. */
static bool has_unmapped_users(void)
{
	AUTO_BUFFER struct buffer map = BUFFER_INIT(4096);
	AUTO_FD fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);

	return fd < 0 || fd_read_all(fd, &map) < 0 || !strstr(buffer_text(&map), "4294967295");
}

static bool is_others(const struct stat *status, uid_t uid)
{
	uid_t owner = status->st_uid;

	return owner != uid && owner != 0 && !(owner == OVERFLOW_UID && has_unmapped_users());
}

static bool others_can_write(const char *path, const struct stat *status, uid_t uid)
{
	mode_t mode = status->st_mode;

	if (S_ISLNK(mode) || !(mode & (S_IWGRP | S_IWOTH)))
		return false;
	/* With an access list, the group's bits are the most that anybody in it has. */
	return mode & S_IWOTH || getxattr(path, "system.posix_acl_access", NULL, 0) > 0 ||
	       !is_own_group(status->st_gid, uid);
}

static int refuse_owner(const char *path, const struct stat *status, uid_t uid, struct error *err)
{
	return error_with(err, ERROR_REFUSED, "'%s' belongs to uid %u, not to you (uid %u)", path,
			  status->st_uid, uid);
}

static int refuse_mode(const char *path, struct error *err)
{
	return error_with(err, ERROR_REFUSED, "others can write to '%s'; run: chmod go-w '%s'",
			  path, path);
}

int ownership_check_one(const char *path, const struct stat *status, uid_t uid, struct error *err)
{
	if (is_others(status, uid))
		return refuse_owner(path, status, uid, err);
	return others_can_write(path, status, uid) ? refuse_mode(path, err) : 0;
}

/* Checks a part of a path: others can write to a folder with the sticky bit. */
static int check_part(const char *path, const struct stat *status, uid_t uid, struct error *err)
{
	if (S_ISDIR(status->st_mode) && status->st_mode & S_ISVTX && !is_others(status, uid))
		return 0;
	return ownership_check_one(path, status, uid, err);
}

/* A path on its way from the root: what was walked, and what remains. */
struct walk {
	char *done; /* "/a/b", or "" for the root */
	char *rest; /* "c/d" */
	unsigned int symlinks;
};

/* Replaces what remains. Takes ownership of rest. */
static void set_rest(struct walk *walk, char *rest)
{
	free(walk->rest);
	walk->rest = rest;
}

static int follow(struct walk *walk, const char *link, const char *after, struct error *err)
{
	char target[PATH_MAX];
	ssize_t size = readlink(link, target, sizeof target - 1);

	if (size < 0)
		return error_sys(err, "read the symlink '%s'", link);
	if (++walk->symlinks > MOST_SYMLINKS)
		return error_with(err, ERROR_REFUSED, "'%s' leads through too many symlinks", link);
	target[size] = '\0';
	if (target[0] == '/')
		walk->done[0] = '\0';
	set_rest(walk, mem_format("%s/%s", target, after));
	return 0;
}

/* Takes the next name off the rest. Returns false at the end. */
static bool next_name(struct walk *walk, char **ret_name, char **ret_after)
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t size = strcspn(start, "/");

	if (size == 0)
		return false;
	*ret_name = mem_format("%.*s", (int)size, start);
	*ret_after = mem_dup(start + size);
	return true;
}

static void step_up(struct walk *walk)
{
	char *slash = strrchr(walk->done, '/');

	if (slash)
		*slash = '\0';
}

/* Walks one step. Returns 1, or 0 at the end of the path or of what exists, or -1 with err set. */
static int step(struct walk *walk, uid_t uid, struct error *err)
{
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *after = NULL;
	AUTO_FREE char *path = NULL;
	struct stat status;

	if (!next_name(walk, &name, &after))
		return 0;
	path = mem_format("%s/%s", walk->done, name);
	if (strcmp(name, "..") == 0)
		step_up(walk);
	if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0) {
		set_rest(walk, mem_dup(after));
		return 1;
	}
	if (lstat(path, &status) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES
			       ? 0
			       : error_sys(err, "examine '%s'", path);
	if (check_part(path, &status, uid, err) < 0)
		return -1;
	if (S_ISLNK(status.st_mode))
		return follow(walk, path, after, err) < 0 ? -1 : 1;
	free(walk->done);
	walk->done = mem_dup(path);
	set_rest(walk, mem_dup(after));
	return 1;
}

int ownership_check(const char *path, uid_t uid, struct error *err)
{
	struct walk walk = { .done = mem_dup(""), .rest = mem_dup(path) };
	struct stat status;
	int result;

	if (stat("/", &status) == 0 && check_part("/", &status, uid, err) < 0)
		result = -1;
	else
		while ((result = step(&walk, uid, err)) > 0)
			;
	/* Everything exists: the sticky bit does not help any more. */
	if (result == 0 && !walk.rest[strspn(walk.rest, "/")] && lstat(walk.done, &status) == 0)
		result = ownership_check_one(walk.done, &status, uid, err);
	free(walk.done);
	free(walk.rest);
	return result;
}

int ownership_check_entries(const char *folder, uid_t uid, struct error *err)
{
	struct stat status;
	DIR *dir = NULL;
	int result = 0;

	if (stat(folder, &status) == 0 && status.st_mode & (S_IXGRP | S_IXOTH))
		dir = opendir(folder);
	for (struct dirent *entry; result == 0 && dir && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(folder, entry->d_name);

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			result = ownership_check_one(path, &status, uid, err);
	}
	if (dir)
		closedir(dir);
	return result;
}
