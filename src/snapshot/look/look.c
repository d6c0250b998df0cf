/* Scans of a project. */
#include "snapshot/look/look.h"

#include "gitconfig/gitdir.h"
#include "snapshot/base/gituser.h"
#include "snapshot/generated.h"
#include "snapshot/look/tree_layer.h"
#include "snapshot/look/tree_totals.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IGNORE_BYTES = 1 << 20 };

/* ---- the loop's ignore rules ---- */

static void add_file(struct ignore_rules *rules, const char *path)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(IGNORE_BYTES);

	if (fd_read_path(path, &text) == 0)
		ignore_rules_add(rules, "", text.data, text.used);
}

void look_add_user_rules(struct ignore_rules *rules)
{
	AUTO_FREE char *home = gituser_home();
	AUTO_FREE char *usual = gituser_file(home, "git/ignore");
	AUTO_FREE char *named = gituser_setting(NULL, "core.excludesfile");
	AUTO_FREE char *path = named ? gituser_path(named, home) : NULL;

	ignore_rules_add(rules, "", GENERATED_CACHES, strlen(GENERATED_CACHES));
	add_file(rules, path ? path : usual);
}

/*
 * Files that git tracks are saved even if a rule ignores them. Returns 0, or -1 if the index cannot
 * be read.
 */
static int add_tracked(struct ignore_rules *rules, const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "index");
	git_index *index = NULL;

	if (access(path, F_OK) < 0)
		return errno == ENOENT ? 0 : -1;
	if (git_index_open(&index, path) < 0 || git_index_read(index, 1) < 0) {
		git_index_free(index);
		return -1;
	}
	for (size_t i = 0; i < git_index_entrycount(index); i++)
		ignore_rules_track(rules, git_index_get_byindex(index, i)->path);
	git_index_free(index);
	return 0;
}

/* Collects all rules except the .gitignore files, which the scan adds. */
static void gather_rules(const char *project, struct look *look)
{
	AUTO_FREE char *folder = gitdir_find(project);

	look->rules = ignore_rules_new();
	if (folder && add_tracked(look->rules, folder) < 0) {
		ignore_rules_free(look->rules);
		look->rules = NULL;
		look->notice =
			"the git index cannot be read (is it a sparse index?), so checkpoints "
			"include ignored files";
		return;
	}
	look_add_user_rules(look->rules);
	if (folder) {
		AUTO_FREE char *exclude = path_join(folder, "info/exclude");

		add_file(look->rules, exclude);
	}
	ignore_rules_ready(look->rules);
}

static int read_rules(struct checkpoint_repo *repo, const struct look_options *options,
		      struct look *look, struct error *err)
{
	AUTO_FREE char *name = path_join("rules", options->loop);
	AUTO_FD fd = openat(repo->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(IGNORE_RULES_BYTES);

	if (options->ignored)
		return 0;
	if (fd < 0 && errno == ENOENT) {
		if (checkpoint_repo_git(repo, err) < 0)
			return -1;
		gather_rules(options->project, look);
		look->walk.collect = look->rules != NULL;
		return 0;
	}
	if (fd < 0 || fd_read_all(fd, &bytes) < 0)
		return error_sys(err, "read the loop's ignore rules");
	if (bytes.used == 1) /* save everything */
		return 0;
	sha256_hex(bytes.data ? bytes.data : "", bytes.used, look->rules_hash);
	return ignore_rules_read(buffer_text(&bytes), bytes.used, &look->rules, err);
}

/* Stores the rules of the first scan, which hold for all later ones. */
static int write_rules(struct checkpoint_repo *repo, const char *loop, struct look *look,
		       struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(IGNORE_RULES_BYTES);
	AUTO_FD folder = openat(repo->folder, "rules", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (look->rules) {
		ignore_rules_settle(look->rules);
		ignore_rules_write(look->rules, &bytes);
	} else {
		buffer_add(&bytes, "-", 1);
	}
	if (buffer_overflowed(&bytes))
		return error_set(err, "the project's ignore rules are longer than %d MiB",
				 IGNORE_RULES_BYTES >> 20);
	if (look->rules)
		sha256_hex(buffer_text(&bytes), bytes.used, look->rules_hash);
	return checkpoint_repo_write(repo, folder, loop, buffer_text(&bytes), bytes.used, err);
}

/* ---- scanning ---- */

static void add_entry(struct buffer *tree, const char *mode, const char *name,
		      const unsigned char *id)
{
	buffer_printf(tree, "%s %s", mode, name);
	buffer_add(tree, "", 1);
	buffer_add(tree, id, NODE_ID);
}

/* like: of the tree's usual modes (manifest_write()), or NULL. */
static int write_root(struct look *look, const struct manifest_head *like, struct error *err)
{
	AUTO_BUFFER struct buffer manifest = BUFFER_INIT((size_t)1 << 31);
	AUTO_BUFFER struct buffer tree = BUFFER_INIT(256);
	unsigned char id[NODE_ID];

	manifest_write(&look->walk.root, like, &manifest);
	if (pack_add(look->pack, GIT_OBJECT_BLOB, manifest.data, manifest.used, id, err) < 0)
		return -1;
	add_entry(&tree, "40000", "files", look->walk.root.id);
	add_entry(&tree, "100644", "manifest", id);
	return pack_add(look->pack, GIT_OBJECT_TREE, tree.data, tree.used, look->tree.id, err);
}

/* Reads the cache, and starts the thread that compares the project with it. */
static void use_cache(struct checkpoint_repo *repo, int project, struct look *look)
{
	if (!cache_read(repo->folder, &look->cache))
		return;
	look->walk.known = &look->cache.root;
	look->ahead = ahead_start(project, &look->cache.root);
}

/* Stores the rules of a first scan. The cache may have been made with the same ones. */
static int settle_rules(struct checkpoint_repo *repo, const struct look_options *options,
			struct look *look, struct error *err)
{
	if (write_rules(repo, options->loop, look, err) < 0)
		return -1;
	look->walk.same_rules = look->walk.known &&
				strcmp(look->cache.rules, look->rules_hash) == 0;
	return 0;
}

static int scan_files(struct checkpoint_repo *repo, const struct look_options *options,
		      struct look *look, struct error *err)
{
	bool first;

	if (read_rules(repo, options, look, err) < 0)
		return -1;
	first = look->walk.collect || look->notice;
	look->pack = pack_new(repo, false, NULL);
	look->walk.rules = look->rules;
	look->walk.content = (struct content){ .pack = look->pack, .live = options->live };
	memcpy(look->walk.extra, options->extra, sizeof look->walk.extra);
	look->walk.same_rules = look->walk.known && !first &&
				strcmp(look->cache.rules, look->rules_hash) == 0;
	if (look_walk_scan(&look->walk, err) < 0 || write_root(look, NULL, err) < 0)
		return -1;
	/* This cache does not tell which files the rules ignore. */
	if (look->walk.included)
		snprintf(look->rules_hash, sizeof look->rules_hash, "+");
	return first ? settle_rules(repo, options, look, err) : 0;
}

static int scan_project(struct checkpoint_repo *repo, const struct look_options *options,
			struct look *look, struct error *err)
{
	AUTO_FD project = open(options->project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int result;

	*look = (struct look){ .rules_hash = "-", .reader.repo = repo };
	if (project < 0)
		return error_sys(err, "open the project '%s'", options->project);
	look->walk.project = project;
	use_cache(repo, project, look);
	result = scan_files(repo, options, look, err);
	ahead_stop(look->ahead);
	return result;
}

/* ---- trees that no scan has made ---- */

static int write_trees(struct pack *pack, struct node *folder, struct error *err)
{
	static const unsigned char none[NODE_ID];

	if (memcmp(folder->id, none, NODE_ID) != 0)
		return 0;
	for (size_t i = 0; i < folder->count; i++)
		if (folder->inner[i].kind == NODE_FOLDER &&
		    write_trees(pack, &folder->inner[i], err) < 0)
			return -1;
	return look_walk_write_tree(pack, folder, err);
}

static int set_tree(struct look *look, struct node *tree, const struct manifest_head *like,
		    const struct tree_totals *totals, struct error *err)
{
	/* The same rules: the project was not scanned, so the cache stays as it is. */
	look->walk.same_rules = true;
	look->walk.changed = false;
	look->walk.files = totals->files;
	look->walk.bytes = totals->bytes;
	look->walk.odd = totals->odd;
	look->walk.root = *tree;
	*tree = (struct node){ 0 };
	return write_trees(look->pack, &look->walk.root, err) < 0 ? -1
								  : write_root(look, like, err);
}

int look_set_tree(struct look *look, struct node *tree, struct error *err)
{
	struct tree_totals totals = tree_totals_count(tree);

	return set_tree(look, tree, NULL, &totals, err);
}

/* ---- drafts ---- */

int look_scan_layer(struct checkpoint_repo *repo, const struct look_options *options,
		    struct draft_layer_root *ret_layers, struct look *look, struct error *err)
{
	const struct draft_layer *layer = &ret_layers->top;

	*look = (struct look){ .rules_hash = "-" };
	if (draft_layer_open(options->draft, ret_layers, err) < 0)
		return -1;
	if (read_rules(repo, options, look, err) < 0)
		return -1;
	if (look->walk.collect || look->notice)
		return error_set(err, "the ignore rules of the loop's first checkpoint are lost");
	look->pack = pack_new(repo, false, NULL);
	look->walk.project = layer->folder;
	look->walk.rules = look->rules;
	look->walk.layer = layer;
	look->walk.content = (struct content){ .pack = look->pack, .live = options->live };
	return look_walk_scan(&look->walk, err);
}

/* A tree in the repository does not have the sizes of files. */
static int read_size(void *context, struct node *node, const char *path)
{
	int64_t size = node->kind == NODE_FILE ? tree_reader_size(context, node) : -1;

	(void)path;
	if (size >= 0)
		node->size = (uint64_t)size;
	return 0;
}

/* Opens the tree that a draft began with: its first folder, or the whole tree with sizes. */
static int open_base(struct checkpoint_repo *repo, const struct look_options *options,
		     const struct checkpoint_repo_item *first, struct look *look, struct node *base,
		     struct error *err)
{
	if (tree_reader_start(&look->reader, repo, &first->tree, base, err) < 0)
		return -1;
	if (options->sparse)
		return 0;
	if (tree_reader_open_all(&look->reader, base, err) < 0)
		return -1;
	node_each(base, read_size, repo);
	return 0;
}

/* Puts the layer that was scanned over the base. The usual modes are the base's, and the totals are
 * changed from the base's: the whole tree need not be open to count them. */
static int put_layer(struct look *look, const struct draft_layer *layer,
		     const struct checkpoint_repo_item *first, struct node *base, struct error *err)
{
	struct tree_totals totals = { first->files, first->bytes, first->skipped };
	struct node tree;
	int result = tree_layer(&look->reader, base, &look->walk.root, layer, &tree, err);

	node_release(&look->walk.root);
	if (result == 0)
		result = tree_totals_change(&look->reader, base, &tree, &totals, err);
	if (result == 0)
		result = set_tree(look, &tree, &look->reader.head, &totals, err);
	node_release(&tree);
	return result;
}

static int scan_draft(struct checkpoint_repo *repo, const struct look_options *options,
		      struct look *look, struct error *err)
{
	struct checkpoint_repo_item first;
	struct draft_layer_root layers;
	struct node base = { 0 };
	int result;

	*look = (struct look){ 0 };
	if (checkpoint_repo_read(repo, options->loop, 0, &first, err) < 0)
		return -1;
	result = look_scan_layer(repo, options, &layers, look, err) < 0 ||
				 open_base(repo, options, &first, look, &base, err) < 0 ||
				 put_layer(look, &layers.top, &first, &base, err) < 0
			 ? -1
			 : 0;
	draft_layer_release(&layers);
	node_release(&base);
	return result;
}

/* Reports whether the loop has checkpoints. Its first one is of the project itself. */
static bool has_base(const struct checkpoint_repo *repo, const char *loop)
{
	AUTO_FREE char *refs = mem_format("refs/ringfence/%s", loop);

	return faccessat(repo->folder, refs, F_OK, 0) == 0;
}

int look_scan(struct checkpoint_repo *repo, const struct look_options *options, struct look *look,
	      struct error *err)
{
	return options->draft && has_base(repo, options->loop)
		       ? scan_draft(repo, options, look, err)
		       : scan_project(repo, options, look, err);
}

int look_finish(struct checkpoint_repo *repo, struct look *look, struct error *err)
{
	if (pack_finish(look->pack, err) < 0)
		return -1;
	/* The cache must not name objects that are not in the repository. */
	return look->walk.changed || !look->walk.same_rules
		       ? cache_write(repo->folder, look->rules_hash, &look->walk.root, err)
		       : 0;
}

void look_release(struct look *look)
{
	node_release(&look->walk.root);
	cache_release(&look->cache);
	ignore_rules_free(look->rules);
	pack_free(look->pack);
	*look = (struct look){ 0 };
}
