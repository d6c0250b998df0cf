/* Puts a layer over a tree: see tree_layer.h. */
#include "snapshot/look/tree_layer.h"

#include "util/mem.h"

#include <string.h>

struct putting {
	struct tree_reader *reader;
	struct node *base;
	const struct draft_layer *draft;
	struct error *err;
};

static int put_entries(const struct putting *at, const struct node *base, const struct node *layer,
		       struct node *out);

static void take(struct node *out, const struct node *from)
{
	struct node *taken;

	if (!from || (from->kind == NODE_SKIPPED && from->why == NODE_WHY_DELETED))
		return;
	taken = node_add(out);
	node_copy(from, taken);
	taken->name = from->name;
}

/* Reports whether an entry was another file system in the project. A draft may have a copy,
 * but no checkpoint has one. */
static bool is_foreign(const struct node *base)
{
	return base && base->kind == NODE_SKIPPED && base->why == NODE_WHY_FILE_SYSTEM;
}

/* Puts a folder of the layer over an entry of the base, which may be NULL. */
static int put_folder(const struct putting *at, struct node *base, const struct node *layer,
		      struct node *out)
{
	static const struct node nothing = { .name = "", .kind = NODE_FOLDER };
	bool merges = base && base->kind == NODE_FOLDER && !layer->opaque;
	struct node *merged;

	if (is_foreign(base) && !layer->opaque) {
		take(out, base);
		return 0;
	}
	if (merges && tree_reader_open(at->reader, base, at->err) < 0)
		return -1;
	merged = node_add(out);
	*merged = (struct node){
		.name = layer->name, .kind = NODE_FOLDER, .mode = layer->mode, .inode = layer->inode
	};
	return put_entries(at, merges ? base : &nothing, layer, merged);
}

static size_t names_size(const struct node *folder)
{
	size_t size = 0;

	for (size_t i = 0; i < folder->count; i++)
		size += strlen(folder->inner[i].name) + 1;
	return size;
}

/* Copies the names of a folder's entries. */
static void own_names(struct node *folder)
{
	char *at = folder->names = mem_alloc(names_size(folder) + 1);

	for (size_t i = 0; i < folder->count; i++) {
		size_t size = strlen(folder->inner[i].name) + 1;

		folder->inner[i].name = memcpy(at, folder->inner[i].name, size);
		at += size;
	}
}

static int put_entries(const struct putting *at, const struct node *base, const struct node *layer,
		       struct node *out)
{
	struct node_pair pair = { 0 };
	int result = 0;

	while (result == 0 && node_next_pair(base, layer, &pair))
		if (pair.b && pair.b->kind == NODE_FOLDER)
			result = put_folder(at, pair.a, pair.b, out);
		else
			take(out, pair.b ? pair.b : pair.a);
	own_names(out);
	return result;
}

/* Gives an empty file or folder of the draft, wherever it was moved to, the content that was left
 * out. */
static int refill(void *context, struct node *node, const char *path)
{
	const struct putting *at = context;
	bool empty = (node->kind == NODE_FILE && node->size == 0) ||
		     (node->kind == NODE_FOLDER && node->count == 0);
	const char *from = empty && node->inode ? draft_layer_emptied(at->draft, node->inode, path)
						: NULL;
	const char *name = node->name;
	mode_t mode = node->mode;
	struct node *content;

	if (!from)
		return 0;
	if (tree_reader_at(at->reader, at->base, from, &content, at->err) < 0)
		return -1;
	if (!content || content->kind != node->kind)
		return 0;
	/* Where it is now, names below it may count as generated, so nothing stays closed. */
	if (tree_reader_open_all(at->reader, content, at->err) < 0)
		return -1;
	node_release(node);
	node_copy(content, node);
	node->name = name;
	node->mode = mode;
	return 0;
}

int tree_layer(struct tree_reader *reader, struct node *base, struct node *layer,
	       const struct draft_layer *draft, struct node *ret_result, struct error *err)
{
	struct putting at = { reader, base, draft, err };

	node_part_groups(layer, base);
	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = layer->mode };
	if (put_entries(&at, base, layer, ret_result) < 0 || node_each(ret_result, refill, &at) < 0)
		return -1;
	node_tidy_groups(ret_result);
	return 0;
}
