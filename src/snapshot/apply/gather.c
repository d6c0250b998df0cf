/*
 * Collects the files of a work tree. This does not use dirwalk, because the ignore rules of a
 * folder hold for everything below it.
 */
#include "snapshot/apply/gather.h"

#include "snapshot/apply/delta.h"
#include "snapshot/apply/lfs_work.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/look/look.h"
#include "snapshot/look/look_walk.h"
#include "snapshot/object/fsck.h"
#include "snapshot/store/stored_name.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16, LARGEST_MIB = 1024, IGNORE_BYTES = 1 << 20 };

struct gathering {
	const struct user_repo *user;
	git_index *old, *new;
	struct stat old_status;
	struct ignore_rules *rules;
	struct lfs_work *lfs;
	struct buffer path;
	size_t files;
	struct error *err;
};

static int store_link(struct gathering *at, int folder, const char *name, git_oid *ret_id)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(folder, name, target, sizeof target);

	return n < 0 ? 1
	       : git_blob_create_from_buffer(ret_id, at->user->repository, target, (size_t)n) < 0
		       ? libgit_error("store a symlink", at->err)
		       : 0;
}

/* Checks a file that git itself reads before it is stored in the repository. */
static int check_special(struct gathering *at, int fd, const char *name)
{
	const struct fsck_link link = { .modules = fsck_is_modules(name),
					.attributes = fsck_is_attributes(name) };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FSCK_ATTRIBUTES_BYTES);
	struct error why;

	if (!link.modules && !link.attributes)
		return 0;
	if (fd_read_all(fd, &text) < 0)
		return error_sys(at->err, "read '%s'", buffer_text(&at->path));
	if (fsck_special(&link, text.data ? text.data : "", text.used, &why) < 0)
		return error_set(at->err, "'%s' cannot be committed: it is %s",
				 buffer_text(&at->path), why.text);
	return lseek(fd, 0, SEEK_SET) < 0 ? error_sys(at->err, "read '%s'", name) : 0;
}

/* Stores the pointer of a file in Git LFS, and its content in the store. */
static int store_pointer(struct gathering *at, int fd, git_oid *ret_id)
{
	char text[LFS_POINTER_BYTES];
	size_t size;

	if (lfs_work_clean(at->user, fd, text, &size, at->err) < 0)
		return -1;
	return git_blob_create_from_buffer(ret_id, at->user->repository, text, size) < 0
		       ? libgit_error("store a pointer of Git LFS", at->err)
		       : 0;
}

/*
 * Stores the bytes of a file. Returns 0, 1 if it cannot be read and is skipped, or -1 with err set.
 */
static int store_file(struct gathering *at, int folder, const char *name, git_oid *ret_id)
{
	AUTO_FD fd = openat(folder, name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AUTO_FREE char *room = mem_alloc(PIECE);
	git_writestream *stream = NULL;
	struct stat status;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return 1;
	if (status.st_size >> 20 > LARGEST_MIB)
		return error_set(at->err, "'%s' is larger than %d MiB, too large for a commit",
				 buffer_text(&at->path), LARGEST_MIB);
	if (check_special(at, fd, name) < 0)
		return -1;
	if (lfs_work_has(at->lfs, buffer_text(&at->path)))
		return store_pointer(at, fd, ret_id);
	if (git_blob_create_from_stream(&stream, at->user->repository, NULL) < 0)
		return libgit_error("store a file", at->err);
	while ((n = read(fd, room, PIECE)) > 0)
		if (stream->write(stream, room, (size_t)n) < 0)
			break;
	if (n != 0) {
		stream->free(stream);
		return error_set(at->err, "'%s' could not be stored", buffer_text(&at->path));
	}
	return git_blob_create_from_stream_commit(ret_id, stream) < 0
		       ? libgit_error("store a file", at->err)
		       : 0;
}

static int add_file(struct gathering *at, int folder, const char *name, const struct stat *status,
		    const git_index_entry *was)
{
	git_index_entry entry = { .path = buffer_text(&at->path) };
	int result;

	entry.mode = S_ISLNK(status->st_mode) ? GIT_FILEMODE_LINK
		     : status->st_mode & 0100 ? GIT_FILEMODE_BLOB_EXECUTABLE
					      : GIT_FILEMODE_BLOB;
	if (++at->files > DELTA_MOST)
		return error_set(at->err, "there are more than %d files", DELTA_MOST);
	if (was && was->mode == entry.mode && delta_known(was, status, &at->old_status)) {
		entry.id = was->id;
		result = 0;
	} else {
		result = S_ISLNK(status->st_mode) ? store_link(at, folder, name, &entry.id)
						  : store_file(at, folder, name, &entry.id);
	}
	if (result != 0)
		return result < 0 ? -1 : 0;
	delta_stat(&entry, status);
	return git_index_add(at->new, &entry) < 0 ? libgit_error("add a file", at->err) : 0;
}

static int add_folder(struct gathering *at, int fd, bool tracked_only, int depth);

/* libgit2 could read these itself, but a hostile pattern would keep it busy for years. */
static void add_rules(struct gathering *at, int fd)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(IGNORE_BYTES);

	if (fd_read_file(fd, ".gitignore", &text) == 0)
		ignore_rules_add(at->rules, buffer_text(&at->path), text.data, text.used);
}

static int add_subfolder(struct gathering *at, int folder, const char *name, bool tracked_only,
			 int depth)
{
	AUTO_FREE char *below = mem_format("%s/", buffer_text(&at->path));
	bool ignored = tracked_only || ignore_rules_match(at->rules, buffer_text(&at->path), true);
	AUTO_FD fd = -1;
	size_t place;

	/* Tracked files are never ignored. */
	if (ignored && git_index_find_prefix(&place, at->old, below) < 0)
		return 0;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? 0 : add_folder(at, fd, ignored, depth + 1);
}

static int add_entry(struct gathering *at, int folder, const char *name, bool tracked_only,
		     int depth)
{
	const char *path = buffer_text(&at->path);
	const git_index_entry *was = git_index_get_bypath(at->old, path, 0);
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(status.st_mode) && was && was->mode == GIT_FILEMODE_COMMIT)
		return 0; /* a submodule is unchanged: see keep_absent() */
	if (S_ISDIR(status.st_mode))
		return add_subfolder(at, folder, name, tracked_only, depth);
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
		return 0;
	if (!was && (tracked_only || ignore_rules_match(at->rules, path, false)))
		return 0;
	return add_file(at, folder, name, &status, was);
}

static int add_folder(struct gathering *at, int fd, bool tracked_only, int depth)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	size_t used = at->path.used;
	int result = 0;

	if (depth > NODE_DEEPEST)
		result = error_set(at->err, "'%s' is nested more than %d folders deep",
				   buffer_text(&at->path), NODE_DEEPEST);
	add_rules(at, fd);
	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    stored_name_is_git(entry->d_name) || fsck_is_dotgit(entry->d_name) ||
		    (depth == 0 && strcmp(entry->d_name, LOOK_WALK_STAGE) == 0))
			continue;
		node_path_add(&at->path, entry->d_name);
		result = add_entry(at, fd, entry->d_name, tracked_only, depth);
		node_path_cut(&at->path, used);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Reads the ignore rules of the repository and of the user. */
static struct ignore_rules *read_rules(const struct user_repo *user)
{
	AUTO_FREE char *path = path_join(user->common, "info/exclude");
	AUTO_BUFFER struct buffer text = BUFFER_INIT(IGNORE_BYTES);
	AUTO_FD file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct ignore_rules *rules = ignore_rules_new();

	look_add_user_rules(rules);
	if (file >= 0 && fd_read_all(file, &text) == 0)
		ignore_rules_add(rules, "", text.data, text.used);
	return rules;
}

/* Entries that are deliberately not in the work tree stay in the tree. */
static int keep_absent(struct gathering *at)
{
	for (size_t i = 0; i < git_index_entrycount(at->old); i++) {
		const git_index_entry *entry = git_index_get_byindex(at->old, i);

		if ((entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE ||
		     entry->mode == GIT_FILEMODE_COMMIT) &&
		    !git_index_get_bypath(at->new, entry->path, 0) &&
		    git_index_add(at->new, entry) < 0)
			return libgit_error("copy an index entry", at->err);
	}
	return 0;
}

int gather_tree(const struct user_repo *user, git_oid *ret_tree,
		struct memory_objects **ret_objects, struct error *err)
{
	AUTO_FREE char *path = path_join(user->git, USER_REPO_NEW_INDEX);
	struct gathering at = { .user = user, .path = BUFFER_INIT(NODE_PATH_MAX), .err = err };
	int result = 0;

	at.rules = read_rules(user);
	at.lfs = lfs_work_new(user, NULL);
	user_repo_clear_index(user);
	libgit_sync(false);
	if (fstatat(user->git_fd, "index", &at.old_status, 0) < 0 && errno != ENOENT)
		result = error_sys(err, "stat '%s/index'", user->git);
	if (result == 0 && (git_repository_index(&at.old, user->repository) < 0 ||
			    git_index_open(&at.new, path) < 0))
		result = libgit_error("read the index", err);
	if (result == 0)
		result = add_folder(&at, user->work_fd, false, 0);
	if (result == 0)
		result = keep_absent(&at);
	if (result == 0)
		result = memory_objects_begin(user->repository, ret_objects, err);
	if (result == 0 && git_index_write_tree_to(ret_tree, at.new, user->repository) < 0)
		result = libgit_error("write a tree", err);
	fault_point();
	if (result == 0 && git_index_write(at.new) < 0)
		result = libgit_error("write the new index", err);
	libgit_sync(true);
	git_index_free(at.old);
	git_index_free(at.new);
	ignore_rules_free(at.rules);
	lfs_work_free(at.lfs);
	buffer_release(&at.path);
	return result;
}
