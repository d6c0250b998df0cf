/* Compares the present tree with the target tree. */
#include "snapshot/undo/restore_plan.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- hard links ---- */

/* The names in each group, by its number: two groups are equal if their names are. */
struct groups {
	struct buffer *names;
	uint32_t count;
};

static int add_to_group(void *context, struct node *node, const char *path)
{
	struct groups *groups = context;

	node->unsure = false;
	if (!node->group)
		return 0;
	if (node->group > groups->count) {
		groups->names = mem_resize(groups->names, node->group, sizeof *groups->names);
		for (; groups->count < node->group; groups->count++)
			groups->names[groups->count] = BUFFER_INIT((size_t)1 << 31);
	}
	buffer_add(&groups->names[node->group - 1], path, strlen(path) + 1);
	return 0;
}

static void groups_release(struct groups *groups)
{
	for (uint32_t i = 0; i < groups->count; i++)
		buffer_release(&groups->names[i]);
	free(groups->names);
}

struct pairing {
	struct groups *own, *others;
	struct node *other;
};

/* Marks a file if it has different names in the two trees. */
static int mark_different_links(void *context, struct node *node, const char *path)
{
	struct pairing *pairing = context;
	struct node *twin = node->kind == NODE_FILE ? node_at(pairing->other, path) : NULL;

	if (!twin || twin->kind != NODE_FILE || (!node->group && !twin->group))
		return 0;
	if (node->group && twin->group) {
		const struct buffer *own = &pairing->own->names[node->group - 1];
		const struct buffer *others = &pairing->others->names[twin->group - 1];

		if (own->used == others->used && memcmp(own->data, others->data, own->used) == 0)
			return 0;
	}
	node->unsure = twin->unsure = true;
	return 0;
}

void restore_plan_links(struct node *present, struct node *target)
{
	struct groups mine = { 0 }, wanted = { 0 };
	struct pairing pairing = { &wanted, &mine, present };

	node_each(present, add_to_group, &mine);
	node_each(target, add_to_group, &wanted);
	if (mine.count || wanted.count)
		node_each(target, mark_different_links, &pairing);
	groups_release(&mine);
	groups_release(&wanted);
}

bool restore_plan_stays(const struct node *present, const struct node *target)
{
	return present && node_same_content(present, target) && !target->unsure;
}

/* ---- restoring a part ---- */

/* Copies a name into the folder's block of names, which is reallocated. */
static const char *copy_name(struct node *folder, const char *name)
{
	struct node copy;
	size_t used = 0;
	char *names;

	for (size_t i = 0; i < folder->count; i++)
		used += strlen(folder->inner[i].name) + 1;
	names = mem_alloc(used + strlen(name) + 1);
	copy = *folder;
	used = 0;
	for (size_t i = 0; i < copy.count; i++) {
		size_t size = strlen(copy.inner[i].name) + 1;

		copy.inner[i].name = memcpy(names + used, copy.inner[i].name, size);
		used += size;
	}
	memcpy(names + used, name, strlen(name) + 1);
	free(folder->names);
	folder->names = names;
	return names + used;
}

static int find_last_group(void *context, struct node *node, const char *path)
{
	uint32_t *most = context;

	(void)path;
	*most = node->group > *most ? node->group : *most;
	return 0;
}

static int shift_group(void *context, struct node *node, const char *path)
{
	(void)path;
	if (node->group)
		node->group += *(const uint32_t *)context;
	return 0;
}

int restore_plan_graft(struct node *tree, const struct node *from, const char *path,
		       struct error *err)
{
	struct node *at = tree;
	const struct node *source = from;
	uint32_t most = 0;

	node_each(tree, find_last_group, &most);
	while (*path) {
		size_t size = strcspn(path, "/");
		AUTO_FREE char *name = strndup(path, size);
		bool last = path[size] == '\0';
		struct node *inner;
		const char *kept;

		source = name && source->kind == NODE_FOLDER ? node_find(source, name) : NULL;
		if (!source || source->kind == NODE_SKIPPED)
			return error_set(err, "the checkpoint does not contain it");
		inner = node_find(at, name);
		if (inner && inner->kind == NODE_IGNORED)
			return error_set(err, "it is ignored by the loop's ignore rules");
		if (!inner)
			inner = node_insert(at, copy_name(at, name));
		kept = inner->name;
		if (last || inner->kind != NODE_FOLDER) {
			struct node fresh;

			node_copy(source, &fresh);
			shift_group(&most, &fresh, "");
			node_each(&fresh, shift_group, &most);
			if (!last)
				node_release(&fresh); /* a parent folder: without its entries */
			node_release(inner);
			*inner = fresh;
			inner->name = kept;
		}
		at = inner;
		path += size + !last;
	}
	node_tidy_groups(tree); /* hard links that cross the border are separated */
	return 0;
}

/* ---- verification ---- */

static bool is_compared(const struct node *node)
{
	return node->kind != NODE_IGNORED && node->kind != NODE_SKIPPED;
}

static bool differ(const struct node *a, const struct node *b)
{
	if (!node_same_content(a, b))
		return true;
	return a->kind != NODE_LINK && a->mode != b->mode;
}

static bool is_kept(const struct node *node, const char *path, const struct list *kept)
{
	return node->kind == NODE_FOLDER && list_has(kept, path);
}

static char *difference(struct node *present, struct node *target, const struct list *kept,
			struct buffer *path)
{
	size_t used = path->used;
	size_t i = 0, j = 0;

	while (i < present->count || j < target->count) {
		struct node *a = i < present->count ? &present->inner[i] : NULL;
		struct node *b = j < target->count ? &target->inner[j] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);
		char *found = NULL;

		i += order <= 0;
		j += order >= 0;
		a = order <= 0 ? a : NULL;
		b = order >= 0 ? b : NULL;
		if (!a && !b)
			break;
		node_path_add(path, a ? a->name : b->name);
		if (a && b && is_compared(a) && is_compared(b)) {
			if (differ(a, b))
				found = mem_dup(buffer_text(path));
			else if (a->kind == NODE_FOLDER)
				found = difference(a, b, kept, path);
		} else if ((a && !b && is_compared(a) && !is_kept(a, buffer_text(path), kept)) ||
			   (b && !a && is_compared(b))) {
			found = mem_dup(buffer_text(path));
		}
		node_path_cut(path, used);
		if (found)
			return found;
	}
	return NULL;
}

static int find_unsure(void *context, struct node *node, const char *path)
{
	char **found = context;

	if (!node->unsure)
		return 0;
	*found = mem_dup(path);
	return 1;
}

char *restore_plan_difference(struct node *present, struct node *target, const struct list *kept)
{
	AUTO_BUFFER struct buffer path = BUFFER_INIT(NODE_PATH_MAX);
	char *found;

	if (present->mode != target->mode)
		return mem_dup(".");
	found = difference(present, target, kept, &path);
	if (found)
		return found;
	restore_plan_links(present, target);
	node_each(target, find_unsure, &found);
	return found;
}
