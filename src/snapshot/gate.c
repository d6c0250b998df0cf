/* The gate between a draft and its project: see gate.h. */
#include "snapshot/gate.h"

#include "gitconfig/gitdir.h"
#include "snapshot/apply/bare.h"
#include "snapshot/apply/user_repo.h"
#include "snapshot/checkpoint.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/restore_stage.h"
#include "snapshot/undo/tree_layer.h"
#include "snapshot/undo/tree_merge.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct crossing {
	struct snapshot_request *request;
	const char *kind; /* of the checkpoint with the merged tree */
	struct node base, draft;
	struct look present;
	struct checkpoint_repo_item before; /* the project as it is now */
	struct tree_merge merge;
	struct look wanted; /* the merged tree */
	struct changes changes;
	struct bare bare;
};

static int load(struct crossing *at, const char *number, struct node *ret_root, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct checkpoint_repo_item checkpoint;

	return checkpoint_repo_read(&request->repo, request->look.loop,
				    strtoll(number ? number : "0", NULL, 10), &checkpoint, err) < 0
		       ? -1
		       : checkpoint_repo_load(&request->repo, &checkpoint.tree, ret_root, err);
}

/* Saves the project as it is, so that it can be brought back, and its contents can be merged. */
static int save_present(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	bool same;

	request->save.kind = "undo";
	if (look_scan(&request->repo, &request->look, &at->present, err) < 0)
		return -1;
	return request->apply.dry ? look_finish(&request->repo, &at->present, err)
				  : save_checkpoint(&request->repo, &request->look, &at->present,
						    &request->save, &at->before, &same, err);
}

/* ---- the merged tree ---- */

static int write_trees(struct pack *pack, struct node *folder, struct error *err)
{
	for (size_t i = 0; i < folder->count; i++)
		if (folder->inner[i].kind == NODE_FOLDER &&
		    write_trees(pack, &folder->inner[i], err) < 0)
			return -1;
	return look_walk_write_tree(pack, folder, err);
}

static int count_entry(void *context, struct node *node, const char *path)
{
	struct look_walk *walk = context;

	(void)path;
	walk->files += node->kind != NODE_FOLDER && node->kind != NODE_IGNORED;
	walk->bytes += node->kind == NODE_FILE ? node->size : 0;
	walk->odd += node->kind == NODE_SKIPPED || node->kind == NODE_FIFO;
	return 0;
}

/* Prepares a merged tree to be saved, as if the project had been scanned with it. */
static int set_wanted(struct look *wanted, struct tree_merge *merge, struct error *err)
{
	wanted->walk.root = merge->result;
	merge->result = (struct node){ 0 };
	node_each(&wanted->walk.root, count_entry, &wanted->walk);
	if (write_trees(wanted->pack, &wanted->walk.root, err) < 0)
		return -1;
	return look_write_root(wanted, err);
}

static void begin_wanted(struct checkpoint_repo *repo, struct look *wanted)
{
	/* The same rules: nothing was scanned, so the cache stays as it is. */
	*wanted = (struct look){ .pack = pack_new(repo, false, NULL), .walk.same_rules = true };
}

static int merge(struct crossing *at, struct error *err)
{
	struct checkpoint_repo *repo = &at->request->repo;

	at->merge = (struct tree_merge){ .base = &at->base,
					 .draft = &at->draft,
					 .present = &at->present.walk.root,
					 .paths = &at->request->differ.paths };
	begin_wanted(repo, &at->wanted);
	if (tree_merge(&at->merge, repo, at->wanted.pack, err) < 0)
		return -1;
	return set_wanted(&at->wanted, &at->merge, err);
}

/* ---- saving a result ---- */

/* Saves the base with the draft's own changes. */
static int save_own(struct crossing *at, const struct draft_layer *layer,
		    struct checkpoint_repo_item *ret_made, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct checkpoint_repo *repo = &request->repo;
	bool same;

	begin_wanted(repo, &at->wanted);
	tree_layer(&at->base, &at->present.walk.root, layer, &at->merge.result);
	if (look_finish(repo, &at->present, err) < 0 ||
	    set_wanted(&at->wanted, &at->merge, err) < 0)
		return -1;
	return save_checkpoint(repo, &request->look, &at->wanted, &request->save, ret_made, &same,
			       err);
}

static void crossing_release(struct crossing *at)
{
	changes_release(&at->changes);
	bare_release(&at->bare);
	look_release(&at->wanted);
	tree_merge_release(&at->merge);
	look_release(&at->present);
	node_release(&at->base);
	node_release(&at->draft);
}

int gate_save(struct snapshot_request *request, struct error *err)
{
	struct draft_layer_root layers;
	struct crossing at = { .request = request };
	struct checkpoint_repo_item made;
	int result = -1;

	if (draft_layer_open(request->draft, &layers, err) == 0 &&
	    checkpoint_begin(request, err) == 0 && load(&at, "0", &at.base, err) == 0 &&
	    look_scan(&request->repo, &request->look, &at.present, err) == 0)
		result = save_own(&at, &layers.top, &made, err);
	if (result == 0)
		json_number(&request->json, "number", (uint64_t)made.number);
	crossing_release(&at);
	draft_layer_release(&layers);
	return result;
}

/* ---- the answer ---- */

struct target {
	char text[PATH_MAX];
	size_t used;
};

static int add_part(void *context, const void *bytes, size_t size, uint64_t offset,
		    struct error *err)
{
	struct target *target = context;

	(void)offset;
	(void)err;
	if (target->used + size < sizeof target->text) {
		memcpy(target->text + target->used, bytes, size);
		target->used += size;
	}
	return 0;
}

static int write_change(struct crossing *at, const char *path, const struct node *old,
			const struct node *new, struct error *err)
{
	struct json *json = &at->request->json;
	struct target target = { 0 };

	if (new &&new->kind == NODE_LINK &&
	    restore_stage_read(&at->request->repo, new, add_part, &target, err) < 0)
		return -1;
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_text(json, "status", !old ? "added" : !new ? "deleted" : "modified");
	if (new &&new->kind == NODE_LINK)
		json_text(json, "target", target.text);
	json_flag(json, "git", bare_contains(&at->bare, path));
	json_close(json);
	return 0;
}

/* A renamed file is one that is deleted and one that is added. */
static int write_changes(struct crossing *at, struct error *err)
{
	int result = 0;

	json_open(&at->request->json, "changes", '[');
	for (size_t i = 0; i < at->changes.count && result == 0; i++) {
		const struct changes_item *item = &at->changes.items[i];

		if (item->from)
			result = write_change(at, item->from, item->old, NULL, err);
		if (result == 0)
			result = write_change(at, item->path, item->from ? NULL : item->old,
					      item->new, err);
	}
	json_close(&at->request->json);
	return result;
}

/* Adds the paths that git obeys here, also if the project is a folder of a larger work tree. */
static int write_obeyed(struct crossing *at, struct error *err)
{
	const char *project = at->request->look.project;
	AUTO_FREE char *around = gitdir_around(project);
	AUTO_FREE char *own = gitdir_find(project);
	AUTO_FREE char *git = own || !around ? NULL : gitdir_find(around);
	struct list obeyed = { 0 };
	int result = 0;

	if (own || git)
		result = user_repo_obeyed(own ? own : git, own ? project : around, &obeyed, err);
	json_list(&at->request->json, "obeyed", &obeyed);
	list_release(&obeyed);
	return result;
}

static int describe(struct crossing *at, struct error *err)
{
	struct json *json = &at->request->json;
	const struct list everything = { 0 };
	char tree[GIT_OID_HEXSZ + 1];
	AUTO_FD work = open(at->request->look.project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int result;

	changes_find(&at->present.walk.root, &at->wanted.walk.root, &everything, &at->changes);
	at->bare = (struct bare){ .repository = at->request->repo.repository, .work = work };
	memcpy(at->bare.tree.id, at->wanted.walk.root.id, NODE_ID);
	for (size_t i = 0; i < at->changes.count; i++)
		if (at->changes.items[i].new)
			bare_add(&at->bare, at->changes.items[i].path);
	json_text(json, "work_tree", at->request->look.project);
	json_text(json, "tree", git_oid_tostr(tree, sizeof tree, &at->wanted.tree));
	json_list(json, "conflicts", &at->merge.conflicts);
	json_list(json, "joined", &at->merge.joined);
	result = write_changes(at, err) < 0 || write_obeyed(at, err) < 0 ? -1 : 0;
	return result;
}

/* ---- crossing ---- */

/* Reports whether this is what the user was shown. */
static bool is_shown(const struct crossing *at)
{
	const char *shown = at->request->apply.tree;
	char tree[GIT_OID_HEXSZ + 1];

	return !shown || strcmp(git_oid_tostr(tree, sizeof tree, &at->wanted.tree), shown) == 0;
}

static int cross(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct json *json = &request->json;
	struct restore_result done = { 0 };
	int result = restore_project(&request->repo, &request->look, &at->present, &at->wanted.tree,
				     "", &done, err);

	if (result == 0) {
		json_number(json, "before", (uint64_t)at->before.number);
		json_number(json, "written", done.written);
		json_number(json, "removed", done.removed);
		json_number(json, "adjusted", done.adjusted);
		json_list(json, "kept", &done.kept);
	}
	list_release(&done.kept);
	return result;
}

/* The merged tree gets a number, so that a later crossing can undo this one. */
static int store(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct checkpoint_repo_item made;
	bool same;

	if (request->apply.dry || at->merge.conflicts.count)
		return pack_finish(at->wanted.pack, err);
	request->save.kind = at->kind;
	if (save_checkpoint(&request->repo, &request->look, &at->wanted, &request->save, &made,
			    &same, err) < 0)
		return -1;
	json_number(&request->json, "number", (uint64_t)made.number);
	return 0;
}

static int run(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;

	if (checkpoint_begin(request, err) < 0 || load(at, request->from, &at->base, err) < 0 ||
	    load(at, request->to, &at->draft, err) < 0 || save_present(at, err) < 0 ||
	    merge(at, err) < 0)
		return -1;
	if (!is_shown(at))
		return error_with(err, ERROR_BUSY,
				  "the project changed in the meantime (try again)");
	if (store(at, err) < 0 || describe(at, err) < 0)
		return -1;
	if (request->apply.dry || at->merge.conflicts.count || !at->changes.count)
		return 0;
	return cross(at, err);
}

int gate_cross(struct snapshot_request *request, struct error *err)
{
	struct crossing at = { .request = request,
			       .kind = request->save.kind ? request->save.kind : "apply" };
	int result = run(&at, err);

	crossing_release(&at);
	return result;
}
