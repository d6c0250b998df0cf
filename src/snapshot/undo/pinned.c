/* Pinned files: see pinned.h. */
#include "snapshot/undo/pinned.h"

#include "draft/tree_pins.h"
#include "project/path_group.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/differ.h"
#include "snapshot/undo/pinned_packages.h"
#include "snapshot/undo/restore_stage.h"
#include "snapshot/undo/view_layer.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* More than this are restored, but not listed. */
enum { MOST_LISTED = 200 };

struct pinned {
	struct tree_reader *reader;
	struct node *base; /* all above a change is open */
	const struct pins *pins;
	const struct changes *changes;
	struct view_layer layer; /* its folder is -1: nothing is written */
	struct json *json;
	struct list *paths;
};

static bool is_content(const struct node *node)
{
	return node && (node->kind == NODE_FILE || node->kind == NODE_LINK);
}

/* ---- writing the layer ---- */

static int write_part(void *context, const void *bytes, size_t size, uint64_t offset,
		      struct error *err)
{
	int fd = *(const int *)context;

	if (lseek(fd, (off_t)offset, SEEK_SET) < 0 || fd_write_all(fd, bytes, size) < 0)
		return error_sys(err, "write a pinned file");
	return 0;
}

struct place {
	int folder;
	const char *name;
};

static int make_link(void *context, const void *bytes, size_t size, uint64_t offset,
		     struct error *err)
{
	const struct place *place = context;
	AUTO_FREE char *target = strndup(bytes, size);

	(void)offset;
	return symlinkat(target, place->folder, place->name) < 0
		       ? error_sys(err, "create a pinned symlink")
		       : 0;
}

static int restore(const struct pinned *at, const struct node *node, const char *path,
		   struct error *err)
{
	AUTO_FD folder = view_layer_folder(&at->layer, path, err);
	struct place place = { folder, path_name(path) };
	AUTO_FD fd = -1;

	if (folder < 0)
		return -1;
	if (node->kind == NODE_LINK)
		return restore_stage_read(at->reader->repo, node, make_link, &place, err);
	fd = view_layer_create(folder, place.name, err);
	if (fd < 0 || restore_stage_read(at->reader->repo, node, write_part, &fd, err) < 0)
		return -1;
	if ((node->chunked && ftruncate(fd, (off_t)node->size) < 0) || fchmod(fd, node->mode) < 0)
		return error_sys(err, "set the size and mode of the pinned '%s'", path);
	return 0;
}

/* Reports whether a path is below a file of the base that the agent replaced by a folder, and that
 * is restored. */
static bool is_below_file(const struct pinned *at, const char *path)
{
	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		AUTO_FREE char *above = strndup(path, (size_t)(end - path));

		if (is_content(node_at(at->base, above)) && list_has(at->paths, above))
			return true;
	}
	return false;
}

static int hide(const struct pinned *at, const char *path, struct error *err)
{
	AUTO_FD folder = -1;

	if (is_below_file(at, path))
		return 0;
	folder = view_layer_folder(&at->layer, path, err);
	if (folder < 0)
		return -1;
	return tree_pins_hide(folder, path_name(path)) < 0
		       ? error_sys(err, "hide '%s' in the view of the checks", path)
		       : 0;
}

/* ---- deciding ---- */

static void list_one(struct pinned *at, const char *path, enum pins_kind kind, const char *shown)
{
	list_add(at->paths, path);
	if (at->layer.folder >= 0 && at->paths->count > MOST_LISTED)
		return;
	json_open(at->json, NULL, '{');
	json_text(at->json, "path", path);
	json_text(at->json, "kind", pins_kind_name(kind));
	json_text(at->json, "shown", shown);
	json_close(at->json);
}

/* Reports whether a manifest of this lockfile changed, beside or below it. */
static bool manifest_changed(const struct pinned *at, const char *lockfile)
{
	const char *manifest = path_group_manifest_of(lockfile);
	AUTO_FREE char *above = path_folder(lockfile);

	for (size_t i = 0; i < at->changes->count; i++) {
		const char *path = at->changes->items[i].path;

		if (strncmp(path, above, strlen(above)) == 0 &&
		    strcmp(path_name(path), manifest) == 0)
			return true;
	}
	return false;
}

static int read_blob(const struct pinned *at, const struct node *node, git_blob **ret_blob,
		     struct error *err)
{
	*ret_blob = NULL;
	return node && node->kind == NODE_FILE && !node->chunked
		       ? differ_blob(at->reader->repo, node, ret_blob, err)
		       : 0;
}

static const char *text_of(git_blob *blob)
{
	return blob && git_blob_rawsize(blob) ? git_blob_rawcontent(blob) : "";
}

static size_t size_of(git_blob *blob)
{
	return blob ? (size_t)git_blob_rawsize(blob) : 0;
}

/* Restores the parts of a manifest that decide how checks run. */
static int merge(struct pinned *at, const struct changes_item *item, struct error *err)
{
	AUTO_FREE char *merged = NULL;
	git_blob *base, *now = NULL;
	int result = read_blob(at, item->old, &base, err);

	if (result == 0)
		result = read_blob(at, item->new, &now, err);
	if (result == 0)
		merged = pins_manifest_merge(text_of(base), size_of(base), text_of(now),
					     size_of(now));
	git_blob_free(base);
	git_blob_free(now);
	if (result < 0 || !merged)
		return result;
	list_one(at, item->path, PINS_MANIFEST, "merged");
	if (at->layer.folder < 0)
		return 0;
	return view_layer_write(&at->layer, item->path, merged, strlen(merged), item->new->mode,
				err);
}

/* A folder of the base whose entries are looked at. */
struct subtree {
	const struct pins *pins;
	const char *path;
};

/* Returns why a file of the base decides, or PINS_NOT. Lockfiles do not, and a check may install
 * what they name; nor do packages that git knows. */
static enum pins_kind deciding_kind(const struct pins *pins, const struct node *node,
				    const char *path)
{
	enum pins_kind kind = is_content(node) ? pins_of(pins, path) : PINS_NOT;

	return kind == PINS_LOCKFILE || kind == PINS_PACKAGES ? PINS_NOT : kind;
}

static int deciding_below(void *context, struct node *node, const char *path)
{
	const struct subtree *subtree = context;
	AUTO_FREE char *whole = path_join(subtree->path, path);

	return (int)deciding_kind(subtree->pins, node, whole);
}

/* The same for the first such file in a folder; or -1 with err set. */
static int deciding_inside(struct tree_reader *reader, const struct pins *pins, struct node *folder,
			   const char *path, struct error *err)
{
	struct subtree subtree = { pins, path };

	return tree_reader_each(reader, folder, deciding_below, &subtree, err);
}

/* Restores the mode of a folder with pinned files: without it, they could not be found. */
static int keep_folder(struct pinned *at, const char *path, struct error *err)
{
	int kind = deciding_inside(at->reader, at->pins, node_at(at->base, path), path, err);
	AUTO_FREE char *inner = path_join(path, "x");
	bool written = kind > PINS_NOT && at->layer.folder >= 0;
	AUTO_FD folder = written ? view_layer_folder(&at->layer, inner, err) : -1;

	if (kind > PINS_NOT)
		list_one(at, path, (enum pins_kind)kind, "base");
	return kind < 0 || (written && folder < 0) ? -1 : 0;
}

/* Handles a path that the base has, and that was changed or removed. */
static int keep(struct pinned *at, const struct changes_item *item, const char *path,
		struct error *err)
{
	enum pins_kind kind = pins_of(at->pins, path);
	bool changed = strcmp(path, item->path) == 0 && item->new;

	if (changed && item->old->kind == NODE_FOLDER && item->new->kind == NODE_FOLDER)
		return keep_folder(at, path, err);
	if (kind == PINS_NOT || kind == PINS_PACKAGES || !is_content(item->old) ||
	    (kind == PINS_LOCKFILE && manifest_changed(at, path)))
		return 0;
	if (kind == PINS_MANIFEST && changed && item->new->kind == NODE_FILE)
		return merge(at, item, err);
	fault_point();
	list_one(at, path, kind, "base");
	return at->layer.folder < 0 ? 0 : restore(at, item->old, path, err);
}

/* Reports whether the base has files that decide; otherwise new ones cannot weaken them. */
static int decides(void *context, struct node *node, const char *path)
{
	const struct pins *pins = context;
	enum pins_kind kind = is_content(node) ? pins_of(pins, path) : PINS_NOT;

	return kind == PINS_TEST || pins_reconfigures(kind);
}

static bool is_new(const struct changes_item *item)
{
	return is_content(item->new) && (!item->old || item->from);
}

/* Returns why a change is hidden, if the base has anything that it could weaken, or PINS_NOT. */
static enum pins_kind hidden_kind(const struct pinned *at, const struct changes_item *item)
{
	enum pins_kind kind = is_new(item) && !pins_awaits(at->pins, item->path)
				      ? pins_of(at->pins, item->path)
				      : PINS_NOT;

	return kind == PINS_TEST || pins_reconfigures(kind) ? kind : PINS_NOT;
}

/* Reports whether a new file changes how the others are checked. */
static bool has_reconfigured(const struct pinned *at)
{
	for (size_t i = 0; i < at->changes->count; i++)
		if (pins_reconfigures(hidden_kind(at, &at->changes->items[i])))
			return true;
	return false;
}

/* Hides new files that have nothing to weaken only if they loosen a linter. */
static int hide_new(struct pinned *at, bool weakens, struct error *err)
{
	for (size_t i = 0; i < at->changes->count; i++) {
		const struct changes_item *item = &at->changes->items[i];
		enum pins_kind kind = hidden_kind(at, item);

		if (kind == PINS_NOT || !(weakens || pins_loosens(at->pins, item->path)))
			continue;
		list_one(at, item->path, kind, "hidden");
		if (at->layer.folder >= 0 && hide(at, item->path, err) < 0)
			return -1;
	}
	return 0;
}

static int write_all(struct pinned *at, struct error *err)
{
	for (size_t i = 0; i < at->changes->count; i++) {
		const struct changes_item *item = &at->changes->items[i];

		if (item->old && keep(at, item, item->from ? item->from : item->path, err) < 0)
			return -1;
	}
	/* The whole base is looked at only if it matters. */
	if (!has_reconfigured(at))
		return 0;

	int weakens = tree_reader_each(at->reader, at->base, decides, (void *)at->pins, err);

	return weakens < 0 ? -1 : hide_new(at, weakens, err);
}

/* Shows packages as they were before the loop. */
static int write_packages(struct pinned *at, const struct pinned_packages *packages,
			  struct error *err)
{
	struct list folders = { 0 };
	int result = pinned_packages_write(packages, &folders, err);

	for (size_t i = 0; i < folders.count && result == 0; i++)
		list_one(at, folders.items[i], PINS_PACKAGES, "base");
	list_release(&folders);
	return result;
}

static struct pinned_packages packages_of(const struct pinned_request *request,
					  const struct changes *changes)
{
	return (struct pinned_packages){ .reader = request->reader,
					 .base = request->base,
					 .changes = changes,
					 .pins = request->pins,
					 .project = request->project,
					 .draft = request->draft,
					 .folder = -1 };
}

int pinned_write(const struct pinned_request *request, const char *folder, struct json *json,
		 struct list *ret_paths, struct error *err)
{
	AUTO_FD place = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	const struct list everything = { 0 };
	struct changes changes;
	struct pinned_packages packages = packages_of(request, &changes);
	struct pinned at = { .reader = request->reader,
			     .base = request->base,
			     .pins = request->pins,
			     .changes = &changes,
			     .layer = { place, request->base },
			     .json = json,
			     .paths = ret_paths };
	int result;

	if (folder && place < 0)
		return error_sys(err, "open '%s'", folder);
	packages.folder = place;
	changes_find(request->base, request->now, &everything, &changes);
	json_open(json, "pinned", '[');
	result = write_all(&at, err);
	if (result == 0)
		result = write_packages(&at, &packages, err);
	json_close(json);
	changes_release(&changes);
	return result;
}

/* ---- between checks ---- */

struct settling {
	struct tree_reader *reader;
	struct node *base;
	const struct pins *pins;
	const struct pinned_packages *packages;
	int shown; /* the folder that pinned_write() has filled */
	int files; /* of a view that is a copy */
	struct error *err;
};

/* Reports whether a change at this path hides a pinned file of the base, or shows a hidden one.
 * Returns -1 with err set if the base cannot be read. */
static int covers(const struct settling *at, const char *path)
{
	struct node *node;
	struct stat status;

	if (tree_reader_at(at->reader, at->base, path, &node, at->err) < 0)
		return -1;
	if (node && node->kind == NODE_FOLDER)
		return pinned_packages_inside(at->packages, path)
			       ? 1
			       : deciding_inside(at->reader, at->pins, node, path, at->err);
	return deciding_kind(at->pins, node, path) || pinned_packages_has(at->packages, path) ||
	       (fstatat(at->shown, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISCHR(status.st_mode));
}

/* Reports whether a folder of the layer is shown together with the one below it. */
static bool is_merged(const struct dirwalk_entry *entry)
{
	static const char *const marks[] = { "user.overlay.opaque", "trusted.overlay.opaque" };
	AUTO_FD folder = openat(entry->folder, entry->name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return folder >= 0 && !entry->closed && fgetxattr(folder, marks[0], NULL, 0) < 0 &&
	       fgetxattr(folder, marks[1], NULL, 0) < 0;
}

static enum dirwalk_verdict settle(void *context, const struct dirwalk_entry *entry)
{
	const struct settling *at = context;
	int covering;

	if (entry->type == DT_DIR && is_merged(entry))
		return DIRWALK_ON;
	covering = covers(at, entry->path);
	if (covering <= 0)
		return covering < 0 ? DIRWALK_STOP : DIRWALK_PAST;
	fault_point();
	if (dirwalk_remove(entry->folder, entry->name, NULL) == 0)
		return DIRWALK_PAST;
	error_sys(at->err, "take back the change of a check to '%s'", entry->path);
	return DIRWALK_STOP;
}

/* ---- between checks in a copy ---- */

static int compare_part(void *context, const void *bytes, size_t size, uint64_t offset,
			struct error *err)
{
	int fd = *(const int *)context;
	AUTO_FREE char *found = mem_alloc(size + 1);

	(void)err;
	return pread(fd, found, size + 1, (off_t)offset) >= (ssize_t)size &&
			       memcmp(found, bytes, size) == 0
		       ? 0
		       : -1;
}

/* Reports whether a file in the copy is as in the base. */
static bool is_as_before(const struct settling *at, const struct node *node, const char *path)
{
	AUTO_FD fd = fd_openat2(at->files, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct error ignored;
	struct stat status;

	return node->kind == NODE_FILE && fd >= 0 && fstat(fd, &status) == 0 &&
	       S_ISREG(status.st_mode) &&
	       status.st_size == tree_reader_size(at->reader->repo, node) &&
	       (status.st_mode & 07777) == node->mode &&
	       restore_stage_read(at->reader->repo, node, compare_part, &fd, &ignored) == 0;
}

/* Removes what is in the way of a path: its last version, or a file in place of a folder. */
static int clear_way(const struct settling *at, const char *path)
{
	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		AUTO_FREE char *above = strndup(path, (size_t)(end - path));
		struct stat status;

		if (fstatat(at->files, above, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISDIR(status.st_mode))
			return unlinkat(at->files, above, 0);
	}
	return dirwalk_remove(at->files, path, NULL) < 0 && errno != ENOENT ? -1 : 0;
}

/* Restores a pinned file of the base, unless it is among those that replace it. */
static int settle_node(void *context, struct node *node, const char *path)
{
	const struct settling *at = context;
	const struct pinned place = { .reader = at->reader,
				      .base = at->base,
				      .layer = { at->files, at->base } };
	struct stat status;

	if (!deciding_kind(at->pins, node, path) || is_as_before(at, node, path) ||
	    fstatat(at->shown, path, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (clear_way(at, path) < 0)
		return error_sys(at->err, "take back the change of a check to '%s'", path);
	return restore(&place, node, path, at->err);
}

static int settle_copy(struct settling *at, const char *pins, int files)
{
	at->files = files;
	return tree_reader_each(at->reader, at->base, settle_node, at, at->err) < 0
		       ? -1
		       : tree_pins_copy(pins, files, at->err);
}

static int settle_layer(struct settling *at, int upper)
{
	const struct dirwalk walk = { .visit = settle, .context = at, .deepest = DIRWALK_DEPTH };

	return dirwalk_tree(&walk, upper, NULL, at->err);
}

int pinned_settle(const struct pinned_request *request, const char *views, struct error *err)
{
	AUTO_FREE char *layer = path_join(views, "pinned/upper");
	AUTO_FREE char *copy = path_join(views, "pinned/files");
	AUTO_FREE char *folder = path_join(views, "pins");
	AUTO_FD upper = open(layer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD files = open(copy, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD shown = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct list everything = { 0 };
	struct changes changes;
	struct pinned_packages packages = packages_of(request, &changes);
	struct settling at = { .reader = request->reader,
			       .base = request->base,
			       .pins = request->pins,
			       .packages = &packages,
			       .shown = shown,
			       .err = err };
	int result;

	if ((upper < 0 && files < 0) || shown < 0)
		return error_sys(err, "open '%s' and '%s'", layer, folder);
	changes_find(request->base, request->now, &everything, &changes);
	result = upper >= 0 ? settle_layer(&at, upper) : settle_copy(&at, folder, files);
	changes_release(&changes);
	return result;
}
