/*
 * Scans a project. This does not use dirwalk: the sorted names of a folder are compared with the
 * last scan one by one, a thread stats ahead, permissions are granted temporarily, and the tree of
 * a folder is written when the scan leaves it.
 */
#include "snapshot/look/look_walk.h"

#include "snapshot/look/ahead.h"
#include "snapshot/store/stored_name.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IGNORE_BYTES = 1 << 20 };

struct looking {
	struct look_walk *walk;
	struct buffer path;
	uint64_t device;
	uint64_t entries;
	struct error *err;
};

/* The earlier states of a folder; each may be NULL. */
struct before {
	const struct node *known;        /* the last scan */
	const struct draft_layer *layer; /* of a folder that the draft has not made or replaced */
	const struct node *extra[LOOK_WALK_EXTRAS]; /* in the trees of look_walk */
};

static int scan_folder(struct looking *at, int fd, struct node *folder, struct before before,
		       bool tracked_only, int depth);

/* ---- reading a folder ---- */

static bool is_excluded(const char *name, int depth)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	return depth == 0 &&
	       (strcmp(name, ".git") == 0 || strcmp(name, LOOK_WALK_STAGE) == 0 ||
		strncmp(name, "ringfence-quarantine-", strlen("ringfence-quarantine-")) == 0);
}

static void add_name(struct buffer *names, struct node *folder, const char *name,
		     unsigned char type)
{
	buffer_add(names, name, strlen(name) + 1);
	node_add(folder)->mode = type;
}

/* Adds the names that a draft removed without leaving a mark. */
static void add_removed(const struct draft_layer *layer, int fd, struct buffer *names,
			struct node *folder)
{
	struct stat status;
	const char *name;

	for (size_t i = 0; (name = draft_layer_copied(layer, i)); i++)
		if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			add_name(names, folder, name, DT_WHT);
}

/* Reads the names; `mode` holds the d_type for now. Takes ownership of the descriptor. */
static bool read_names(int fd, struct node *folder, const struct draft_layer *layer, int depth)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT((size_t)1 << 31);
	DIR *dir = fdopendir(fd);
	size_t at = 0;

	if (!dir) {
		close(fd);
		return false;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (is_excluded(entry->d_name, depth))
			continue;
		add_name(&names, folder, entry->d_name, entry->d_type);
	}
	if (layer)
		add_removed(layer, fd, &names, folder);
	closedir(dir);
	folder->names = names.data;
	names.data = NULL;
	for (size_t i = 0; i < folder->count; i++) {
		folder->inner[i].name = folder->names + at;
		at += strlen(folder->names + at) + 1;
	}
	node_sort(folder);
	return true;
}

/* Drops entries that have vanished. */
static void compact(struct node *folder)
{
	size_t kept = 0;

	for (size_t i = 0; i < folder->count; i++)
		if (folder->inner[i].kind != NODE_KINDS)
			folder->inner[kept++] = folder->inner[i];
	folder->count = kept;
}

/* ---- ignore rules ---- */

static void collect_rules(struct looking *at, int fd)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(IGNORE_BYTES);

	if (fd_read_file(fd, ".gitignore", &text) == 0)
		ignore_rules_add(at->walk->rules, buffer_text(&at->path), text.data, text.used);
}

/*
 * Reports whether the entry is omitted. Sets *ret_tracked_only for an ignored folder in which git
 * tracks files: only those are saved.
 */
static bool is_ignored(struct looking *at, const struct node *known, bool is_folder,
		       bool tracked_only, bool *ret_tracked_only)
{
	struct ignore_rules *rules = at->walk->rules;

	*ret_tracked_only = false;
	if (!rules)
		return false;
	if (!at->walk->same_rules)
		known = NULL;
	/* The rules never change, so the last scan's result still holds. */
	if (known && !tracked_only && (known->kind == NODE_FOLDER) == is_folder &&
	    known->kind != NODE_IGNORED && !is_folder)
		return false;
	if (known && known->kind == NODE_IGNORED && (known->mode == 1) == is_folder)
		return true;
	if (!tracked_only && !ignore_rules_match(rules, buffer_text(&at->path), is_folder))
		return false;
	*ret_tracked_only = is_folder;
	if (!ignore_rules_tracked(rules, buffer_text(&at->path)))
		return true;
	if (at->walk->collect && !is_folder)
		ignore_rules_keep(rules, buffer_text(&at->path));
	return false;
}

/* ---- ignored files that are asked for ---- */

/* Returns the entry of a folder in a tree of look_walk.extra, or NULL. */
static const struct node *find_extra(const struct node *folder, const char *name)
{
	static const struct node everything = { .name = "", .kind = NODE_FOLDER, .opaque = true };

	if (!folder)
		return NULL;
	return folder->kind != NODE_FOLDER || folder->opaque ? &everything
							     : node_find(folder, name);
}

/* Returns the earlier states of an entry of a folder; `known` is its own already. */
static struct before before_entry(const struct before *folder, const struct node *known,
				  const char *name)
{
	struct before before = { .known = known, .layer = folder->layer };

	for (size_t i = 0; i < LOOK_WALK_EXTRAS; i++)
		before.extra[i] = find_extra(folder->extra[i], name);
	return before;
}

static bool is_asked_for(const struct before *before)
{
	for (size_t i = 0; i < LOOK_WALK_EXTRAS; i++)
		if (before->extra[i])
			return true;
	return false;
}

/* ---- ignored files that a draft changed ---- */

static bool has_changes(const struct draft_layer *layer, const char *name);

static bool has_changes_inside(const struct draft_layer *layer)
{
	int copy = openat(layer->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct node names = { .kind = NODE_FOLDER };
	bool found = copy < 0 || !read_names(copy, &names, layer, 1);

	for (size_t i = 0; i < names.count && !found; i++)
		found = has_changes(layer, names.inner[i].name);
	node_release(&names);
	return found;
}

/* Reports whether the draft changed an entry of a folder, or anything below it. */
static bool has_changes(const struct draft_layer *layer, const char *name)
{
	struct draft_layer inner = { .folder = -1 };
	enum draft_layer_state state = draft_layer_enter(layer, name, &inner);
	bool found = state == DRAFT_LAYER_OWN ||
		     (state == DRAFT_LAYER_FOLDER && has_changes_inside(&inner));

	fd_close(&inner.folder);
	return found;
}

static void note_ignored(struct look_walk *walk, const struct before *before,
			 const struct node *node)
{
	walk->ignored++;
	if (walk->layer && !walk->ignored_changed)
		walk->ignored_changed = !before->layer || has_changes(before->layer, node->name);
}

/* ---- one entry ---- */

static void skip(struct node *node, enum node_why why)
{
	node->kind = NODE_SKIPPED;
	node->why = why;
}

/* Scans the entries of an open folder, `fd`, which is in `above`. */
static int scan_inner(struct looking *at, int fd, struct node *node, struct before above,
		      bool tracked_only, int depth)
{
	struct draft_layer layer = { .folder = -1 };
	struct before before = above;
	int result;

	before.layer = NULL;
	if (above.layer && draft_layer_enter(above.layer, node->name, &layer) == DRAFT_LAYER_FOLDER)
		before.layer = &layer;
	node->opaque = at->walk->layer && !before.layer;
	result = scan_folder(at, fd, node, before, tracked_only, depth);
	fd_close(&layer.folder);
	return result;
}

static int scan_subfolder(struct looking *at, int fd, struct node *node, struct before before,
			  bool tracked_only, int depth)
{
	AUTO_FD inner = -1;
	bool lent;
	int result;

	if (node->device != at->device) {
		skip(node, NODE_WHY_FILE_SYSTEM);
		return 0;
	}
	if (depth == NODE_DEEPEST) {
		skip(node, NODE_WHY_DEEP);
		return 0;
	}
	inner = content_open(&at->walk->content, fd, node, O_RDONLY | O_DIRECTORY, &lent);
	/* A folder without search permission lists its names, but its entries cannot be read. */
	if (inner >= 0 && !lent && !(node->mode & 0100) && geteuid() != 0) {
		lent = !at->walk->content.live && fchmod(inner, node->mode | 0700) == 0;
		if (!lent) {
			fd_close(&inner);
			errno = EACCES;
		}
	}
	if (inner < 0) {
		skip(node, errno == EACCES ? NODE_WHY_PERMISSION : NODE_WHY_UNREADABLE);
		return 0;
	}
	if (before.known && before.known->kind != NODE_FOLDER)
		before.known = NULL;
	result = scan_inner(at, inner, node, before, tracked_only, depth + 1);
	if (lent)
		content_restore_mode(inner, node);
	return result;
}

static int scan_content(struct looking *at, int fd, struct node *node, const struct node *known)
{
	struct look_walk *walk = at->walk;

	if (known && content_looks_same(known, node)) {
		memcpy(node->id, known->id, NODE_ID);
		node->chunked = known->chunked;
		return 0;
	}
	walk->changed = true;
	return node->kind == NODE_FILE ? content_file(&walk->content, fd, node, at->err)
				       : content_link(&walk->content, fd, node, at->err);
}

/* Reports whether this is overlayfs's mark for a deleted file. No command can make one. */
static bool is_deleted(const struct looking *at, const struct stat *status)
{
	return at->walk->layer && S_ISCHR(status->st_mode) && status->st_rdev == 0;
}

/* Reports whether the draft has a file of the project as it was. */
static bool is_unchanged(const struct draft_layer *layer, const struct node *node,
			 const struct stat *status)
{
	struct draft_layer inner = { .folder = -1 };
	bool same = layer && !S_ISDIR(status->st_mode) &&
		    draft_layer_enter(layer, node->name, &inner) == DRAFT_LAYER_SAME;

	fd_close(&inner.folder);
	return same;
}

static int scan_kind(struct looking *at, int fd, struct node *node, const struct stat *status,
		     struct before before, bool tracked_only, int depth)
{
	const struct node *known = before.known;

	if (is_deleted(at, status)) {
		skip(node, NODE_WHY_DELETED);
		return 0;
	}
	switch (status->st_mode & S_IFMT) {
	case S_IFDIR:
		node->kind = NODE_FOLDER;
		return scan_subfolder(at, fd, node, before, tracked_only, depth);
	case S_IFREG:
		node->kind = NODE_FILE;
		return scan_content(at, fd, node, known);
	case S_IFLNK:
		node->kind = NODE_LINK;
		return scan_content(at, fd, node, known);
	case S_IFIFO:
		node->kind = NODE_FIFO;
		return 0;
	case S_IFSOCK:
		skip(node, NODE_WHY_SOCKET);
		return 0;
	default:
		skip(node, NODE_WHY_DEVICE);
		return 0;
	}
}

static int count_entry(struct looking *at, const struct node *node)
{
	struct look_walk *walk = at->walk;
	bool skipped = node->kind == NODE_SKIPPED && node->why != NODE_WHY_DELETED;

	walk->files += node->kind != NODE_FOLDER;
	walk->bytes += node->kind == NODE_FILE ? node->size : 0;
	walk->odd += skipped || node->kind == NODE_FIFO;
	if (++at->entries > LOOK_WALK_MOST)
		return error_set(
			at->err,
			"the project has more than %d files (ignore some of them in .gitignore)",
			LOOK_WALK_MOST);
	if (walk->odd > LOOK_WALK_MOST_ODD)
		return error_set(at->err,
				 "the project has more than %d pipes, sockets and unreadable files",
				 LOOK_WALK_MOST_ODD);
	return 0;
}

/* Uses the cached node if the thread has found it unchanged. */
static bool reuse_seen(struct node *node, const struct node *known, unsigned char type)
{
	const char *name = node->name;

	if (!known || (type != DT_REG && type != DT_LNK) || !ahead_seen(known))
		return false;
	*node = *known;
	node->name = name;
	node->seen = 0;
	return true;
}

/* Scans the entry whose path is set. */
static int scan_entry(struct looking *at, int fd, struct node *node, struct before before,
		      bool tracked_only, int depth)
{
	const struct node *known = before.known;
	unsigned char type = (unsigned char)node->mode;
	struct stat status = { 0 };
	bool only;

	if (type == DT_UNKNOWN) {
		if (fstatat(fd, node->name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
			node->kind = NODE_KINDS;
			return 0;
		}
		type = IFTODT(status.st_mode);
	}
	if (is_ignored(at, known, type == DT_DIR, tracked_only, &only)) {
		if (!is_asked_for(&before)) {
			node->kind = NODE_IGNORED;
			node->mode = type == DT_DIR;
			note_ignored(at->walk, &before, node);
			return 0;
		}
		only = type == DT_DIR;
		at->walk->included++;
	}
	if (reuse_seen(node, known, type))
		return count_entry(at, node);
	if (type == DT_WHT) {
		skip(node, NODE_WHY_DELETED);
		return count_entry(at, node);
	}
	if ((!status.st_mode && fstatat(fd, node->name, &status, AT_SYMLINK_NOFOLLOW) < 0) ||
	    is_unchanged(before.layer, node, &status)) {
		node->kind = NODE_KINDS;
		return 0;
	}
	content_set_stat(&status, node);
	if (scan_kind(at, fd, node, &status, before, only, depth) < 0)
		return -1;
	return count_entry(at, node);
}

/* ---- git trees ---- */

struct stored {
	const struct node *node;
	size_t name; /* its offset */
	const char *text;
};

/* git sorts a folder as if its name ended with a slash. */
static int by_stored(const void *a, const void *b)
{
	const struct stored *left = a;
	const struct stored *right = b;
	bool left_tree = left->node->kind == NODE_FOLDER || left->node->chunked;
	bool right_tree = right->node->kind == NODE_FOLDER || right->node->chunked;
	size_t i = 0;

	while (left->text[i] && left->text[i] == right->text[i])
		i++;

	int one = left->text[i] ? (unsigned char)left->text[i] : left_tree ? '/' : 0;
	int other = right->text[i] ? (unsigned char)right->text[i] : right_tree ? '/' : 0;

	return one - other;
}

static const char *git_mode(const struct node *node)
{
	if (node->kind == NODE_FOLDER || node->chunked)
		return "40000 ";
	if (node->kind == NODE_LINK)
		return "120000 ";
	return node->mode & 0100 ? "100755 " : "100644 ";
}

int look_walk_write_tree(struct pack *pack, struct node *folder, struct error *err)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT((size_t)1 << 31);
	AUTO_BUFFER struct buffer tree = BUFFER_INIT((size_t)1 << 31);
	AUTO_FREE struct stored *list = mem_alloc((folder->count + 1) * sizeof *list);
	size_t count = 0;

	for (size_t i = 0; i < folder->count; i++) {
		const struct node *node = &folder->inner[i];

		if (node->kind != NODE_FILE && node->kind != NODE_FOLDER && node->kind != NODE_LINK)
			continue;
		list[count++] = (struct stored){ .node = node, .name = names.used };
		stored_name_store(&names, node->name, node->chunked);
		buffer_add(&names, "", 1);
	}
	for (size_t i = 0; i < count; i++)
		list[i].text = names.data + list[i].name;
	qsort(list, count, sizeof *list, by_stored);
	for (size_t i = 0; i < count; i++) {
		buffer_add_text(&tree, git_mode(list[i].node));
		buffer_add(&tree, list[i].text, strlen(list[i].text) + 1);
		buffer_add(&tree, list[i].node->id, NODE_ID);
	}
	return pack_add(pack, GIT_OBJECT_TREE, buffer_text(&tree), tree.used, folder->id, err);
}

/* ---- folders ---- */

static bool differs(const struct node *node, const struct node *known)
{
	return !known || known->kind != node->kind || known->chunked != node->chunked ||
	       (known->mode & 0100) != (node->mode & 0100) ||
	       memcmp(known->id, node->id, NODE_ID) != 0;
}

/* Returns the entry with this name in the cached folder, advancing *at. */
static const struct node *next_known(const struct node *folder, size_t *at, const char *name)
{
	while (folder && *at < folder->count) {
		int order = strcmp(folder->inner[*at].name, name);

		if (order == 0)
			return &folder->inner[(*at)++];
		if (order > 0)
			break;
		(*at)++;
	}
	return NULL;
}

static int scan_folder(struct looking *at, int fd, struct node *folder, struct before before,
		       bool tracked_only, int depth)
{
	const struct node *known = before.known;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	size_t used = at->path.used;
	size_t next = 0;
	bool changed;

	if (copy < 0 || !read_names(copy, folder, before.layer, depth)) {
		skip(folder, NODE_WHY_UNREADABLE);
		return 0;
	}
	if (at->walk->collect)
		collect_rules(at, fd);
	changed = !known || known->count != folder->count;
	for (size_t i = 0; i < folder->count; i++) {
		struct node *node = &folder->inner[i];
		const struct node *was = next_known(known, &next, node->name);
		int result;

		node_path_add(&at->path, node->name);
		result = scan_entry(at, fd, node, before_entry(&before, was, node->name),
				    tracked_only, depth);
		node_path_cut(&at->path, used);
		if (result < 0)
			return -1;
		changed = changed || differs(node, was);
	}
	compact(folder);
	if (!changed && known->count == folder->count) {
		memcpy(folder->id, known->id, NODE_ID);
		return 0;
	}
	at->walk->changed = true;
	return at->walk->layer ? 0 : look_walk_write_tree(at->walk->content.pack, folder, at->err);
}

int look_walk_scan(struct look_walk *walk, struct error *err)
{
	struct looking at = { .walk = walk, .path = BUFFER_INIT(NODE_PATH_MAX), .err = err };
	AUTO_FREE char *room = mem_alloc(CONTENT_PIECE + 1);
	AUTO_FD fd = openat(walk->project, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct before before = { .known = walk->known, .layer = walk->layer };
	struct stat status;
	int result;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "read the project's folder");
	memcpy(before.extra, walk->extra, sizeof before.extra);
	walk->content.room = room;
	walk->root = (struct node){ .kind = NODE_FOLDER };
	content_set_stat(&status, &walk->root);
	at.device = walk->root.device;
	result = scan_folder(&at, fd, &walk->root, before, false, 0);
	buffer_release(&at.path);
	if (result == 0 && walk->root.kind != NODE_FOLDER)
		result = error_set(err, "the project's folder cannot be read");
	if (result == 0)
		node_group(&walk->root);
	return result;
}
