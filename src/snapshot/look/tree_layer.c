/* Puts a layer over a tree: see tree_layer.h. */
#include "snapshot/look/tree_layer.h"

#include "util/mem.h"

#include <string.h>

static const struct node nothing = { .name = "", .kind = NODE_FOLDER };

static void put_entries(const struct node *base, const struct node *layer, struct node *out);

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
static void put_folder(const struct node *base, const struct node *layer, struct node *out)
{
	bool merges = base && base->kind == NODE_FOLDER && !layer->opaque;
	struct node *merged;

	if (is_foreign(base) && !layer->opaque) {
		take(out, base);
		return;
	}
	merged = node_add(out);
	*merged = (struct node){
		.name = layer->name, .kind = NODE_FOLDER, .mode = layer->mode, .inode = layer->inode
	};
	put_entries(merges ? base : &nothing, layer, merged);
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

static void put_entries(const struct node *base, const struct node *layer, struct node *out)
{
	size_t i = 0, j = 0;

	while (i < base->count || j < layer->count) {
		const struct node *below = i < base->count ? &base->inner[i] : NULL;
		const struct node *above = j < layer->count ? &layer->inner[j] : NULL;
		int order = !below ? 1 : !above ? -1 : strcmp(below->name, above->name);

		i += order <= 0;
		j += order >= 0;
		if (order < 0 || !above)
			take(out, below);
		else if (above->kind == NODE_FOLDER)
			put_folder(order == 0 ? below : NULL, above, out);
		else
			take(out, above);
	}
	own_names(out);
}

struct refill {
	const struct node *base;
	const struct draft_layer *draft;
};

/* Gives an empty file or folder of the draft, wherever it was moved to, the content that was left
 * out. */
static int refill(void *context, struct node *node, const char *path)
{
	const struct refill *at = context;
	bool empty = (node->kind == NODE_FILE && node->size == 0) ||
		     (node->kind == NODE_FOLDER && node->count == 0);
	const char *from = empty && node->inode ? draft_layer_emptied(at->draft, node->inode, path)
						: NULL;
	const struct node *content = from ? node_at((struct node *)at->base, from) : NULL;
	const char *name = node->name;
	mode_t mode = node->mode;

	if (!content || content->kind != node->kind)
		return 0;
	node_release(node);
	node_copy(content, node);
	node->name = name;
	node->mode = mode;
	return 0;
}

void tree_layer(const struct node *base, struct node *layer, const struct draft_layer *draft,
		struct node *ret_result)
{
	node_part_groups(layer, base);
	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = layer->mode };
	put_entries(base, layer, ret_result);
	node_each(ret_result, refill, &(struct refill){ base, draft });
	node_tidy_groups(ret_result);
}
