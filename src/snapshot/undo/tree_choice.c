/* Leaves changes out: see tree_choice.h. */
#include "snapshot/undo/tree_choice.h"

#include "util/textset.h"

#include <string.h>

struct choosing {
	struct textset left_out;
	struct buffer path;
};

static void take(struct node *out, const struct node *from)
{
	struct node *taken;

	if (!from)
		return;
	taken = node_add(out);
	node_copy(from, taken);
	taken->name = from->name;
}

static bool is_folder(const struct node *node)
{
	return node && node->kind == NODE_FOLDER;
}

static void choose_entries(struct choosing *at, const struct node *old, const struct node *new,
			   struct node *out);

/* Chooses in a folder that both trees have, or only one of them. Returns false, and adds nothing,
 * if there is no reason for it. */
static bool choose_folder(struct choosing *at, const struct node *old, const struct node *new,
			  bool left_out, struct node *out)
{
	const struct node *model = old && (left_out || !new) ? old : new;
	const struct node *one = new ? new : old;
	struct node *folder = node_add(out);

	*folder = (struct node){ .name = one->name, .kind = NODE_FOLDER, .mode = model->mode };
	choose_entries(at, old, new, folder);
	if (folder->count || (old && new) || (new && !new->count && !left_out) ||
	    (old && !new &&left_out))
		return true;
	node_release(folder);
	out->count--;
	return false;
}

static void choose(struct choosing *at, const struct node *old, const struct node *new,
		   struct node *out)
{
	bool left_out = textset_has(&at->left_out, buffer_text(&at->path));

	if (is_folder(old) && is_folder(new))
		choose_folder(at, old, new, left_out, out);
	else if (is_folder(old) && !choose_folder(at, old, NULL, left_out, out))
		take(out, left_out ? NULL : new);
	else if (is_folder(new) && !choose_folder(at, NULL, new, left_out, out))
		take(out, old);
	else if (!is_folder(old) && !is_folder(new))
		take(out, left_out ? old : new);
}

static void choose_entries(struct choosing *at, const struct node *old, const struct node *new,
			   struct node *out)
{
	size_t i = 0, j = 0, used = at->path.used;

	while ((old && i < old->count) || (new &&j < new->count)) {
		const struct node *was = old && i < old->count ? &old->inner[i] : NULL;
		const struct node *is = new &&j < new->count ? &new->inner[j] : NULL;
		int order = !was ? 1 : !is ? -1 : strcmp(was->name, is->name);
		const struct node *one;

		i += order <= 0;
		j += order >= 0;
		one = order <= 0 ? was : is;
		node_path_add(&at->path, one ? one->name : "");
		choose(at, order <= 0 ? was : NULL, order >= 0 ? is : NULL, out);
		node_path_cut(&at->path, used);
	}
}

void tree_choice(const struct node *old, const struct node *new, const struct list *left_out,
		 struct node *ret_result)
{
	struct choosing at = { .path = BUFFER_INIT(NODE_PATH_MAX) };

	for (size_t i = 0; i < left_out->count; i++)
		textset_add(&at.left_out, left_out->items[i]);
	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = new->mode };
	choose_entries(&at, old, new, ret_result);
	node_tidy_groups(ret_result);
	textset_release(&at.left_out);
	buffer_release(&at.path);
}
