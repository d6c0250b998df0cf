/* Differences between trees. */
#include "snapshot/undo/changes.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

struct finding {
	const struct list *paths;
	struct changes found;
	struct buffer path;
};

static bool is_wanted(const struct finding *at, const char *path)
{
	for (size_t i = 0; i < at->paths->count; i++)
		if (!*at->paths->items[i] || path_within(path, at->paths->items[i]))
			return true;
	return at->paths->count == 0;
}

static void add_change(struct finding *at, const struct node *old, const struct node *new,
		       const char *path)
{
	struct changes *found = &at->found;

	if (!is_wanted(at, path))
		return;
	found->items = mem_extend(found->items, found->count, sizeof *found->items);
	found->items[found->count++] =
		(struct changes_item){ .old = old, .new = new, .path = mem_dup(path) };
}

static bool is_compared(const struct node *node)
{
	return node && node->kind != NODE_IGNORED && node->kind != NODE_SKIPPED;
}

static bool same(const struct node *a, const struct node *b)
{
	return node_same_content(a, b) && (a->kind == NODE_LINK || a->mode == b->mode);
}

static void compare(struct finding *at, const struct node *old, const struct node *new);

static void compare_pair(struct finding *at, const struct node *a, const struct node *b)
{
	const struct node *one = a ? a : b;
	size_t used = at->path.used;

	if (!one)
		return;
	node_path_add(&at->path, one->name);
	/* A folder counts only if it is empty or its mode changed. */
	if (a && b ? !same(a, b) : !one->count)
		add_change(at, a, b, buffer_text(&at->path));
	compare(at, a && a->kind == NODE_FOLDER ? a : NULL, b && b->kind == NODE_FOLDER ? b : NULL);
	node_path_cut(&at->path, used);
}

static void compare(struct finding *at, const struct node *old, const struct node *new)
{
	struct node_pair pair = { 0 };

	while (node_next_pair(old, new, &pair))
		compare_pair(at, is_compared(pair.a) ? pair.a : NULL,
			     is_compared(pair.b) ? pair.b : NULL);
}

/* An added or removed file, for sorting by content. */
struct mover {
	struct changes_item *change;
};

static const unsigned char *content(const struct mover *mover)
{
	return (mover->change->old ? mover->change->old : mover->change->new)->id;
}

static int by_content(const void *a, const void *b)
{
	const struct mover *left = a;
	const struct mover *right = b;
	int order = memcmp(content(left), content(right), NODE_ID);

	/* Removed before added, otherwise in the order found. */
	if (order == 0)
		order = (left->change->old == NULL) - (right->change->old == NULL);
	return order ? order : left->change < right->change ? -1 : left->change > right->change;
}

/* Pairs removed files with added files of the same content. */
static void pair(struct mover *begin, struct mover *end)
{
	struct mover *came = begin;

	while (came < end && came->change->old)
		came++;
	for (struct mover *gone = begin, *first = came; gone < first && came < end;
	     gone++, came++) {
		came->change->old = gone->change->old;
		came->change->from = gone->change->path;
		*gone->change = (struct changes_item){ 0 };
	}
}

/* A file removed here and added elsewhere with the same content was renamed. */
static void find_moves(struct changes *found)
{
	struct mover *movers = mem_alloc((found->count + 1) * sizeof *movers);
	size_t count = 0;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct changes_item *change = &found->items[i];
		const struct node *node = change->old ? change->old : change->new;

		if (!change->old != !change->new && node->kind == NODE_FILE)
			movers[count++].change = change;
	}
	qsort(movers, count, sizeof *movers, by_content);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && memcmp(content(&movers[begin]),
							    content(&movers[end]), NODE_ID) == 0;)
			end++;
		pair(movers + begin, movers + end);
	}
	free(movers);
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].path)
			found->items[kept++] = found->items[i];
	found->count = kept;
}

void changes_find(const struct node *old, const struct node *new, const struct list *paths,
		  struct changes *ret_changes)
{
	struct finding at = { .paths = paths, .path = BUFFER_INIT(NODE_PATH_MAX) };

	compare(&at, old, new);
	find_moves(&at.found);
	buffer_release(&at.path);
	*ret_changes = at.found;
}

void changes_release(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		free(changes->items[i].path);
		free(changes->items[i].from);
	}
	free(changes->items);
	*changes = (struct changes){ 0 };
}
