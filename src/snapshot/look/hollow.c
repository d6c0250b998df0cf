/* Files that stay empty: see hollow.h. */
#include "snapshot/look/hollow.h"

#include "draft/draft_layer.h"
#include "snapshot/store/tree_reader.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Contents, by their ids. */
struct ids {
	unsigned char (*items)[NODE_ID];
	size_t count;
};

struct marking {
	const struct draft_layer *draft;
	struct ids left_out; /* contents of the base that the draft does not have... */
	struct ids visible;  /* ...and those that it has */
};

static int by_id(const void *a, const void *b)
{
	return memcmp(a, b, NODE_ID);
}

static void add_id(struct ids *ids, const unsigned char *id)
{
	ids->items = mem_extend(ids->items, ids->count, sizeof *ids->items);
	memcpy(ids->items[ids->count++], id, NODE_ID);
}

static bool has_id(const struct ids *ids, const unsigned char *id)
{
	return ids->count && bsearch(id, ids->items, ids->count, sizeof *ids->items, by_id);
}

static void sort_ids(struct ids *ids)
{
	if (ids->count)
		qsort(ids->items, ids->count, sizeof *ids->items, by_id);
}

static int gather(void *context, struct node *node, const char *path)
{
	struct marking *at = context;

	if (node->kind == NODE_FILE)
		add_id(draft_layer_left_out(at->draft, path) ? &at->left_out : &at->visible,
		       node->id);
	return 0;
}

static int mark(void *context, struct node *node, const char *path)
{
	const struct marking *at = context;

	if (node->kind != NODE_FILE)
		return 0;
	if (draft_layer_left_out(at->draft, path))
		node->hollow = HOLLOW_KEPT;
	else if (has_id(&at->left_out, node->id) && !has_id(&at->visible, node->id))
		node->hollow = HOLLOW_MOVED;
	return 0;
}

static int mark_all(struct checkpoint_repo *repo, const char *loop, struct marking *at,
		    struct node *target, struct error *err)
{
	struct checkpoint_repo_item first;
	struct node base;
	git_oid nothing;

	if (checkpoint_repo_read(repo, loop, 0, &first, err) < 0 ||
	    tree_reader_load(repo, &first.tree, &base, err) < 0)
		return -1;
	git_odb_hash(&nothing, "", 0, GIT_OBJECT_BLOB);
	add_id(&at->visible, nothing.id); /* whatever is empty can be restored */
	node_each(&base, gather, at);
	node_release(&base);
	sort_ids(&at->left_out);
	sort_ids(&at->visible);
	node_each(target, mark, at);
	free(at->left_out.items);
	free(at->visible.items);
	return 0;
}

int hollow_mark(struct checkpoint_repo *repo, const struct look_options *options,
		struct node *target, struct error *err)
{
	struct draft_layer_root layers;
	struct marking at = { .draft = &layers.top };
	int result;

	if (!options->draft)
		return 0;
	result = draft_layer_open(options->draft, &layers, err);
	if (result == 0 && layers.copied.emptied_count)
		result = mark_all(repo, options->loop, &at, target, err);
	draft_layer_release(&layers);
	return result;
}
