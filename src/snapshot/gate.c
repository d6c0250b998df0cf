/* The gate between a draft and its project: see gate.h. */
#include "snapshot/gate.h"

#include "gitconfig/gitdir.h"
#include "snapshot/apply/bare.h"
#include "snapshot/apply/user_repo.h"
#include "snapshot/checkpoint.h"
#include "snapshot/look/tree_applied.h"
#include "snapshot/look/tree_ignored.h"
#include "snapshot/look/tree_layer.h"
#include "snapshot/snapshot.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/hunks.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/restore_stage.h"
#include "snapshot/undo/tree_choice.h"
#include "snapshot/undo/tree_merge.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct crossing {
	struct snapshot_request *request;
	const char *kind; /* of the checkpoint with the merged tree */
	struct node base, draft;
	int64_t began_ms;               /* when the base was saved */
	struct tree_applied_list past;  /* earlier crossings of the draft */
	struct node since;              /* the base of what changed after them */
	struct draft_layer_root layers; /* with ignored files: the draft itself, */
	struct look layer;              /* what it changes, */
	struct node first;              /* and its base without ignored files */
	struct look present;
	struct checkpoint_repo_item before; /* the project as it is now */
	struct tree_merge merge;
	struct look wanted;                 /* the merged tree */
	struct checkpoint_repo_item record; /* its checkpoint, which gets its number later */
	struct changes changes;
	struct bare bare;
};

/* Begins to read the tree of a checkpoint (store/tree_reader.h). */
static int start(struct crossing *at, const char *number, struct tree_reader *reader,
		 struct node *ret_root, git_oid *ret_tree, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct checkpoint_repo_item checkpoint;

	if (checkpoint_repo_read(&request->repo, request->look.loop,
				 strtoll(number ? number : "0", NULL, 10), &checkpoint, err) < 0)
		return -1;
	*ret_tree = checkpoint.tree;
	return tree_reader_start(reader, &request->repo, &checkpoint.tree, ret_root, err);
}

static int load(struct crossing *at, const char *number, struct node *ret_root, git_oid *ret_tree,
		struct error *err)
{
	struct tree_reader reader;

	return start(at, number, &reader, ret_root, ret_tree, err) < 0
		       ? -1
		       : tree_reader_open_all(&reader, ret_root, err);
}

/* Loads both ends of the changes that cross, and scans the project with the ignored files in them.
 */
static int load_both(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;

	git_oid tree;

	if (load(at, request->from, &at->base, &tree, err) < 0 ||
	    load(at, request->to, &at->draft, &tree, err) < 0)
		return -1;
	request->look.extra[0] = &at->base;
	request->look.extra[1] = &at->draft;
	return 0;
}

/* Collects when the base was saved, and the project before and after each crossing, which are
 * consecutive checkpoints. */
static int add_past(void *context, const struct checkpoint_repo_item *checkpoint, struct error *err)
{
	struct crossing *at = context;
	struct checkpoint_repo *repo = &at->request->repo;
	struct tree_applied_list *past = &at->past;
	struct checkpoint_repo_item before;
	struct tree_applied *added;

	if (checkpoint->number == 0)
		at->began_ms = checkpoint->at_ms;
	if (strcmp(checkpoint->kind, SNAPSHOT_APPLY) != 0 &&
	    strcmp(checkpoint->kind, SNAPSHOT_UNAPPLY) != 0)
		return 0;
	past->items = mem_extend(past->items, past->count, sizeof *past->items);
	added = &past->items[past->count++];
	*added = (struct tree_applied){ 0 };
	return checkpoint_repo_read(repo, at->request->look.loop, checkpoint->number - 1, &before,
				    err) < 0 ||
			       tree_reader_load(repo, &before.tree, &added->before, err) < 0 ||
			       tree_reader_load(repo, &checkpoint->tree, &added->after, err) < 0
		       ? -1
		       : 0;
}

/* An undo has a base of its own: the project after what it takes back. */
static int load_past(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;

	if (strcmp(at->kind, SNAPSHOT_APPLY) != 0)
		return 0;
	return checkpoint_repo_each(&request->repo, request->look.loop, add_past, at, err);
}

/* The same for a crossing with the ignored files of a draft, whose result is made later. */
static int load_layers(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct look_options options = request->look;
	git_oid tree;

	options.draft = request->gate.layers;
	options.ignored = true;
	if (load(at, request->from, &at->first, &tree, err) < 0 ||
	    look_scan_layer(&request->repo, &options, &at->layers, &at->layer, err) < 0 ||
	    pack_finish(at->layer.pack, err) < 0)
		return -1;
	request->look.extra[0] = &at->layer.walk.root;
	return 0;
}

/* Makes both ends of the changes, with the ignored files that the draft changes. */
static int add_ignored(struct crossing *at, struct error *err)
{
	const struct tree_ignored_facts facts = { .rules = at->present.rules,
						  .began_ms = at->began_ms,
						  .past = &at->past };

	if (facts.rules)
		tree_ignored(&at->first, &at->present.walk.root, &facts, &at->base);
	else
		node_copy(&at->first, &at->base);
	return tree_layer(NULL, &at->base, &at->layer.walk.root, &at->layers.top, &at->draft, err);
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

static int merge(struct crossing *at, struct error *err)
{
	struct checkpoint_repo *repo = &at->request->repo;

	if (at->past.count)
		tree_applied_base(&at->base, &at->present.walk.root, &at->past, &at->since);
	at->merge = (struct tree_merge){ .base = at->past.count ? &at->since : &at->base,
					 .draft = &at->draft,
					 .present = &at->present.walk.root,
					 .paths = &at->request->differ.paths };
	at->wanted = (struct look){ .pack = pack_new(repo, false, NULL) };
	return tree_merge(&at->merge, repo, at->wanted.pack, err);
}

/* ---- leaving changes out ---- */

/* Finds a change by its number. Returns NULL with err set on failure. */
static const struct changes_item *find_change(const struct changes *all, const char *number,
					      struct error *err)
{
	char *end = NULL;
	unsigned long long index = strtoull(number, &end, 10);

	if (end != number && (*end == '\0' || *end == ':') && index < all->count)
		return &all->items[index];
	error_with(err, ERROR_INVALID, "there is no change with the number '%s'", number);
	return NULL;
}

static int pick_files(struct crossing *at, const struct changes *all, struct node *chosen,
		      struct error *err)
{
	const struct list *picks = &at->request->gate.pick;

	for (size_t i = 0; i < picks->count; i++) {
		const struct changes_item *change = find_change(all, picks->items[i], err);
		const char *choice = strchr(picks->items[i], ':');
		struct node *node = change ? node_at(chosen, change->path) : NULL;

		if (!change)
			return -1;
		if (!node || !choice || !hunks_has(change))
			return error_with(err, ERROR_INVALID, "'%s' has no hunks", change->path);
		if (hunks_pick_file(&at->request->repo, change, choice + 1, at->wanted.pack, node,
				    err) < 0)
			return -1;
	}
	node_tidy_groups(chosen);
	return 0;
}

/* Lists the paths that are left out. A renamed file has two. */
static int list_left(struct crossing *at, const struct changes *all, struct list *paths,
		     struct error *err)
{
	const struct list *leave = &at->request->gate.leave;

	for (size_t i = 0; i < leave->count; i++) {
		const struct changes_item *change = find_change(all, leave->items[i], err);

		if (!change)
			return -1;
		list_add(paths, change->path);
		if (change->from)
			list_add(paths, change->from);
	}
	return 0;
}

/* Makes the tree that the project gets: the merged one, without what is left out. */
static int choose(struct crossing *at, struct error *err)
{
	const struct list everything = { 0 };
	struct list left = { 0 };
	struct node chosen = { 0 };
	struct changes all;
	int result;

	/* The merged contents must be readable. */
	if (at->request->gate.pick.count && pack_finish(at->wanted.pack, err) < 0)
		return -1;
	if (at->request->gate.pick.count) {
		pack_free(at->wanted.pack);
		at->wanted.pack = pack_new(&at->request->repo, false, NULL);
	}
	changes_find(&at->present.walk.root, &at->merge.result, &everything, &all);
	result = list_left(at, &all, &left, err);
	if (result == 0) {
		tree_choice(&at->present.walk.root, &at->merge.result, &left, &chosen);
		result = pick_files(at, &all, &chosen, err);
	}
	if (result == 0)
		result = look_set_tree(&at->wanted, &chosen, err);
	node_release(&chosen);
	changes_release(&all);
	list_release(&left);
	return result;
}

static void crossing_release(struct crossing *at)
{
	changes_release(&at->changes);
	bare_release(&at->bare);
	look_release(&at->wanted);
	tree_merge_release(&at->merge);
	node_release(&at->since);
	node_release(&at->base); /* before the trees that it borrows names from */
	node_release(&at->draft);
	look_release(&at->present);
	look_release(&at->layer);
	draft_layer_release(&at->layers);
	node_release(&at->first);
	tree_applied_release(&at->past);
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

static bool is_ignored(const struct crossing *at, const struct node *node, const char *path)
{
	const struct ignore_rules *rules = at->present.rules;

	return rules && ignore_rules_omit(rules, path, node->kind == NODE_FOLDER);
}

/* Counts the lines and bytes of a change. There may be many ignored files, and nobody reads them by
 * lines. */
static int count(struct crossing *at, struct changes_item *item, struct error *err)
{
	return is_ignored(at, item->new ? item->new : item->old, item->path)
		       ? differ_measure(&at->request->repo, item, err)
		       : differ_count(&at->request->repo, item, err);
}

/* Writes the facts about the contents of a change. */
static int write_facts(struct crossing *at, const struct changes_item *item, struct error *err)
{
	struct json *json = &at->request->json;

	json_flag(json, "binary", item->binary);
	json_number(json, "added", item->added);
	json_number(json, "removed", item->removed);
	json_number(json, "bytes", item->bytes);
	if (!at->request->gate.hunks || !hunks_shows(item))
		return 0;
	if (item->old && item->new &&hunks_has_mode(item)) {
		json_number(json, "old_mode", item->old->mode);
		json_number(json, "new_mode", item->new->mode);
	}
	return hunks_write(&at->request->repo, item, json, err);
}

/* Writes one path of a change: the first one of a renamed file with `gone`. */
static int write_change(struct crossing *at, size_t number, bool gone, struct error *err)
{
	const struct changes_item *item = &at->changes.items[number];
	const struct node *new = gone ? NULL : item->new;
	const char *path = gone ? item->from : item->path;
	struct json *json = &at->request->json;
	struct target target = { 0 };
	int result = 0;

	if (new &&new->kind == NODE_LINK &&
	    restore_stage_read(&at->request->repo, new, add_part, &target, err) < 0)
		return -1;
	json_open(json, NULL, '{');
	json_number(json, "number", number);
	json_text(json, "path", path);
	json_text(json, "status",
		  !new                       ? "deleted"
		  : !item->old || item->from ? "added"
					     : "modified");
	if (new && item->from)
		json_text(json, "from", item->from);
	if (new &&new->kind == NODE_LINK)
		json_text(json, "target", target.text);
	json_flag(json, "git", bare_contains(&at->bare, path));
	json_flag(json, "ignored", is_ignored(at, new ? new : item->old, path));
	if (!gone)
		result = write_facts(at, item, err);
	json_close(json);
	return result;
}

/* A renamed file is one that is deleted and one that is added, with the same number. */
static int write_changes(struct crossing *at, struct error *err)
{
	int result = 0;

	json_open(&at->request->json, "changes", '[');
	for (size_t i = 0; i < at->changes.count && result == 0; i++) {
		result = count(at, &at->changes.items[i], err);
		if (result == 0 && at->changes.items[i].from)
			result = write_change(at, i, true, err);
		if (result == 0)
			result = write_change(at, i, false, err);
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
	json_text(json, "present", git_oid_tostr(tree, sizeof tree, &at->present.tree));
	json_list(json, "conflicts", &at->merge.conflicts);
	json_list(json, "joined", &at->merge.joined);
	result = write_changes(at, err) < 0 || write_obeyed(at, err) < 0 ? -1 : 0;
	return result;
}

/* ---- crossing ---- */

/* Reports whether the project is as it was when the user was shown what would change. Everything
 * else that the result depends on never changes. */
static bool is_shown(const struct crossing *at)
{
	const char *shown = at->request->gate.present;
	char tree[GIT_OID_HEXSZ + 1];

	return !shown || strcmp(git_oid_tostr(tree, sizeof tree, &at->present.tree), shown) == 0;
}

/* Prints what would change, for a person. */
static int show(struct crossing *at, struct error *err)
{
	const struct differ_options options = { .style = DIFFER_PATCH,
						.color = at->request->differ.color,
						.terminal = at->request->differ.terminal };

	return differ_print(&at->request->repo, &at->present.walk.root, &at->wanted.walk.root,
			    &options, stdout, err);
}

static int cross(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	struct json *json = &request->json;
	struct restore_result done = { 0 };
	int result = restore_project(&request->repo, &request->look, &at->present,
				     &(struct restore_target){ .tree = &at->wanted.tree,
							       .path = "",
							       .record = &at->record },
				     &done, err);

	if (result == 0) {
		json_number(json, "number", (uint64_t)at->record.number);
		json_number(json, "before", (uint64_t)at->before.number);
		json_number(json, "written", done.written);
		json_number(json, "removed", done.removed);
		json_number(json, "adjusted", done.adjusted);
		json_list(json, "kept", &done.kept);
	}
	list_release(&done.kept);
	return result;
}

/* The merged tree becomes a checkpoint, so that a later crossing can undo this one. */
static int store(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	bool same;

	if (request->apply.dry || at->merge.conflicts.count)
		return pack_finish(at->wanted.pack, err);
	request->save.kind = at->kind;
	return save_prepare(&request->repo, &request->look, &at->wanted, &request->save,
			    &at->record, &same, err);
}

static int run(struct crossing *at, struct error *err)
{
	struct snapshot_request *request = at->request;

	if (checkpoint_begin(request, err) < 0 || load_past(at, err) < 0 ||
	    (request->gate.layers ? load_layers(at, err) : load_both(at, err)) < 0 ||
	    save_present(at, err) < 0)
		return -1;
	if (request->gate.layers && add_ignored(at, err) < 0)
		return -1;
	if (!is_shown(at))
		return error_with(err, ERROR_BUSY,
				  "the project changed in the meantime (try again)");
	if (merge(at, err) < 0 || choose(at, err) < 0 || store(at, err) < 0 ||
	    describe(at, err) < 0)
		return -1;
	if (request->style)
		return show(at, err);
	if (request->apply.dry || at->merge.conflicts.count || !at->changes.count)
		return 0;
	return cross(at, err);
}

int gate_cross(struct snapshot_request *request, struct error *err)
{
	struct crossing at = { .request = request,
			       .layers.top.folder = -1,
			       .kind = request->save.kind ? request->save.kind : SNAPSHOT_APPLY };
	int result = run(&at, err);

	crossing_release(&at);
	return result;
}

/* Reads the folders of two checkpoints that differ. */
static int load_differing(struct crossing *at, struct error *err)
{
	const struct snapshot_request *request = at->request;
	struct tree_reader old, new;

	if (start(at, request->from, &old, &at->present.walk.root, &at->present.tree, err) < 0 ||
	    start(at, request->to, &new, &at->wanted.walk.root, &at->wanted.tree, err) < 0)
		return -1;
	return tree_reader_open_differing(&old, &at->present.walk.root, &new, &at->wanted.walk.root,
					  err);
}

static int describe_result(struct snapshot_request *request, struct error *err)
{
	struct crossing at = { .request = request, .layers.top.folder = -1 };
	AUTO_FREE char *last =
		mem_format("%lld",
			   (long long)checkpoint_repo_last(&request->repo, request->look.loop));
	int result;

	request->from = "0";
	request->to = last;
	result = load_differing(&at, err) < 0 ? -1 : describe(&at, err);
	request->to = NULL;
	crossing_release(&at);
	return result;
}

int gate_rehearse(struct snapshot_request *request, struct error *err)
{
	return checkpoint_save(request, err) < 0 ? -1 : describe_result(request, err);
}
