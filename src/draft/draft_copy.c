/*
 * Drafts that are copies of the project: they work wherever a folder can be mounted on another.
 *
 * The copy is made under another name and renamed when it is on the disk, so a copy that was
 * interrupted, also by a power cut, is never used.
 */
#include "draft/copied.h"
#include "draft/draft_kind.h"
#include "draft/draft_layer.h"
#include "draft/tree_copy.h"
#include "draft/tree_pins.h"
#include "util/file/dirwalk.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILES   "files"
#define PARTIAL "files.partial"
#define RECORD  "copied"

/* ---- making a copy ---- */

/* Refuses a copy that is too large, before it begins. */
static int check_size(const struct draft_request *request, const struct tree_copy *copy,
		      struct error *err)
{
	AUTO_FREE char *size = text_size(copy->all_bytes);
	struct statvfs disk;

	if (request->most_bytes && copy->all_bytes > request->most_bytes) {
		AUTO_FREE char *most = text_size(request->most_bytes);

		return error_with(err, ERROR_REFUSED,
				  "a draft of '%s' is a copy of %s here, and the limit is %s (see: "
				  "ringfence doctor; or set --draft-size)",
				  request->view.project, size, most);
	}
	if (fstatvfs(copy->to, &disk) < 0)
		return error_sys(err, "examine '%s'", request->view.folder);
	/* Some file systems report no sizes. */
	if (disk.f_blocks && copy->all_bytes / disk.f_frsize >= disk.f_bavail) {
		AUTO_FREE char *left = text_size((uint64_t)disk.f_bavail * disk.f_frsize);

		return error_with(err, ERROR_NO_SPACE,
				  "a draft of '%s' is a copy of %s here, and '%s' has only %s free",
				  request->view.project, size, request->view.folder, left);
	}
	return 0;
}

static bool is_hidden(void *context, const char *path, bool is_folder)
{
	const struct draft_request *request = context;
	AUTO_FREE char *whole = path_join(request->view.project, path);

	return request->hides && request->hides(request->hides_context, whole, is_folder);
}

/* Returns the folder that is copied: the project, or the draft below. */
static char *find_source(const struct draft_view *view, struct error *err)
{
	const struct draft_kind *over = view->over ? draft_kind_of(view->over, err) : NULL;

	if (!view->over)
		return mem_dup(view->project);
	if (over && over->layered)
		error_with(err, ERROR_REFUSED,
			   "the changes in '%s' cannot be copied without the project", view->over);
	return over && !over->layered ? path_join(view->over, over->mark) : NULL;
}

static int copy_project(const struct draft_request *request, int folder, int to,
			struct tree_copy *ret_copy, struct error *err)
{
	AUTO_FREE char *source = find_source(&request->view, err);
	AUTO_FD from = source ? open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct tree_copy copy = { .from = from,
				  .to = to,
				  .progress = request->progress,
				  .progress_context = request->progress_context,
				  .empties = is_hidden,
				  .empties_context = (void *)request };
	struct stat own;
	int result;

	if (!source)
		return -1;
	if (from < 0 || fstat(folder, &own) < 0)
		return error_sys(err, "open '%s'", source);
	copy.omitted_device = own.st_dev;
	copy.omitted_inode = own.st_ino;
	result = tree_copy_measure(&copy, err) < 0 || check_size(request, &copy, err) < 0
			 ? -1
			 : tree_copy_run(&copy, err);
	*ret_copy = copy;
	return result;
}

static int record_copy(const struct tree_copy *copy, int folder, struct error *err)
{
	const struct copied_request request = { .tree = copy->to,
						.emptied = copy->emptied,
						.emptied_count = copy->emptied_count };

	return copied_write(&request, folder, RECORD, err);
}

/* Waits until a change of a file gets another time than its copy has. */
static void pass_tick(void)
{
	const struct timespec tick = { .tv_nsec = 20 * 1000 * 1000 };

	nanosleep(&tick, NULL);
}

static int complete(const struct draft_request *request, int folder, struct error *err)
{
	int result;

	if (request->brief) {
		result = renameat(folder, PARTIAL, folder, FILES);
	} else {
		pass_tick();
		result = durable_name_folder(folder, PARTIAL, FILES);
	}
	return result < 0 ? error_sys(err, "complete the draft '%s'", request->view.folder) : 0;
}

int draft_copy_prepare(const struct draft_request *request, struct draft_made *made,
		       struct error *err)
{
	AUTO_FD folder = open(request->view.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD to = -1;
	struct tree_copy copy = { 0 };
	int result;

	if (folder >= 0 && mkdirat(folder, PARTIAL, 0700) == 0)
		to = openat(folder, PARTIAL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return error_sys(err, "create the draft '%s'", request->view.folder);
	result = copy_project(request, folder, to, &copy, err);
	if (result == 0 && !request->brief)
		result = record_copy(&copy, folder, err);
	if (result == 0 && request->view.front)
		result = tree_pins_copy(request->view.front, to, err);
	free(copy.emptied);
	if (result < 0)
		return -1;
	made->left_out = copy.left_out;
	return complete(request, folder, err);
}

/* ---- beginning with the changes of another copy ---- */

static int seed_folder(const struct draft_layer *from, int to, uint64_t *left_out,
		       struct error *err);

/* Reports whether an entry, or one below it, is empty because the fence hides its content. Such a
 * file is known by its inode, wherever a command moved it, and another copy would not know it. */
static bool has_emptied(const struct draft_layer *from, int folder, const char *name)
{
	AUTO_FD inner = -1;
	struct stat status;
	DIR *dir;
	bool found = false;

	for (size_t i = 0; fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			   i < from->root->copied.emptied_count;
	     i++)
		if (from->root->copied.emptied[i].inode == status.st_ino)
			return true;
	inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = inner < 0 ? NULL : fdopendir(dup(inner));
	for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			has_emptied(from, inner, entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Makes an entry the same as in the other copy. */
static int seed_own(const struct draft_layer *from, const char *name, int to, uint64_t *left_out,
		    struct error *err)
{
	if (from->root->copied.emptied_count && has_emptied(from, from->folder, name))
		return error_with(err, ERROR_REFUSED,
				  "a hidden file was moved in the draft that this one begins with: "
				  "'%s' has it",
				  name);
	if (dirwalk_remove(to, name, NULL) < 0 && errno != ENOENT)
		return error_sys(err, "replace '%s' in the draft", name);
	return tree_copy_entry(from->folder, name, to, left_out, err);
}

/* Adds the changes in a folder of both, which somebody may have removed from the project since. */
static int seed_inner(const struct draft_layer *above, const struct draft_layer *from,
		      const char *name, int to, uint64_t *left_out, struct error *err)
{
	AUTO_FD inner = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (inner < 0)
		return seed_own(above, name, to, left_out, err);
	if (seed_folder(from, inner, left_out, err) < 0)
		return -1;
	return fstat(from->folder, &status) < 0 || fchmod(inner, status.st_mode & 07777) < 0
		       ? error_sys(err, "set the mode of '%s' in the draft", name)
		       : 0;
}

static int seed_entry(const struct draft_layer *from, const char *name, int to, uint64_t *left_out,
		      struct error *err)
{
	struct draft_layer inner;
	enum draft_layer_state state = draft_layer_enter(from, name, &inner);
	int result = state == DRAFT_LAYER_OWN ? seed_own(from, name, to, left_out, err)
		     : state == DRAFT_LAYER_FOLDER
			     ? seed_inner(from, &inner, name, to, left_out, err)
			     : 0;

	fd_close(&inner.folder);
	return result;
}

/* Adds the changes in a folder: the entries that it has, and those that it had. */
static int seed_folder(const struct draft_layer *from, int to, uint64_t *left_out,
		       struct error *err)
{
	int own = openat(from->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	const char *name;
	int result = dir ? 0 : error_sys(err, "read a folder of the draft");

	for (struct dirent *entry; result == 0 && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = seed_entry(from, entry->d_name, to, left_out, err);
	if (dir)
		closedir(dir);
	for (size_t i = 0; result == 0 && (name = draft_layer_copied(from, i)); i++)
		if (faccessat(from->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			result = seed_entry(from, name, to, left_out, err);
	return result;
}

int draft_copy_seed(const char *folder, const char *from, struct error *err)
{
	AUTO_FREE char *target = path_join(folder, FILES);
	AUTO_FD to = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct draft_layer_root root;
	uint64_t left_out = 0;
	int result;

	if (to < 0)
		return error_sys(err, "open '%s'", target);
	result = draft_layer_open(from, &root, err);
	if (result == 0)
		result = seed_folder(&root.top, to, &left_out, err);
	draft_layer_release(&root);
	if (result == 0 && left_out)
		return error_with(err, ERROR_DENIED, "%llu changed files in '%s' cannot be read",
				  (unsigned long long)left_out, from);
	return result == 0 && syncfs(to) < 0 ? error_sys(err, "sync '%s'", target) : result;
}

/* ---- showing it ---- */

int draft_copy_show(const struct draft_view *view, struct error *err)
{
	AUTO_FREE char *path = path_join(view->folder, FILES);

	if (view->lent_uid && draft_kind_lend(view, view->folder, err) < 0)
		return -1;

	AUTO_FD project = draft_kind_open_folder(view->project, err);
	AUTO_FD files = project < 0 ? -1 : draft_kind_open_folder(path, err);
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
						     (view->writable ? 0 : MOUNT_ATTR_RDONLY) };

	if (files < 0)
		return -1;

	AUTO_FD tree = (int)syscall(SYS_open_tree, files, "",
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (tree < 0 ||
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) <
		    0 ||
	    syscall(SYS_move_mount, tree, "", project, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_sys(err, "mount a draft over '%s'", view->project);
	return 0;
}

/* ---- its changes ---- */

int draft_copy_open(const char *folder, struct draft_layer_root *root, struct error *err)
{
	AUTO_FD fd = draft_kind_open_folder(folder, err);
	AUTO_FD readable = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (readable < 0)
		return error_sys(err, "open '%s'", folder);
	if (copied_read(readable, RECORD, &root->copied, err) < 0)
		return -1;
	root->top.copied = &root->copied.top;
	return 0;
}

static bool is_as_copied(const struct draft_layer *at, const struct copied_entry *copied,
			 const struct stat *status)
{
	int64_t changed_ns = (int64_t)status->st_ctim.tv_sec * 1000000000 + status->st_ctim.tv_nsec;

	if (copied->inode != status->st_ino || copied->is_folder != S_ISDIR(status->st_mode))
		return false;
	if (copied->emptied && status->st_size == 0)
		return true;
	return copied->is_folder || (copied->changed_ns == changed_ns &&
				     (at->root->copied.timed || !S_ISREG(status->st_mode)));
}

enum draft_layer_state draft_copy_look(const struct draft_layer *at, const char *name,
				       struct draft_layer *ret_inner)
{
	const struct copied_entry *copied = copied_find(at->copied, name);
	struct stat status;

	if (fstatat(at->folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return copied ? DRAFT_LAYER_OWN : DRAFT_LAYER_SAME;
	if (!copied || !is_as_copied(at, copied, &status))
		return DRAFT_LAYER_OWN;
	if (!copied->is_folder)
		return DRAFT_LAYER_SAME;
	ret_inner->copied = copied;
	ret_inner->folder = openat(at->folder, name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return ret_inner->folder < 0 ? DRAFT_LAYER_OWN : DRAFT_LAYER_FOLDER;
}

static const struct copied_entry *find_copied(const struct copied_entry *folder, const char *path)
{
	AUTO_FREE char *names = mem_dup(path);

	for (char *rest = names, *name; folder && (name = strsep(&rest, "/"));)
		folder = copied_find(folder, name);
	return folder;
}

/* A file that is younger than the record was made in the draft, wherever it is now: nobody can set
 * the time of birth. An older one is the project's, and may have been moved, unless it is where it
 * was. */
enum draft_maker draft_copy_maker(const struct draft_layer_root *root, const char *path)
{
	AUTO_FD fd = fd_openat2(root->top.folder, path, O_PATH | O_NOFOLLOW, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	const struct copied_entry *copied = find_copied(root->top.copied, path);
	struct statx status;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) < 0 ||
	    draft_layer_emptied(&root->top, status.stx_ino, path))
		return DRAFT_MAKER_UNKNOWN;
	if (status.stx_mask & STATX_BTIME &&
	    status.stx_btime.tv_sec * INT64_C(1000000000) + status.stx_btime.tv_nsec >
		    root->copied.written_ns)
		return DRAFT_MAKER_COMMAND;
	return copied && !copied->is_folder && copied->inode == status.stx_ino
		       ? DRAFT_MAKER_COMMAND
		       : DRAFT_MAKER_UNKNOWN;
}
