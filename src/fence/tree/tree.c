/* The file tree of a fence as data: see tree.h. */
#include "fence/tree/tree.h"

#include "fence/plan/defaults.h"
#include "fence/tree/etc.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct tree *tree, struct tree_entry entry)
{
	enum { ROOM = 64 };

	if (tree->count % ROOM == 0)
		tree->items = mem_resize(tree->items, tree->count + ROOM, sizeof *tree->items);
	tree->items[tree->count++] = entry;
}

/* Returns a copy of the text that the tree owns. */
static const char *keep(struct tree *tree, const char *text)
{
	list_add(&tree->texts, text);
	return tree->texts.items[tree->texts.count - 1];
}

static void add_folder(struct tree *tree, const char *path, bool scratch)
{
	add(tree, (struct tree_entry){ .kind = TREE_FOLDER, .path = path, .scratch = scratch });
}

static void add_symlink(struct tree *tree, const char *path, const char *content)
{
	add(tree, (struct tree_entry){ .kind = TREE_SYMLINK, .path = path, .source = content });
}

static void add_tmpfs(struct tree *tree, const char *path, const char *mode, bool scratch)
{
	add(tree, (struct tree_entry){ .kind = TREE_TMPFS,
				       .path = path,
				       .mode = mode,
				       .is_dir = true,
				       .writable = true,
				       .scratch = scratch });
}

/* Adds a read-only mount of a host path. */
static void add_shown(struct tree *tree, const char *path, const char *source,
		      const struct stat *status)
{
	add(tree, (struct tree_entry){ .kind = TREE_SHOWN,
				       .path = path,
				       .source = source,
				       .is_dir = S_ISDIR(status->st_mode),
				       .device = status->st_dev,
				       .inode = status->st_ino });
}

static void add_image_folder(struct tree *tree, const char *path)
{
	add(tree, (struct tree_entry){ .kind = TREE_IMAGE, .path = path });
}

/* Adds the system's folders, read-only. A symlink stays a symlink; an empty /opt is left out.
 * image_opt: /opt is that of the image. */
static void add_system(struct tree *tree, bool image_opt)
{
	for (const char *const *at = defaults_shown; *at; at++) {
		char target[PATH_MAX];
		ssize_t n = readlink(*at, target, sizeof target - 1);
		struct stat status;

		if (image_opt && strcmp(*at, "/opt") == 0) {
			add_image_folder(tree, *at);
		} else if (n > 0) {
			target[n] = '\0';
			add_symlink(tree, *at, keep(tree, target));
		} else if (lstat(*at, &status) == 0 && S_ISDIR(status.st_mode) &&
			   (strcmp(*at, "/opt") != 0 || status.st_nlink > 2 ||
			    dirwalk_has_entries(*at) != 0)) {
			add_shown(tree, *at, *at, &status);
		}
	}
}

static void add_devices(struct tree *tree)
{
	static const struct {
		const char *content;
		const char *path;
	} links[] = {
		{ "/proc/self/fd", "/dev/fd" },       { "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" }, { "/proc/self/fd/2", "/dev/stderr" },
		{ "/proc/kcore", "/dev/core" },       { "pts/ptmx", "/dev/ptmx" },
	};

	add_tmpfs(tree, "/dev", "755", false);
	add_folder(tree, "/dev/shm", true);
	add(tree, (struct tree_entry){ .kind = TREE_DEVICES, .path = "/dev" });
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		add_symlink(tree, links[i].path, links[i].content);
	add(tree, (struct tree_entry){ .kind = TREE_PTS, .path = "/dev/pts", .is_dir = true });
}

/* /var/tmp is a symlink to /tmp unless a rule or the home is in it. */
static bool needs_var_tmp(const struct fence_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(plan->rules[i].path, "/var/tmp"))
			return true;
	return path_within(plan->home, "/var/tmp");
}

static void add_temporary(struct tree *tree, const struct fence_plan *plan)
{
	add_tmpfs(tree, "/tmp", "1777", true);
	add_folder(tree, "/var", false);
	if (needs_var_tmp(plan))
		add_tmpfs(tree, "/var/tmp", "1777", strcmp(plan->home, "/var/tmp") != 0);
	else
		add_symlink(tree, "/var/tmp", "/tmp");
}

static int add_etc(struct tree *tree, const struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *etc = NULL;
	struct stat status;

	if (etc_prepare(plan, &etc, err) < 0)
		return -1;
	if (lstat(etc, &status) < 0)
		return error_sys(err, "stat '%s'", etc);
	add_shown(tree, "/etc", keep(tree, etc), &status);
	for (const char *const *path = defaults_etc_mounts; *path; path++)
		if (lstat(*path, &status) == 0 && S_ISDIR(status.st_mode))
			add_shown(tree, *path, *path, &status);
	return 0;
}

/* The empty file and folder that are mounted over hidden ones. */
struct stubs {
	const char *file, *folder;
	struct stat file_status, folder_status;
};

static int find_stubs(struct tree *tree, struct stubs *stubs, struct error *err)
{
	AUTO_FREE char *file = path_join(tree->plan->state, "hidden/file");
	AUTO_FREE char *folder = path_join(tree->plan->state, "hidden/folder");

	if (stat(file, &stubs->file_status) < 0 || stat(folder, &stubs->folder_status) < 0)
		return error_sys(err, "stat '%s'", file);
	stubs->file = keep(tree, file);
	stubs->folder = keep(tree, folder);
	return 0;
}

/* Returns whether an earlier rule shows the path of this one, so that it must already exist. */
static bool is_shown(const struct fence_plan *plan, size_t index)
{
	for (size_t i = index; i-- > 0;)
		if (path_within(plan->rules[index].path, plan->rules[i].path))
			return plan->rules[i].access != WIRE_HIDE_AROUND;
	return false;
}

static struct tree_entry entry_of(const struct fence_rule *rule, const struct stubs *stubs)
{
	struct tree_entry entry = { .kind = TREE_SHOWN,
				    .path = rule->path,
				    .source = rule->source ? rule->source : rule->path,
				    .rule = rule,
				    .is_dir = rule->is_dir,
				    .writable = rule->access == WIRE_WRITE,
				    .device = rule->source ? rule->source_device : rule->device,
				    .inode = rule->source ? rule->source_inode : rule->inode };

	if (rule->access == WIRE_HIDE) {
		const struct stat *stub = rule->is_dir ? &stubs->folder_status
						       : &stubs->file_status;

		entry.source = rule->is_dir ? stubs->folder : stubs->file;
		entry.device = stub->st_dev;
		entry.inode = stub->st_ino;
	} else if (rule->access == WIRE_HIDE_AROUND) {
		entry.kind = TREE_TMPFS;
		entry.mode = "755";
	}
	return entry;
}

static int add_rules(struct tree *tree, const struct fence_plan *plan, struct error *err)
{
	struct stubs stubs;

	if (find_stubs(tree, &stubs, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct tree_entry entry = entry_of(&plan->rules[i], &stubs);

		entry.exists = is_shown(plan, i);
		add(tree, entry);
	}
	return 0;
}

static int add_init(struct tree *tree, const struct fence_plan *plan, struct error *err)
{
	struct stat status;

	if (lstat(plan->init, &status) < 0)
		return error_sys(err, "stat '%s'", plan->init);
	add_shown(tree, TREE_INIT, plan->init, &status);
	return 0;
}

/* Covers a file of the image's /etc by the one in our own. */
static int add_image_cover(struct tree *tree, const char *path, const char *source,
			   struct error *err)
{
	struct stat status;

	if (lstat(source, &status) < 0)
		return error_sys(err, "stat '%s'", source);
	add_shown(tree, path, keep(tree, source), &status);
	tree->items[tree->count - 1].covers_image = true;
	return 0;
}

/* The folders of a container's image; see mechanism/container_image.h. */
static int add_image(struct tree *tree, const struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *etc = NULL;
	AUTO_FREE char *passwd = NULL;
	AUTO_FREE char *group = NULL;

	if (etc_prepare(plan, &etc, err) < 0)
		return -1;
	for (const char *const *at = defaults_shown; *at; at++)
		add_image_folder(tree, *at);
	add_image_folder(tree, "/etc");
	passwd = path_join(etc, "passwd");
	group = path_join(etc, "group");
	return add_image_cover(tree, "/etc/passwd", passwd, err) < 0
		       ? -1
		       : add_image_cover(tree, "/etc/group", group, err);
}

/* The owner of the system folders in the tree. */
enum origin { ORIGIN_HOST, ORIGIN_HOST_BUT_OPT, ORIGIN_IMAGE };

static int add_origin(struct tree *tree, const struct fence_plan *plan, enum origin origin,
		      struct error *err)
{
	if (origin == ORIGIN_IMAGE)
		return add_image(tree, plan, err);
	add_system(tree, origin == ORIGIN_HOST_BUT_OPT);
	return add_etc(tree, plan, err);
}

static int make(const struct fence_plan *plan, enum origin origin, struct tree *ret_tree,
		struct error *err)
{
	struct tree tree = { .plan = plan };

	add_folder(&tree, "/proc", false);
	add_devices(&tree);
	add_temporary(&tree, plan);
	if (add_origin(&tree, plan, origin, err) < 0)
		goto failed;
	add_tmpfs(&tree, plan->home, "700", true);
	if (add_rules(&tree, plan, err) < 0 || add_init(&tree, plan, err) < 0)
		goto failed;
	*ret_tree = tree;
	return 0;
failed:
	tree_release(&tree);
	return -1;
}

int tree_make(const struct fence_plan *plan, struct tree *ret_tree, struct error *err)
{
	return make(plan, plan->spec->image ? ORIGIN_IMAGE : ORIGIN_HOST, ret_tree, err);
}

int tree_use_host(struct tree *tree, bool image_opt, struct error *err)
{
	struct tree other;

	if (make(tree->plan, image_opt ? ORIGIN_HOST_BUT_OPT : ORIGIN_HOST, &other, err) < 0)
		return -1;
	tree_release(tree);
	*tree = other;
	return 0;
}

void tree_set_symlink(struct tree *tree, struct tree_entry *entry, const char *content)
{
	entry->kind = TREE_SYMLINK;
	entry->source = keep(tree, content);
}

void tree_release(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].kind == TREE_GIVEN)
			fd_close(&tree->items[i].given);
	free(tree->items);
	list_release(&tree->texts);
	*tree = (struct tree){ 0 };
}

void tree_describe(const struct tree *tree, struct buffer *order)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->items[i];
		const struct wire_rule wire = { .device = entry->device,
						.inode = entry->inode,
						.access = entry->rule ? entry->rule->access
								      : WIRE_READ };

		if (entry->rule || entry->kind == TREE_SHOWN || entry->kind == TREE_GIVEN)
			wire_add_rule(order, &wire, entry->path);
		if (entry->scratch)
			wire_add_string(order, WIRE_SCRATCH, entry->path);
	}
}
