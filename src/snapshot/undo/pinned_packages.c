/* Folders of packages in a view: see pinned_packages.h. */
#include "snapshot/undo/pinned_packages.h"

#include "draft/draft_layer.h"
#include "draft/tree_copy.h"
#include "project/packages.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/differ.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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
	int project;
	char *path;
};

static bool exists(int folder, const char *name, struct stat *ret_status)
{
	return folder >= 0 && fstatat(folder, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0;
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

	if (folder >= 0 && (mknodat(folder, name, S_IFCHR, makedev(0, 0)) == 0 || errno == EEXIST))
		return 0;
	return error_sys(show->err, "hide '%s/%s' in the view of the checks", level->path, name);
}

static int copy(const struct showing *show, const struct level *level, const char *name)
{
	AUTO_FD folder = open_shown(show, level);

	if (folder < 0)
		return error_sys(show->err, "create the pinned '%s'", level->path);
	fault_point();
	return tree_copy_entry(level->project, name, folder, show->err);
}

static int show_level(struct showing *show, struct level *level);

static int show_inner(struct showing *show, const struct level *above, const char *name,
		      const struct draft_layer *layer, int draft)
{
	struct level level = { .above = above,
			       .name = name,
			       .layer = layer,
			       .draft = draft,
			       .project = openat(above->project, name,
						 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			       .path = path_join(above->path, name) };
	int result = level.project < 0
			     ? error_sys(show->err, "open '%s' in the project", level.path)
			     : show_level(show, &level);

	fd_close(&level.project);
	free(level.path);
	return result;
}

/* Shows the project's version of an entry that is the draft's own. */
static int show_own(struct showing *show, struct level *level, const char *name)
{
	AUTO_FREE char *path = path_join(level->path, name);
	struct stat now, was;
	bool is_folder = exists(level->draft, name, &now) && S_ISDIR(now.st_mode);
	AUTO_FD inner = -1;

	show->changed = show->changed || !packages_is_cache(path);
	if (!exists(level->project, name, &was))
		return hide(show, level, name);
	if (!S_ISDIR(was.st_mode) || !is_folder)
		return copy(show, level, name);
	inner = openat(level->draft, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return show_inner(show, level, name, NULL, inner);
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

/* Looks at a folder of the project in which something changed. */
static int look_inside(struct showing *show, const struct level *level, const char *name,
		       char *path)
{
	struct draft_layer inner;
	struct level below = { .above = level, .name = name, .layer = &inner, .path = path };
	int result = 0;

	if (draft_layer_enter(level->layer, name, &inner) != DRAFT_LAYER_FOLDER)
		return 0;
	below.draft = inner.folder;
	below.project = openat(level->project, name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below.project >= 0)
		result = look_level(show, &below);
	fd_close(&below.project);
	fd_close(&inner.folder);
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
				     .path = (char *)"" };

		result = look_level(&show, &top);
	}
	draft_layer_release(&layers);
	return result;
}
