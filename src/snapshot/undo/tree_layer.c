/* Puts a layer over a tree: see tree_layer.h. */
#include "snapshot/undo/tree_layer.h"

#include "snapshot/undo/restore_plan.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>

/* An entry of the upper layer. */
enum layer {
	LAYER_NOTHING,
	LAYER_FOLDER, /* is merged with the folder below */
	LAYER_ALL     /* hides what is below: a file, a mark for a deleted one, an opaque folder */
};

/* Returns whether a folder of the upper layer hides the one below. */
static bool is_opaque(int folder)
{
	static const char *const names[] = { "user.overlay.opaque", "trusted.overlay.opaque" };
	char value;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fgetxattr(folder, names[i], &value, 1) == 1 && value == 'y')
			return true;
	return false;
}

/* Opens an entry of the upper layer if it is a folder. One that cannot be opened hides what is
 * below, if in doubt. */
static enum layer open_layer(int upper, const char *name, int *ret_folder)
{
	*ret_folder = openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_folder < 0)
		return errno == ENOENT ? LAYER_NOTHING : LAYER_ALL;
	return is_opaque(*ret_folder) ? LAYER_ALL : LAYER_FOLDER;
}

static void take(struct node *out, const struct node *from)
{
	struct node *taken;

	if (!from)
		return;
	taken = node_add(out);
	node_copy(from, taken);
	taken->name = from->name;
}

static void put_entries(const struct node *base, const struct node *view, int upper,
			struct node *out);

/* Puts an entry over another; each may be NULL. */
static void put_entry(const struct node *base, const struct node *view, int upper, struct node *out)
{
	AUTO_FD folder = -1;
	const struct node *one = base ? base : view;
	enum layer layer = one ? open_layer(upper, one->name, &folder) : LAYER_NOTHING;
	struct node *merged;

	if (layer != LAYER_FOLDER || !base || base->kind != NODE_FOLDER || !view ||
	    view->kind != NODE_FOLDER) {
		take(out, layer == LAYER_NOTHING ? base : view);
		return;
	}
	merged = node_add(out);
	*merged = (struct node){ .name = view->name, .kind = NODE_FOLDER, .mode = view->mode };
	put_entries(base, view, folder, merged);
}

static void put_entries(const struct node *base, const struct node *view, int upper,
			struct node *out)
{
	size_t i = 0, j = 0;

	while (i < base->count || j < view->count) {
		const struct node *below = i < base->count ? &base->inner[i] : NULL;
		const struct node *above = j < view->count ? &view->inner[j] : NULL;
		int order = !below ? 1 : !above ? -1 : strcmp(below->name, above->name);

		i += order <= 0;
		j += order >= 0;
		put_entry(order <= 0 ? below : NULL, order >= 0 ? above : NULL, upper, out);
	}
}

void tree_layer(const struct node *base, struct node *view, int upper, struct node *ret_result)
{
	node_part_groups(view, base);
	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = view->mode };
	put_entries(base, view, upper, ret_result);
	restore_plan_tidy_groups(ret_result);
}
