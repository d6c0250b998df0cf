/* Private git directories. */
#include "snapshot/git/private_git.h"

#include "snapshot/base/fault.h"
#include "snapshot/object/refs.h"
#include "util/file/dirwalk.h"
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

#define TEMPORARY "git.draft"

static int write_file(int folder, const char *name, const char *bytes, size_t size,
		      struct error *err)
{
	return fd_replace_file(folder, name, bytes, size, 0600) < 0
		       ? error_sys(err, "write '%s' in the private git directory", name)
		       : 0;
}

/*
 * Copies keep the modification time: git rereads files that changed at or after the time of the
 * index.
 */
static int copy_time(int to, const struct stat *status)
{
	return futimens(to, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, status->st_mtim });
}

/* Copies a file, if it exists. The kernel shares blocks where possible. */
static int copy_file(const char *folder, const char *name, int target, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	AUTO_FD to = -1;
	struct stat status;
	char chunk[1 << 16];
	ssize_t n = 0;

	if (from < 0 || fstat(from, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	to = openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return error_sys(err, "copy '%s'", path);
	for (off_t left = status.st_size; left > 0; left -= n) {
		n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
		if (n <= 0)
			break;
	}
	while (n >= 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
	       errno == EOPNOTSUPP) {
		n = read(from, chunk, sizeof chunk);
		if (n == 0)
			n = copy_time(to, &status);
		if (n == 0)
			return 0;
		if (n < 0 || fd_write_all(to, chunk, (size_t)n) < 0)
			break;
	}
	return error_sys(err, "copy '%s'", path);
}

/* Copies the index, and the shared index it may be split from. */
static int copy_index(const struct borrow *borrow, int git, struct error *err)
{
	DIR *dir = opendir(borrow->git);
	int result = copy_file(borrow->git, "index", git, err);

	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));)
		if (strncmp(entry->d_name, "sharedindex.", 12) == 0)
			result = copy_file(borrow->git, entry->d_name, git, err);
	if (dir)
		closedir(dir);
	return result;
}

/* A symbolic ref cannot be packed. */
static int write_symbolic(int git, const struct refs_entry *ref, struct error *err)
{
	AUTO_FREE char *text = mem_format("ref: %s\n", ref->target);
	AUTO_FREE char *above = strndup(ref->name, (size_t)(path_name(ref->name) - ref->name));
	AUTO_FD folder = -1;

	if (refs_make_folders(git, ref->name, 0700) < 0)
		return error_sys(err, "create '%s' in the private git directory", above);
	folder = openat(git, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_sys(err, "open '%s' in the private git directory", above);
	return write_file(folder, path_name(ref->name), text, strlen(text), err);
}

static int write_refs(const struct borrow *borrow, int git, int own, struct error *err)
{
	AUTO_BUFFER struct buffer packed = BUFFER_INIT(128 << 20);
	AUTO_FD common = open(borrow->common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD home = open(borrow->git, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	struct refs refs = { 0 };
	struct refs_entry head = { 0 };
	int result = -1;

	if (common < 0 || home < 0)
		error_sys(err, "open the repository '%s'", borrow->git);
	else if (refs_read(common, &refs, err) == 0) {
		refs_set(&refs, "refs/stash", NULL, err); /* the stash is private to the user */
		refs_write(&refs, &packed);
		result = refs_head(home, &head)
				 ? 0
				 : error_set(err, "the HEAD of '%s' cannot be read", borrow->git);
	}
	for (size_t i = 0; result == 0 && i < refs.count; i++)
		if (refs.items[i].target)
			result = write_symbolic(git, &refs.items[i], err);
	if (result == 0) {
		text = head.target ? mem_format("ref: %s\n", head.target)
				   : mem_format("%s\n", head.hex);
		result = write_file(git, "packed-refs", packed.data, packed.used, err) < 0 ||
					 write_file(own, "base", packed.data, packed.used, err) <
						 0 ||
					 write_file(git, "HEAD", text, strlen(text), err) < 0
				 ? -1
				 : 0;
	}
	free(head.target);
	refs_release(&refs);
	return result;
}

static int write_alternates(const struct borrow *borrow, int git, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	AUTO_FD info = openat(git, "objects/info", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < borrow->lenders.count; i++)
		buffer_printf(&text, PRIVATE_GIT_OBJECTS "/%zu\n", i);
	return write_file(info, "alternates", text.data, text.used, err);
}

static int fill(const struct borrow *borrow, int git, int own, struct error *err)
{
	static const char *const folders[] = {
		"objects",    "objects/info", "objects/pack", "refs",
		"refs/heads", "refs/tags",    "info",         "hooks"
	};
	static const char *const commons[] = { "info/exclude", "info/attributes", "shallow" };
	AUTO_FREE char *file = mem_format("gitdir: %s\n", PRIVATE_GIT_PLACE);

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (mkdirat(git, folders[i], 0700) < 0)
			return error_sys(err, "create '%s' in the private git directory",
					 folders[i]);
	for (size_t i = 0; i < sizeof commons / sizeof *commons; i++)
		if (copy_file(borrow->common, commons[i], git, err) < 0)
			return -1;
	if (copy_file(borrow->git, "info/sparse-checkout", git, err) < 0 ||
	    copy_index(borrow, git, err) < 0 || write_alternates(borrow, git, err) < 0 ||
	    write_file(git, "config", borrow->config.data, borrow->config.used, err) < 0 ||
	    write_file(own, "file", file, strlen(file), err) < 0 ||
	    write_file(own, "none", "", 0, err) < 0)
		return -1;
	return write_refs(borrow, git, own, err);
}

static bool is_folder(int above, const char *name)
{
	struct stat status;

	return fstatat(above, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/*
 * Creates the mount point for git directories of submodules. Anything else that the agent put there
 * is removed.
 */
static int make_modules(const struct borrow *borrow, int folder, struct error *err)
{
	if (!borrow->modules || borrow->is_file || is_folder(folder, "git/modules"))
		return 0;
	if ((unlinkat(folder, "git/modules", 0) < 0 && errno != ENOENT) ||
	    mkdirat(folder, "git/modules", 0700) < 0)
		return error_sys(err, "create 'modules' in the private git directory");
	return 0;
}

int private_git_make(const char *folder, const struct borrow *borrow, struct error *err)
{
	AUTO_FD above = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD git = -1;
	AUTO_FD own = -1;

	if (above < 0)
		return error_sys(err, "open '%s'", folder);
	if (is_folder(above, "git"))
		return make_modules(borrow, above, err);
	dirwalk_remove(above, TEMPORARY, NULL);
	fault_point();
	if ((mkdirat(above, "git-own", 0700) < 0 && errno != EEXIST) ||
	    mkdirat(above, TEMPORARY, 0700) < 0)
		return error_sys(err, "create a private git directory in '%s'", folder);
	git = openat(above, TEMPORARY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own = openat(above, "git-own", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git < 0 || own < 0)
		return error_sys(err, "open the private git directory in '%s'", folder);
	fault_point();
	if (fill(borrow, git, own, err) < 0)
		return -1;
	fault_point();
	if (renameat(above, TEMPORARY, above, "git") < 0)
		return error_sys(err, "rename the private git directory into place");
	fault_point();
	return make_modules(borrow, above, err);
}

static void write_cover(struct json *json, const char *path, const char *source, bool writable)
{
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_text(json, "source", source);
	json_flag(json, "writable", writable);
	json_close(json);
}

void private_git_write_covers(const char *folder, const char *project, const struct borrow *borrow,
			      struct json *json)
{
	AUTO_FREE char *git = path_join(folder, "git");
	AUTO_FREE char *file = path_join(folder, "git-own/file");
	AUTO_FREE char *none = path_join(folder, "git-own/none");
	AUTO_FREE char *place = path_join(project, ".git");
	AUTO_FREE char *modules = path_join(borrow->git, "modules");

	json_open(json, "covers", '[');
	if (borrow->is_file)
		write_cover(json, place, file, false);
	write_cover(json, borrow->is_file ? PRIVATE_GIT_PLACE : place, git, true);
	if (borrow->modules)
		write_cover(json, modules, modules, false);
	for (size_t i = 0; i < borrow->lenders.count; i++) {
		AUTO_FREE char *shown = mem_format(PRIVATE_GIT_OBJECTS "/%zu", i);
		AUTO_FREE char *inner = path_join(shown, "info/alternates");
		AUTO_FREE char *list = path_join(borrow->lenders.items[i], "info/alternates");

		write_cover(json, shown, borrow->lenders.items[i], false);
		if (access(list, F_OK) == 0)
			write_cover(json, inner, none, false);
	}
	json_close(json);
}
