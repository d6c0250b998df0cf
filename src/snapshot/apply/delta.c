/* Changes from one tree to another. */
#include "snapshot/apply/delta.h"

#include "snapshot/apply/lfs_work.h"
#include "snapshot/base/libgit.h"
#include "snapshot/look/look_walk.h"
#include "snapshot/store/sha1.h"
#include "snapshot/store/stored_name.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* ---- listing changes ---- */

static bool is_safe(const char *path)
{
	bool first = true;

	while (*path) {
		size_t size = strcspn(path, "/");
		AUTO_FREE char *name = strndup(path, size);

		if (!size || !name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    stored_name_is_git(name) || (first && strcmp(name, LOOK_WALK_STAGE) == 0))
			return false;
		path += size;
		if (*path == '/' && !*++path)
			return false;
		first = false;
	}
	return !first;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct delta *)a)->path, ((const struct delta *)b)->path);
}

static int add(struct delta_set *deltas, const git_diff_delta *found, struct error *err)
{
	const char *path = found->new_file.path ? found->new_file.path : found->old_file.path;
	struct delta delta = { .old = found->old_file.id, .new = found->new_file.id };

	if (!is_safe(path))
		return error_set(err, "the loop's branch has an unsafe path: '%.200s'", path);
	delta.old_mode = found->status == GIT_DELTA_ADDED ? 0 : found->old_file.mode;
	delta.new_mode = found->status == GIT_DELTA_DELETED ? 0 : found->new_file.mode;
	delta.path = mem_dup(path);
	deltas->items = mem_resize(deltas->items, deltas->count + 1, sizeof *deltas->items);
	deltas->items[deltas->count++] = delta;
	return 0;
}

int delta_list(git_repository *repository, const git_oid *old, const git_oid *new,
	       struct delta_set *ret_deltas, struct error *err)
{
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	git_tree *left = NULL;
	git_tree *right = NULL;
	git_diff *diff = NULL;
	int result = 0;

	*ret_deltas = (struct delta_set){ .old = *old, .new = *new };
	options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
	if ((!git_oid_is_zero(old) && git_tree_lookup(&left, repository, old) < 0) ||
	    git_tree_lookup(&right, repository, new) < 0 ||
	    git_diff_tree_to_tree(&diff, repository, left, right, &options) < 0)
		result = libgit_error("compare the trees", err);
	if (result == 0 && git_diff_num_deltas(diff) > DELTA_MOST)
		result = error_set(err, "more than %d files change", DELTA_MOST);
	for (size_t i = 0; result == 0 && i < git_diff_num_deltas(diff); i++)
		result = add(ret_deltas, git_diff_get_delta(diff, i), err);
	git_diff_free(diff);
	git_tree_free(left);
	git_tree_free(right);
	if (ret_deltas->count)
		qsort(ret_deltas->items, ret_deltas->count, sizeof *ret_deltas->items, by_path);
	return result;
}

void delta_release(struct delta_set *deltas)
{
	for (size_t i = 0; i < deltas->count; i++) {
		free(deltas->items[i].path);
		free(deltas->items[i].old_lfs);
		free(deltas->items[i].new_lfs);
	}
	free(deltas->items);
	*deltas = (struct delta_set){ 0 };
}

static const struct delta *find(const struct delta_set *deltas, const char *path)
{
	struct delta wanted = { .path = (char *)path };

	return deltas->count ? bsearch(&wanted, deltas->items, deltas->count, sizeof *deltas->items,
				       by_path)
			     : NULL;
}

static bool is_deleted(const struct delta_set *deltas, const char *path)
{
	const struct delta *delta = find(deltas, path);

	return delta && !delta->new_mode;
}

/* ---- the work tree ---- */

int delta_folder(int root, const char *path, bool make, const char **ret_name)
{
	AUTO_FD at = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		AUTO_FREE char *name = strndup(path, (size_t)(slash - path));
		int next;

		if (make && mkdirat(at, name, 0777) < 0 && errno != EEXIST)
			return -1;
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(&at);
		at = next;
		path = slash + 1;
	}
	*ret_name = path;
	return fd_steal(&at);
}

/* Computes the id that git gives these bytes. */
static int hash_file(int fd, off_t size, git_oid *ret_id)
{
	AUTO_FREE char *room = mem_alloc(PIECE);
	struct sha1 sha1;
	char head[64];
	off_t total = 0;
	ssize_t n;

	sha1_init(&sha1);
	sha1_add(&sha1, head,
		 (size_t)snprintf(head, sizeof head, "blob %lld", (long long)size) + 1);
	while ((n = read(fd, room, PIECE)) > 0) {
		sha1_add(&sha1, room, (size_t)n);
		total += n;
	}
	sha1_end(&sha1, ret_id->id);
	return n < 0 || total != size ? -1 : 0;
}

static int open_file(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int hash_entry(int folder, const char *name, const struct stat *status, git_oid *ret_id)
{
	char target[PATH_MAX];
	struct stat now;

	if (S_ISLNK(status->st_mode)) {
		ssize_t n = readlinkat(folder, name, target, sizeof target);

		return n < 0 ? -1 : git_odb_hash(ret_id, target, (size_t)n, GIT_OBJECT_BLOB);
	}

	AUTO_FD fd = open_file(folder, name);

	return fd < 0 || fstat(fd, &now) < 0 || !S_ISREG(now.st_mode)
		       ? -1
		       : hash_file(fd, now.st_size, ret_id);
}

/* If so, the file has the content in the index, even if a filter changed its bytes. */
bool delta_known(const git_index_entry *entry, const struct stat *status, const struct stat *index)
{
	if (!entry || entry->file_size != (uint32_t)status->st_size ||
	    entry->mtime.seconds != (int32_t)status->st_mtim.tv_sec ||
	    entry->mtime.nanoseconds != (uint32_t)status->st_mtim.tv_nsec ||
	    entry->ino != (uint32_t)status->st_ino)
		return false;
	/* A file with the timestamp of the index may have changed since. */
	return status->st_mtim.tv_sec < index->st_mtim.tv_sec ||
	       (status->st_mtim.tv_sec == index->st_mtim.tv_sec &&
		status->st_mtim.tv_nsec < index->st_mtim.tv_nsec);
}

void delta_stat(git_index_entry *entry, const struct stat *status)
{
	entry->ctime.seconds = (int32_t)status->st_ctim.tv_sec;
	entry->ctime.nanoseconds = (uint32_t)status->st_ctim.tv_nsec;
	entry->mtime.seconds = (int32_t)status->st_mtim.tv_sec;
	entry->mtime.nanoseconds = (uint32_t)status->st_mtim.tv_nsec;
	entry->dev = (uint32_t)status->st_dev;
	entry->ino = (uint32_t)status->st_ino;
	entry->uid = status->st_uid;
	entry->gid = status->st_gid;
	entry->file_size = (uint32_t)status->st_size;
}

/* Has a file the content of this pointer? */
static bool has_content(int folder, const char *name, const struct stat *status,
			const struct lfs_pointer *pointer)
{
	AUTO_FD fd = pointer && S_ISREG(status->st_mode) &&
				     (uint64_t)status->st_size == pointer->size
			     ? open_file(folder, name)
			     : -1;

	return fd >= 0 && lfs_work_matches(fd, pointer);
}

/* Is a blob a pointer of Git LFS, and the file its content? */
static bool is_content(git_repository *repository, const git_oid *id, int folder, const char *name,
		       const struct stat *status)
{
	struct lfs_pointer pointer;

	return lfs_work_read(repository, id, &pointer) &&
	       has_content(folder, name, status, &pointer);
}

bool delta_is_there(const struct user_repo *user, const git_index_entry *entry,
		    const struct stat *written)
{
	const char *name;
	struct stat status;
	git_oid there;

	if (entry->mode == GIT_FILEMODE_COMMIT ||
	    entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE)
		return true;
	if (fstatat(user->work_fd, entry->path, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (delta_known(entry, &status, written))
		return true;

	AUTO_FD folder = delta_folder(user->work_fd, entry->path, false, &name);

	if (folder < 0 || hash_entry(folder, name, &status, &there) < 0)
		return false;
	return git_oid_equal(&there, &entry->id) ||
	       is_content(user->repository, &entry->id, folder, name, &status);
}

struct looking {
	const struct user_repo *user;
	git_index *index;
	struct stat index_status;
	bool modes; /* core.fileMode */
	bool leave;
	const struct delta_set *deltas;
	struct lfs_work *old_lfs, *new_lfs;
	struct list *trouble;
	size_t troubles;
};

static void find_lfs(struct looking *at, struct delta *delta)
{
	if (S_ISREG(delta->old_mode))
		lfs_work_pointer(at->old_lfs, delta->path, &delta->old, &delta->old_lfs);
	if (S_ISREG(delta->new_mode))
		lfs_work_pointer(at->new_lfs, delta->path, &delta->new, &delta->new_lfs);
}

/* Finds the blob that a file stands for: its bytes, or in Git LFS the pointer to them. */
static void identify(const struct delta *delta, int folder, const char *name, git_oid *ret_id)
{
	if (hash_entry(folder, name, &delta->seen, ret_id) < 0)
		memset(ret_id, 0, sizeof *ret_id);
	if (git_oid_equal(ret_id, &delta->new) || git_oid_equal(ret_id, &delta->old))
		return;
	if (has_content(folder, name, &delta->seen, delta->new_lfs))
		*ret_id = delta->new;
	else if (has_content(folder, name, &delta->seen, delta->old_lfs))
		*ret_id = delta->old;
}

static bool matches(const struct looking *at, const struct stat *status, const git_oid *there,
		    const git_oid *id, uint32_t mode)
{
	if (!mode || !git_oid_equal(there, id))
		return false;
	if (mode == GIT_FILEMODE_LINK || S_ISLNK(status->st_mode))
		return mode == GIT_FILEMODE_LINK && S_ISLNK(status->st_mode);
	return !at->modes || (mode == GIT_FILEMODE_BLOB_EXECUTABLE) == !!(status->st_mode & 0100);
}

/* Adds "before PATH middle OTHER". */
static void add_obstacle(struct looking *at, const char *before, const char *path,
			 const char *middle, const char *other)
{
	if (++at->troubles <= DELTA_TOLD)
		list_printf(at->trouble, "%s%s%s%s", before, path, middle, other);
}

/* A search for the user's files in a folder. */
struct own {
	const struct looking *at;
	const char *path;
	char *found;
};

static enum dirwalk_verdict find_entry(void *context, const struct dirwalk_entry *entry)
{
	struct own *own = context;
	AUTO_FREE char *path = path_join(own->path, entry->path);

	if (is_deleted(own->at->deltas, path))
		return DIRWALK_PAST;
	if (entry->type == DT_DIR && !entry->closed)
		return DIRWALK_ON;
	own->found = mem_dup(path);
	return DIRWALK_STOP;
}

/*
 * Returns a file of the user's in a folder that prevents its replacement by a file, or NULL. The
 * caller frees it.
 */
static char *find_own(const struct looking *at, int folder, const char *name, const char *path)
{
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct own own = { .at = at, .path = path };
	const struct dirwalk walk = { .visit = find_entry,
				      .context = &own,
				      .deepest = NODE_DEEPEST };
	struct error ignored;

	/* An unreadable folder counts as the user's. */
	if ((fd < 0 || dirwalk_tree(&walk, fd, NULL, &ignored) < 0) && !own.found)
		return mem_dup(path);
	return own.found;
}

/* Returns the first component of a path that is not a folder, or NULL. The caller frees it. */
static char *find_blocking(const struct looking *at, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		AUTO_FREE char *above = strndup(path, (size_t)(slash - path));
		const char *name;
		AUTO_FD folder = delta_folder(at->user->work_fd, above, false, &name);
		struct stat status;

		if (folder < 0 || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			return NULL;
		if (!S_ISDIR(status.st_mode))
			return mem_dup(above);
	}
	return NULL;
}

/* The path does not exist, or one of its parents is not a folder. */
static enum delta_place classify_absent(struct looking *at, struct delta *delta)
{
	AUTO_FREE char *above = find_blocking(at, delta->path);

	delta->absent = true;
	if (!delta->new_mode)
		return DELTA_NEW;
	if (above && !is_deleted(at->deltas, above)) {
		add_obstacle(at, "", above, " is in the way of ", delta->path);
		return DELTA_OTHER;
	}
	if (!delta->old_mode)
		return DELTA_OLD;
	if (!at->leave)
		add_obstacle(at, "you have deleted ", delta->path, ", which the loop changed", "");
	return DELTA_OTHER;
}

static enum delta_place classify_folder(struct looking *at, const struct delta *delta, int folder,
					const char *name)
{
	AUTO_FREE char *own = NULL;

	if (!delta->new_mode) /* the user's folder, not ours */
		return DELTA_NEW;
	own = find_own(at, folder, name, delta->path);
	if (!own)
		return DELTA_OLD;
	add_obstacle(at, "", own, " is in the way of ", delta->path);
	return DELTA_OTHER;
}

static enum delta_place classify(struct looking *at, struct delta *delta,
				 const git_index_entry *entry)
{
	const char *name;
	AUTO_FD folder = delta_folder(at->user->work_fd, delta->path, false, &name);
	git_oid there;

	if ((entry && entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) ||
	    delta->new_mode == GIT_FILEMODE_COMMIT ||
	    (delta->old_mode == GIT_FILEMODE_COMMIT && !delta->new_mode))
		return DELTA_APART;
	if (folder < 0 || fstatat(folder, name, &delta->seen, AT_SYMLINK_NOFOLLOW) < 0)
		return classify_absent(at, delta);
	if (S_ISDIR(delta->seen.st_mode))
		return classify_folder(at, delta, folder, name);
	if (delta_known(entry, &delta->seen, &at->index_status))
		there = entry->id;
	else
		identify(delta, folder, name, &there);
	if (matches(at, &delta->seen, &there, &delta->new, delta->new_mode))
		return DELTA_NEW;
	if (matches(at, &delta->seen, &there, &delta->old, delta->old_mode))
		return DELTA_OLD;
	if (at->leave && S_ISREG(delta->seen.st_mode))
		return DELTA_OTHER;
	if (delta->old_mode)
		add_obstacle(at, "you have changed ", delta->path, ", which the loop also changed",
			     "");
	else
		add_obstacle(at, "", delta->path,
			     " is in the way: you have an uncommitted file of that name", "");
	return DELTA_OTHER;
}

/* ---- the index ---- */

static bool index_matches(const git_index_entry *entry, const git_oid *id, uint32_t mode)
{
	return mode ? entry && entry->mode == mode && git_oid_equal(&entry->id, id) : !entry;
}

/* Reports whether an entry that exists only in the index prevents a new file or folder. */
static bool collides(struct looking *at, const struct delta *delta)
{
	AUTO_FREE char *below = mem_format("%s/", delta->path);
	size_t place;

	for (const char *slash = delta->path; (slash = strchr(slash, '/')); slash++) {
		AUTO_FREE char *above = strndup(delta->path, (size_t)(slash - delta->path));

		if (!above || is_deleted(at->deltas, above) ||
		    !git_index_get_bypath(at->index, above, 0))
			continue;
		add_obstacle(at, "you have staged ", above, ", which is in the way of ",
			     delta->path);
		return true;
	}
	if (git_index_find_prefix(&place, at->index, below) < 0)
		return false;
	for (; place < git_index_entrycount(at->index); place++) {
		const git_index_entry *entry = git_index_get_byindex(at->index, place);

		if (strncmp(entry->path, below, strlen(below)) != 0)
			break;
		if (is_deleted(at->deltas, entry->path))
			continue;
		add_obstacle(at, "you have staged ", entry->path, ", which is in the way of ",
			     delta->path);
		return true;
	}
	return false;
}

static enum delta_place classify_index(struct looking *at, const struct delta *delta,
				       const git_index_entry *entry)
{
	if (delta->new_mode && collides(at, delta))
		return DELTA_OTHER;
	if (index_matches(entry, &delta->new, delta->new_mode))
		return DELTA_NEW;
	if (index_matches(entry, &delta->old, delta->old_mode))
		return DELTA_OLD;
	add_obstacle(at, "you have staged another version of ", delta->path, "", "");
	return DELTA_OTHER;
}

int delta_classify(const struct user_repo *user, git_index *index, bool leave,
		   struct delta_set *deltas, struct list *ret_trouble, struct error *err)
{
	struct looking at = { .user = user,
			      .index = index,
			      .leave = leave,
			      .modes = true,
			      .deltas = deltas,
			      .trouble = ret_trouble };
	git_config *config = NULL;
	int modes;

	if (git_repository_config(&config, user->repository) == 0 &&
	    git_config_get_bool(&modes, config, "core.filemode") == 0)
		at.modes = modes;
	git_config_free(config);
	if (fstatat(user->git_fd, "index", &at.index_status, 0) < 0 && errno != ENOENT)
		return error_sys(err, "stat '%s/index'", user->git);
	at.old_lfs = lfs_work_new(user, &deltas->old);
	at.new_lfs = lfs_work_new(user, &deltas->new);
	for (size_t i = 0; i < deltas->count; i++) {
		struct delta *delta = &deltas->items[i];
		const git_index_entry *entry = git_index_get_bypath(index, delta->path, 0);

		find_lfs(&at, delta);
		delta->listed = classify_index(&at, delta, entry);
		delta->place = classify(&at, delta, entry);
	}
	lfs_work_free(at.old_lfs);
	lfs_work_free(at.new_lfs);
	if (at.troubles > DELTA_TOLD)
		list_printf(ret_trouble, "and %zu more", at.troubles - DELTA_TOLD);
	return 0;
}

/* ---- before each change ---- */

bool delta_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool delta_untouched(const struct delta *delta, int folder, const char *name)
{
	const struct stat *seen = &delta->seen;
	struct stat now;

	if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return delta->absent || S_ISDIR(seen->st_mode);
	if (delta->absent)
		return S_ISDIR(now.st_mode); /* its contents were checked */
	return S_ISDIR(now.st_mode) || delta_same(&now, seen);
}

static enum dirwalk_verdict enter_folder(void *context, const struct dirwalk_entry *entry)
{
	(void)context;
	return entry->closed ? DIRWALK_PAST : DIRWALK_ON;
}

static enum dirwalk_verdict remove_empty(void *context, const struct dirwalk_entry *entry)
{
	(void)context;
	unlinkat(entry->folder, entry->name, AT_REMOVEDIR);
	return DIRWALK_ON;
}

void delta_remove_empty_folders(int folder, const char *name)
{
	const struct dirwalk walk = { .visit = enter_folder,
				      .leave = remove_empty,
				      .deepest = NODE_DEEPEST };
	AUTO_FD fd = -1;
	struct error ignored;

	if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && dirwalk_tree(&walk, fd, NULL, &ignored) == 0)
		unlinkat(folder, name, AT_REMOVEDIR);
}
