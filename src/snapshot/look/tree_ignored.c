/* The base of ignored files: see tree_ignored.h. */
#include "snapshot/look/tree_ignored.h"

#include <string.h>
#include <time.h>

enum { MS_NS = 1000000, SLOWEST_TICK_NS = 10 * MS_NS };

struct adding {
	const struct tree_ignored_facts *facts;
	int64_t began_ns;
	struct buffer path;
};

static bool is_folder(const struct node *node)
{
	return node && node->kind == NODE_FOLDER;
}

static void take(struct node *out, const struct node *from)
{
	struct node *taken = node_add(out);

	node_copy(from, taken);
	taken->name = from->name;
}

/* Reports whether an earlier crossing changed the file whose path is set, and found or left it like
 * this. One that only saw it proves nothing: the user may have changed it before that. */
static bool is_from_past(struct adding *at, const struct node *present)
{
	const char *path = buffer_text(&at->path);

	for (size_t i = 0; i < at->facts->past->count; i++) {
		struct tree_applied *crossing = &at->facts->past->items[i];
		const struct node *before = node_at(&crossing->before, path);
		const struct node *after = node_at(&crossing->after, path);

		if ((tree_applied_same(before, present) || tree_applied_same(after, present)) &&
		    !tree_applied_same(before, after))
			return true;
	}
	return false;
}

/* Adds an ignored file of the project. */
static void add_file(struct adding *at, const struct node *present, struct node *out)
{
	struct node *added;

	if (present->changed_ns < at->began_ns || is_from_past(at, present)) {
		take(out, present);
		out->inner[out->count - 1].group = 0;
		return;
	}
	added = node_add(out);
	/* No file has such a mode, so this equals none. */
	*added = (struct node){ .name = present->name, .kind = NODE_FIFO, .mode = (mode_t)-1 };
}

static void add_entries(struct adding *at, const struct node *base, const struct node *present,
			bool ignored, struct node *out);

/* Adds a folder that both trees have, or an ignored one of the project. */
static void add_folder(struct adding *at, const struct node *base, const struct node *present,
		       bool ignored, struct node *out)
{
	const struct node *model = base ? base : present;
	struct node *folder = node_add(out);

	*folder = (struct node){ .name = model->name, .kind = NODE_FOLDER, .mode = model->mode };
	add_entries(at, base, present, ignored, folder);
}

/* Adds the entry whose path is set. ignored: it is in a folder that the rules ignore. */
static void add_entry(struct adding *at, const struct node *base, const struct node *present,
		      bool ignored, struct node *out)
{
	const char *path = buffer_text(&at->path);

	ignored = ignored ||
		  (present && ignore_rules_match(at->facts->rules, path, is_folder(present)));
	if (is_folder(base) && is_folder(present))
		add_folder(at, base, present, ignored, out);
	else if (base)
		take(out, base);
	else if (!present || !ignored || ignore_rules_tracked(at->facts->rules, path) ||
		 present->kind == NODE_IGNORED || present->kind == NODE_SKIPPED)
		return;
	else if (is_folder(present))
		add_folder(at, NULL, present, ignored, out);
	else
		add_file(at, present, out);
}

static void add_entries(struct adding *at, const struct node *base, const struct node *present,
			bool ignored, struct node *out)
{
	size_t i = 0, j = 0, used = at->path.used;

	while ((base && i < base->count) || j < present->count) {
		const struct node *was = base && i < base->count ? &base->inner[i] : NULL;
		const struct node *is = j < present->count ? &present->inner[j] : NULL;
		int order = !was ? 1 : !is ? -1 : strcmp(was->name, is->name);
		const struct node *one = order <= 0 ? was : is;

		i += order <= 0;
		j += order >= 0;
		node_path_add(&at->path, one ? one->name : "");
		add_entry(at, order <= 0 ? was : NULL, order >= 0 ? is : NULL, ignored, out);
		node_path_cut(&at->path, used);
	}
}

/* Returns by how much the kernel's clock for change times may be behind. */
static int64_t tick_ns(void)
{
	struct timespec tick;

	return clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0 && tick.tv_sec == 0
		       ? tick.tv_nsec
		       : SLOWEST_TICK_NS;
}

void tree_ignored(const struct node *base, const struct node *present,
		  const struct tree_ignored_facts *facts, struct node *ret_result)
{
	struct adding at = { .facts = facts,
			     .began_ns = facts->began_ms * MS_NS - tick_ns(),
			     .path = BUFFER_INIT(NODE_PATH_MAX) };

	*ret_result = (struct node){ .name = "", .kind = NODE_FOLDER, .mode = base->mode };
	add_entries(&at, base, present, false, ret_result);
	buffer_release(&at.path);
}
