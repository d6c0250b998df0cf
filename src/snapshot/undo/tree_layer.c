/* Puts a layer over a tree: see tree_layer.h. */
#include "snapshot/undo/tree_layer.h"

#include "snapshot/undo/restore_plan.h"
#include "util/file/fd.h"

#include <string.h>

static void take(struct node *out, const struct node *from)
{
	struct node *taken;

	if (!from)
		return;
	taken = node_add(out);
	node_copy(from, taken);
	taken->name = from->name;
}

static void put_entries(const struct node *base, const struct node *view,
			const struct draft_layer *layer, struct node *out);

/* Returns which of two entries, each of which may be NULL, is in the result if they are not merged.
 * Another file system in the project, of which a draft may have a copy, is in no checkpoint. */
static const struct node *choose(const struct node *base, const struct node *view,
				 enum draft_layer_state state)
{
	bool foreign = base && base->kind == NODE_SKIPPED && base->why == NODE_WHY_FILE_SYSTEM;

	if (state == DRAFT_LAYER_SAME || (state == DRAFT_LAYER_FOLDER && foreign))
		return base;
	return view;
}

/* Puts an entry over another; each may be NULL. */
static void put_entry(const struct node *base, const struct node *view,
		      const struct draft_layer *layer, struct node *out)
{
	const struct node *one = base ? base : view;
	struct draft_layer inner = { .folder = -1 };
	enum draft_layer_state state = one ? draft_layer_enter(layer, one->name, &inner)
					   : DRAFT_LAYER_SAME;

	if (state != DRAFT_LAYER_FOLDER || !base || base->kind != NODE_FOLDER || !view ||
	    view->kind != NODE_FOLDER) {
		take(out, choose(base, view, state));
	} else {
		struct node *merged = node_add(out);

		*merged = (struct node){ .name = view->name,
					 .kind = NODE_FOLDER,
					 .mode = view->mode };
		put_entries(base, view, &inner, merged);
	}
	fd_close(&inner.folder);
}

static void put_entries(const struct node *base, const struct node *view,
			const struct draft_layer *layer, struct node *out)
{
	size_t i = 0, j = 0;

	while (i < base->count || j < view->count) {
		const struct node *below = i < base->count ? &base->inner[i] : NULL;
		const struct node *above = j < view->count ? &view->inner[j] : NULL;
		int order = !below ? 1 : !above ? -1 : strcmp(below->name, above->name);

		i += order <= 0;
		j += order >= 0;
		put_entry(order <= 0 ? below : NULL, order >= 0 ? above : NULL, layer, out);
	}
}

struct refill {
	const struct node *base;
	const struct draft_layer *layer;
};

/* Gives an empty file or folder of the draft, wherever it was moved to, the content that was left
 * out. */
static int refill(void *context, struct node *node, const char *path)
{
	const struct refill *at = context;
	bool empty = (node->kind == NODE_FILE && node->size == 0) ||
		     (node->kind == NODE_FOLDER && node->count == 0);
	const char *from = empty && node->inode ? draft_layer_emptied(at->layer, node->inode)
						: NULL;
	const struct node *content = from ? node_at((struct node *)at->base, from) : NULL;
	const char *name = node->name;
	mode_t mode = node->mode;

	(void)path;
	if (!content || content->kind != node->kind)
		return 0;
	node_release(node);
	node_copy(content, node);
	node->name = name;
	node->mode = mode;
	return 0;
}

void tree_layer(const struct node *base, struct node *view, const struct draft_layer *layer,
		struct node *ret_result)
{
	node_part_groups(view, base);
	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = view->mode };
	put_entries(base, view, layer, ret_result);
	node_each(ret_result, refill, &(struct refill){ base, layer });
	restore_plan_tidy_groups(ret_result);
}
