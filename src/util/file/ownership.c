/* The people who can change a file: see ownership.h. */
#include "util/file/ownership.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
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

enum { OVERFLOW_UID = 65534 };

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

/* A check of every part of a path, as far as it exists. */
struct check {
	uid_t uid;
	struct error *err;
	int result;
	bool ended;
};

static int check_entry(const struct check *check, const char *path, const char *target,
		       const struct stat *status)
{
	if (S_ISLNK(status->st_mode) && !target)
		return error_with(check->err, ERROR_REFUSED,
				  "the symlink '%s' cannot be followed, perhaps because it leads "
				  "through too many others",
				  path);
	return check_part(path, status, check->uid, check->err);
}

static void pass_entry(void *context, const char *path, const char *target)
{
	struct check *check = context;
	struct stat status;

	if (check->ended)
		return;
	if (lstat(path, &status) == 0)
		check->result = check_entry(check, path, target, &status);
	else if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
		check->ended = true;
	else
		check->result = error_sys(check->err, "examine '%s'", path);
	check->ended |= check->result < 0;
}

int ownership_check(const char *path, uid_t uid, struct error *err)
{
	struct check check = { .uid = uid, .err = err };
	struct symlinks symlinks = { 0 };
	AUTO_FREE char *end = NULL;
	struct stat status;

	pass_entry(&check, "/", NULL);
	end = symlinks_follow(&symlinks, path, pass_entry, &check);
	symlinks_release(&symlinks);
	/* Everything exists: the sticky bit does not help any more. */
	if (!check.ended && lstat(end, &status) == 0)
		check.result = ownership_check_one(end, &status, uid, err);
	return check.result;
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
