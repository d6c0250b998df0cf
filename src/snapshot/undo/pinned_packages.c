/* Folders of packages in a view: see pinned_packages.h. */
#include "snapshot/undo/pinned_packages.h"

#include "draft/draft_layer.h"
#include "draft/tree_copy.h"
#include "draft/tree_pins.h"
#include "project/packages.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/differ.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- manifests ---- */

static bool is_file(const struct node *node)
{
	return node && node->kind == NODE_FILE && !node->chunked;
}

/* Reports whether a manifest that changed asks for other packages. If in doubt, it does not. */
static bool asks_for_others(const struct pinned_packages *at, const struct changes_item *item)
{
	git_blob *old = NULL, *new = NULL;
	struct error ignored;
	bool others = true;

	if (!item->old || !item->new)
		return true;
	if (!is_file(item->old) || !is_file(item->new) ||
	    differ_blob(at->reader->repo, item->old, &old, &ignored) < 0 ||
	    differ_blob(at->reader->repo, item->new, &new, &ignored) < 0)
		others = false;
	else
		others = !packages_are_same(item->path, git_blob_rawcontent(old),
					    (size_t)git_blob_rawsize(old), git_blob_rawcontent(new),
					    (size_t)git_blob_rawsize(new));
	git_blob_free(old);
	git_blob_free(new);
	return others;
}

static bool manifest_changed(const struct pinned_packages *at, const char *folder)
{
	for (size_t i = 0; i < at->changes->count; i++)
		if (packages_is_manifest(folder, at->changes->items[i].path) &&
		    asks_for_others(at, &at->changes->items[i]))
			return true;
	return false;
}

/* Reports whether a folder of packages is shown as in the project: git does not know it. One that
 * only the draft has is the agent's. */
static bool is_kept(const struct pinned_packages *at, const char *folder)
{
	AUTO_FREE char *path = path_join(at->project, folder);
	struct node *known = NULL;
	struct error unreadable; /* nothing is known then, as if git did not know the folder */

	return (tree_reader_at(at->reader, at->base, folder, &known, &unreadable) < 0 || !known) &&
	       faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       pins_of(at->pins, folder) == PINS_PACKAGES && !manifest_changed(at, folder);
}

bool pinned_packages_has(const struct pinned_packages *at, const char *path)
{
	size_t size = packages_is_folder(path) ? strlen(path) : packages_folder_of(path);
	AUTO_FREE char *folder = size ? strndup(path, size) : NULL;

	return folder && is_kept(at, folder);
}

/* A search for a folder of packages, below another folder. */
struct searching {
	const struct pinned_packages *at;
	const char *folder;
};

static enum dirwalk_verdict look_for_kept(void *context, const struct dirwalk_entry *entry)
{
	const struct searching *search = context;
	AUTO_FREE char *path = NULL;

	if (entry->type != DT_DIR)
		return DIRWALK_ON;
	path = path_join(search->folder, entry->path);
	if (!packages_is_folder(path))
		return DIRWALK_ON;
	return is_kept(search->at, path) ? DIRWALK_STOP : DIRWALK_PAST;
}

bool pinned_packages_inside(const struct pinned_packages *at, const char *folder)
{
	AUTO_FREE char *path = path_join(at->project, folder);
	AUTO_FD root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct searching search = { at, folder };
	const struct dirwalk walk = { .visit = look_for_kept,
				      .context = &search,
				      .deepest = DIRWALK_DEPTH };
	struct error ignored;

	return root >= 0 && dirwalk_tree(&walk, root, NULL, &ignored) < 0;
}

/* ---- the layer ---- */

struct showing {
	const struct pinned_packages *at;
	struct list *folders;
	bool changed; /* more than caches */
	struct error *err;
};

/* A folder in the draft, in the project, and in the layer, where it is made when it is needed. */
struct level {
	const struct level *above;
	const char *name;
	const struct draft_layer *layer; /* NULL: everything in it is the draft's own */
	int draft;                       /* the folder in the draft, or -1 */
	bool closed;                     /* it is there, but cannot be read */
	int project;
	const char *path;
};

static bool exists(int folder, const char *name, struct stat *ret_status)
{
	return folder >= 0 && fstatat(folder, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The agent may have put anything into a folder that it has closed, and that cannot be hidden. */
static int refuse_closed(const struct showing *show, const char *path)
{
	return error_set(show->err,
			 "'%s' cannot be read in the draft, so the checks cannot use the packages "
			 "from before",
			 path);
}

/* Opens the level's folder in the layer; it has the mode of the project's, so that it looks
 * the same, and can be filled. */
static int open_shown(const struct showing *show, const struct level *level)
{
	AUTO_FD above = level->above ? open_shown(show, level->above) : -1;
	struct stat status;

	if (!level->above)
		return openat(show->at->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0 || fstat(level->project, &status) < 0)
		return -1;
	if (mkdirat(above, level->name, 0700) < 0) {
		if (errno != EEXIST)
			return -1;
	} else if (fchmodat(above, level->name, (status.st_mode & 07777) | 0700, 0) < 0) {
		return -1;
	}
	return openat(above, level->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int hide(const struct showing *show, const struct level *level, const char *name)
{
	AUTO_FD folder = open_shown(show, level);

	if (folder >= 0 && tree_pins_hide(folder, name) == 0)
		return 0;
	return error_sys(show->err, "hide '%s/%s' in the view of the checks", level->path, name);
}

static int copy(const struct showing *show, const struct level *level, const char *name)
{
	AUTO_FD folder = open_shown(show, level);

	if (folder < 0)
		return error_sys(show->err, "create the pinned '%s'", level->path);
	fault_point();
	return tree_copy_entry(level->project, name, folder, NULL, show->err);
}

static int show_level(struct showing *show, struct level *level);

static int show_inner(struct showing *show, const struct level *above, const char *name,
		      const struct draft_layer *layer, int draft)
{
	AUTO_FREE char *path = path_join(above->path, name);
	AUTO_FD project = openat(above->project, name,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct level level = { .above = above,
			       .name = name,
			       .layer = layer,
			       .draft = draft,
			       .project = project,
			       .path = path };

	return project < 0 ? error_sys(show->err, "open '%s' in the project", path)
			   : show_level(show, &level);
}

static bool same_target(const struct level *level, const char *name)
{
	char one[PATH_MAX], other[PATH_MAX];
	ssize_t size = readlinkat(level->draft, name, one, sizeof one);

	return size >= 0 && readlinkat(level->project, name, other, sizeof other) == size &&
	       memcmp(one, other, (size_t)size) == 0;
}

static bool same_content(const struct level *level, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	AUTO_FD draft = openat(level->draft, name, flags);
	AUTO_FD project = openat(level->project, name, flags);
	char one[1 << 14], other[1 << 14];
	ssize_t size;

	if (draft < 0 || project < 0)
		return false;
	do {
		size = read(draft, one, sizeof one);
		if (size < 0 || read(project, other, sizeof other) != size ||
		    memcmp(one, other, (size_t)size) != 0)
			return false;
	} while (size > 0);
	return true;
}

/* Reports whether an entry was only written again: packages that were installed once more. */
static bool is_same(const struct level *level, const char *name, const struct stat *now,
		    const struct stat *was)
{
	if (now->st_mode != was->st_mode || now->st_size != was->st_size)
		return false;
	return S_ISREG(was->st_mode) ? same_content(level, name)
				     : S_ISLNK(was->st_mode) && same_target(level, name);
}

/* Shows the project's version of an entry that is the draft's own. */
static int show_own(struct showing *show, struct level *level, const char *name)
{
	AUTO_FREE char *path = path_join(level->path, name);
	struct stat now, was;
	bool is_there = exists(level->draft, name, &now);
	bool was_there = exists(level->project, name, &was);
	bool are_folders = is_there && was_there && S_ISDIR(now.st_mode) && S_ISDIR(was.st_mode);
	AUTO_FD inner = -1;

	if (is_there && was_there && is_same(level, name, &now, &was))
		return 0;
	show->changed = show->changed || (!are_folders && !packages_is_cache(path));
	if (!was_there)
		return hide(show, level, name);
	if (!are_folders)
		return copy(show, level, name);
	inner = openat(level->draft, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return inner < 0 ? refuse_closed(show, path) : show_inner(show, level, name, NULL, inner);
}

static int show_entry(struct showing *show, struct level *level, const char *name)
{
	struct draft_layer inner = { .folder = -1 };
	enum draft_layer_state state = DRAFT_LAYER_OWN;
	struct stat was;
	int result = 0;

	if (level->layer)
		state = draft_layer_enter(level->layer, name, &inner);
	/* A folder that only the draft has may have no mark. */
	if (state == DRAFT_LAYER_FOLDER && exists(level->project, name, &was) &&
	    S_ISDIR(was.st_mode))
		result = show_inner(show, level, name, &inner, inner.folder);
	else if (state != DRAFT_LAYER_SAME)
		result = show_own(show, level, name);
	fd_close(&inner.folder);
	return result;
}

static void add_names(int folder, struct list *names)
{
	int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		fd_close(&fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			list_add(names, entry->d_name);
	closedir(dir);
}

/* Collects the entries that may differ, each once. */
static void find_names(const struct level *level, struct list *names)
{
	struct list others = { 0 };
	const char *name;
	struct stat status;

	add_names(level->draft, names);
	for (size_t i = 0; level->layer && (name = draft_layer_copied(level->layer, i)); i++)
		list_add(&others, name);
	if (!level->layer)
		add_names(level->project, &others);
	for (size_t i = 0; i < others.count; i++)
		if (!exists(level->draft, others.items[i], &status))
			list_add(names, others.items[i]);
	list_release(&others);
}

static int show_level(struct showing *show, struct level *level)
{
	struct list names = { 0 };
	int result = 0;

	find_names(level, &names);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = show_entry(show, level, names.items[i]);
	list_release(&names);
	return result;
}

/* ---- finding the folders ---- */

static int look_level(struct showing *show, struct level *level);

/* Enters a folder that is the draft's own. Returns whether the draft has something there. */
static bool enter_own(const struct level *level, const char *name, struct level *below)
{
	struct stat status;
	bool is_gone = level->draft >= 0 && (!exists(level->draft, name, &status) ||
					     (S_ISCHR(status.st_mode) && !status.st_rdev));

	if (is_gone)
		return false;
	if (level->draft >= 0)
		below->draft = openat(level->draft, name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	below->closed = level->closed ||
			(level->draft >= 0 && below->draft < 0 && S_ISDIR(status.st_mode));
	return true;
}

/* Enters a folder in the draft. Returns whether something changed there that the checks could come
 * across. */
static bool enter_changed(const struct level *level, const char *name, struct draft_layer *inner,
			  struct level *below)
{
	enum draft_layer_state state = level->layer ? draft_layer_enter(level->layer, name, inner)
						    : DRAFT_LAYER_OWN;

	if (state == DRAFT_LAYER_FOLDER) {
		below->layer = inner;
		below->draft = inner->folder;
	}
	return state == DRAFT_LAYER_FOLDER ||
	       (state == DRAFT_LAYER_OWN && enter_own(level, name, below));
}

/* Looks at a folder of the project in which something changed, or which the agent replaced. */
static int look_inside(struct showing *show, const struct level *level, const char *name,
		       const char *path)
{
	struct draft_layer inner = { .folder = -1 };
	struct level below = { .above = level, .name = name, .draft = -1, .path = path };
	int result = 0;

	below.project = openat(level->project, name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below.project >= 0 && enter_changed(level, name, &inner, &below))
		result = look_level(show, &below);
	fd_close(&below.project);
	fd_close(&below.draft);
	return result;
}

static int look_entry(struct showing *show, struct level *level, const char *name)
{
	AUTO_FREE char *path = path_join(level->path, name);
	int result;

	if (!packages_is_folder(path))
		return look_inside(show, level, name, path);
	if (!is_kept(show->at, path))
		return 0;
	if (level->closed)
		return refuse_closed(show, level->path);
	show->changed = false;
	result = show_entry(show, level, name);
	if (result == 0 && show->changed)
		list_add(show->folders, path);
	return result;
}

static int look_level(struct showing *show, struct level *level)
{
	struct list names = { 0 };
	int result = 0;

	find_names(level, &names);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = look_entry(show, level, names.items[i]);
	list_release(&names);
	return result;
}

int pinned_packages_write(const struct pinned_packages *at, struct list *ret_folders,
			  struct error *err)
{
	AUTO_FD project = -1;
	struct draft_layer_root layers;
	struct showing show = { .at = at, .folders = ret_folders, .err = err };
	int result;

	if (!at->draft || at->folder < 0)
		return 0;
	project = open(at->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (project < 0)
		return error_sys(err, "open '%s'", at->project);
	result = draft_layer_open(at->draft, &layers, err);
	if (result == 0) {
		struct level top = { .layer = &layers.top,
				     .draft = layers.top.folder,
				     .project = project,
				     .path = "" };

		result = look_level(&show, &top);
	}
	draft_layer_release(&layers);
	return result;
}
