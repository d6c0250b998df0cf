/* The base of a draft that was applied before: see tree_applied.h. */
#include "snapshot/look/tree_applied.h"

#include <stdlib.h>
#include <string.h>

struct following {
	const struct tree_applied_list *past;
	struct buffer path;
};

bool tree_applied_same(const struct node *a, const struct node *b)
{
	if (!a || !b)
		return a == b;
	return node_same_content(a, b) && (a->kind == NODE_LINK || a->mode == b->mode);
}

static bool is_folder(const struct node *node)
{
	return node && node->kind == NODE_FOLDER;
}

/* An ignored or skipped entry counts as missing. */
static const struct node *compared(const struct node *node)
{
	return node && node->kind != NODE_IGNORED && node->kind != NODE_SKIPPED ? node : NULL;
}

static void take(struct node *out, const struct node *from)
{
	struct node *taken = node_add(out);

	node_copy(from, taken);
	taken->name = from->name;
}

/* Returns the version of the file whose path is set that all crossings together have left. */
static const struct node *follow(struct following *at, const struct node *base)
{
	const char *path = buffer_text(&at->path);
	const struct node *latest = base;

	for (size_t i = 0; i < at->past->count; i++) {
		struct tree_applied *crossing = &at->past->items[i];

		if (tree_applied_same(compared(node_at(&crossing->before, path)), latest))
			latest = compared(node_at(&crossing->after, path));
	}
	return latest;
}

static void follow_entries(struct following *at, const struct node *base,
			   const struct node *present, struct node *out);

/* Adds a folder of either tree. One that only one of them has is left out if nothing remains in
 * it. */
static void follow_folder(struct following *at, const struct node *base, const struct node *present,
			  struct node *out)
{
	bool left = base && present && tree_applied_same(follow(at, base), present);
	const struct node *model = base && !left ? base : present;
	struct node *folder = node_add(out);

	*folder = (struct node){ .name = model->name, .kind = NODE_FOLDER, .mode = model->mode };
	follow_entries(at, base, present, folder);
	if (!folder->count && (!base || (!present && base->count))) {
		node_release(folder);
		out->count--;
	}
}

/* Adds the entry whose path is set. */
static void follow_entry(struct following *at, const struct node *base, const struct node *present,
			 struct node *out)
{
	const struct node *left;

	if ((is_folder(base) && (is_folder(present) || !present)) ||
	    (!base && is_folder(present))) {
		follow_folder(at, base, present, out);
		return;
	}
	left = is_folder(base) || is_folder(present) ? base : follow(at, compared(base));
	if (tree_applied_same(left, compared(present)))
		base = left;
	if (base)
		take(out, base);
}

static void follow_entries(struct following *at, const struct node *base,
			   const struct node *present, struct node *out)
{
	size_t i = 0, j = 0, used = at->path.used;

	while ((base && i < base->count) || (present && j < present->count)) {
		const struct node *was = base && i < base->count ? &base->inner[i] : NULL;
		const struct node *is = present && j < present->count ? &present->inner[j] : NULL;
		int order = !was ? 1 : !is ? -1 : strcmp(was->name, is->name);
		const struct node *one = order <= 0 ? was : is;

		i += order <= 0;
		j += order >= 0;
		node_path_add(&at->path, one ? one->name : "");
		follow_entry(at, order <= 0 ? was : NULL, order >= 0 ? is : NULL, out);
		node_path_cut(&at->path, used);
	}
}

void tree_applied_base(const struct node *base, const struct node *present,
		       const struct tree_applied_list *past, struct node *ret_result)
{
	struct following at = { .past = past, .path = BUFFER_INIT(NODE_PATH_MAX) };

	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = base->mode };
	follow_entries(&at, base, present, ret_result);
	buffer_release(&at.path);
}

void tree_applied_release(struct tree_applied_list *past)
{
	for (size_t i = 0; i < past->count; i++) {
		node_release(&past->items[i].before);
		node_release(&past->items[i].after);
	}
	free(past->items);
	*past = (struct tree_applied_list){ 0 };
}
