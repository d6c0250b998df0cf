/* Trees of files in memory. */
#include "snapshot/store/node.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *const why_texts[NODE_WHYS] = {
	[NODE_WHY_UNKNOWN] = "unknown reason",
	[NODE_WHY_SOCKET] = "a socket",
	[NODE_WHY_DEVICE] = "a device",
	[NODE_WHY_PERMISSION] = "permission denied",
	[NODE_WHY_UNREADABLE] = "cannot be read",
	[NODE_WHY_BUSY] = "held by another process",
	[NODE_WHY_LARGE] = "larger than 32 GiB",
	[NODE_WHY_DEEP] = "deeper than 256 folders",
	[NODE_WHY_FILE_SYSTEM] = "another file system",
	[NODE_WHY_DELETED] = "deleted",
};

const char *node_why_text(enum node_why why)
{
	return why_texts[why];
}

enum node_why node_why_parse(const char *text, size_t size)
{
	for (int i = 0; i < NODE_WHYS; i++)
		if (strlen(why_texts[i]) == size && memcmp(why_texts[i], text, size) == 0)
			return (enum node_why)i;
	return NODE_WHY_UNKNOWN;
}

void node_release(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node_release(&node->inner[i]);
	free(node->inner);
	free(node->names);
	node->inner = NULL;
	node->names = NULL;
	node->count = 0;
}

struct node *node_add(struct node *folder)
{
	folder->inner = mem_extend(folder->inner, folder->count, sizeof *folder->inner);
	folder->inner[folder->count] = (struct node){ 0 };
	return &folder->inner[folder->count++];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct node *)a)->name, ((const struct node *)b)->name);
}

void node_sort(struct node *folder)
{
	if (folder->count > 1)
		qsort(folder->inner, folder->count, sizeof *folder->inner, by_name);
}

struct node *node_insert(struct node *folder, const char *name)
{
	size_t at = 0;
	size_t end = folder->count;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (strcmp(folder->inner[middle].name, name) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	node_add(folder);
	memmove(folder->inner + at + 1, folder->inner + at,
		(folder->count - 1 - at) * sizeof *folder->inner);
	folder->inner[at] = (struct node){ .name = name };
	return &folder->inner[at];
}

struct node *node_find(const struct node *folder, const char *name)
{
	const struct node key = { .name = name };

	if (!folder->count)
		return NULL;
	return bsearch(&key, folder->inner, folder->count, sizeof *folder->inner, by_name);
}

struct node *node_at(struct node *root, const char *path)
{
	struct node *at = root;

	while (at && *path) {
		size_t size = strcspn(path, "/");
		AUTO_FREE char *name = strndup(path, size);

		at = name && at->kind == NODE_FOLDER ? node_find(at, name) : NULL;
		path += size;
		path += *path == '/';
	}
	return at;
}

bool node_next_pair(const struct node *a, const struct node *b, struct node_pair *pair)
{
	bool in_a = a && pair->next_a < a->count;
	bool in_b = b && pair->next_b < b->count;
	int order = !in_a ? 1 : !in_b ? -1 : 0;

	if (in_a && in_b)
		order = strcmp(a->inner[pair->next_a].name, b->inner[pair->next_b].name);
	pair->a = in_a && order <= 0 ? &a->inner[pair->next_a++] : NULL;
	pair->b = in_b && order >= 0 ? &b->inner[pair->next_b++] : NULL;
	return in_a || in_b;
}

void node_copy(const struct node *from, struct node *ret_copy)
{
	size_t bytes = 0;
	char *at;

	*ret_copy = *from;
	ret_copy->names = NULL;
	ret_copy->inner = NULL;
	ret_copy->count = 0;
	for (size_t i = 0; i < from->count; i++)
		bytes += strlen(from->inner[i].name) + 1;
	if (!from->count)
		return;
	at = ret_copy->names = mem_alloc(bytes);
	for (size_t i = 0; i < from->count; i++) {
		struct node *node = node_add(ret_copy);
		size_t size = strlen(from->inner[i].name) + 1;

		node_copy(&from->inner[i], node);
		node->name = memcpy(at, from->inner[i].name, size);
		at += size;
	}
}

void node_path_add(struct buffer *path, const char *name)
{
	if (path->used)
		buffer_add(path, "/", 1);
	buffer_add_text(path, name);
	buffer_text(path); /* keeps it NUL-terminated */
}

void node_path_cut(struct buffer *path, size_t used)
{
	path->used = used;
	buffer_text(path);
}

/*
 * Avoids buffers, because a checkpoint visits every file several times. Truncates a path that is
 * too long; a scan never produces one.
 */
static int each(struct node *folder, char path[NODE_PATH_MAX], size_t used, node_fn *look,
		void *context)
{
	size_t begin = used && used < NODE_PATH_MAX - 1 ? used + 1 : used;

	if (begin > used)
		path[used] = '/';
	for (size_t i = 0; i < folder->count; i++) {
		struct node *node = &folder->inner[i];
		size_t size = strlen(node->name);
		int result;

		size = size < NODE_PATH_MAX - begin ? size : NODE_PATH_MAX - 1 - begin;
		memcpy(path + begin, node->name, size);
		path[begin + size] = '\0';
		result = look(context, node, path);
		if (result == 0 && node->kind == NODE_FOLDER)
			result = each(node, path, begin + size, look, context);
		if (result != 0)
			return result;
	}
	return 0;
}

int node_each(struct node *folder, node_fn *look, void *context)
{
	char path[NODE_PATH_MAX];

	return each(folder, path, 0, look, context);
}

struct linked {
	struct node *node;
	size_t order;
};

struct gathered {
	struct linked *items;
	size_t count;
};

static int add_linked(void *context, struct node *node, const char *path)
{
	struct gathered *gathered = context;

	(void)path;
	node->group = 0;
	if (node->kind != NODE_FILE || node->links < 2)
		return 0;
	gathered->items = mem_extend(gathered->items, gathered->count, sizeof *gathered->items);
	gathered->items[gathered->count] = (struct linked){ node, gathered->count };
	gathered->count++;
	return 0;
}

static int by_inode(const void *a, const void *b)
{
	const struct linked *left = a;
	const struct linked *right = b;

	if (left->node->device != right->node->device)
		return left->node->device < right->node->device ? -1 : 1;
	if (left->node->inode != right->node->inode)
		return left->node->inode < right->node->inode ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

static bool is_other_inode(const struct linked *a, const struct linked *b)
{
	return a->node->inode != b->node->inode || a->node->device != b->node->device;
}

static int by_order(const void *a, const void *b)
{
	return ((const struct linked *)a)->order < ((const struct linked *)b)->order ? -1 : 1;
}

/*
 * Numbers the groups in the order of their first names, so that the same links get the same
 * numbers.
 */
static void number_groups(struct gathered *gathered)
{
	uint32_t *names = mem_zero((gathered->count + 1) * sizeof *names);
	uint32_t last = 0;

	qsort(gathered->items, gathered->count, sizeof *gathered->items, by_order);
	for (size_t i = 0; i < gathered->count; i++) {
		struct node *node = gathered->items[i].node;

		if (!node->group)
			continue;
		if (!names[node->group])
			names[node->group] = ++last;
		node->group = names[node->group];
	}
	free(names);
}

void node_group(struct node *root)
{
	struct gathered gathered = { 0 };
	uint32_t group = 0;

	node_each(root, add_linked, &gathered);
	if (gathered.count)
		qsort(gathered.items, gathered.count, sizeof *gathered.items, by_inode);
	for (size_t i = 0, end; i < gathered.count; i = end) {
		for (end = i + 1; end < gathered.count &&
				  !is_other_inode(&gathered.items[i], &gathered.items[end]);)
			end++;
		group += end - i > 1;
		for (size_t j = i; j < end && end - i > 1; j++)
			gathered.items[j].node->group = group;
	}
	if (gathered.count)
		number_groups(&gathered);
	free(gathered.items);
}

static int find_last_group(void *context, struct node *node, const char *path)
{
	uint32_t *last = context;

	(void)path;
	*last = node->group > *last ? node->group : *last;
	return 0;
}

static int shift_group(void *context, struct node *node, const char *path)
{
	(void)path;
	if (node->group)
		node->group += *(const uint32_t *)context;
	return 0;
}

void node_part_groups(struct node *root, const struct node *other)
{
	uint32_t last = 0;

	node_each((struct node *)other, find_last_group, &last);
	node_each(root, shift_group, &last);
}

static int count_members(void *context, struct node *node, const char *path)
{
	(void)path;
	((uint32_t *)context)[node->group]++;
	return 0;
}

static int drop_single(void *context, struct node *node, const char *path)
{
	(void)path;
	if (((const uint32_t *)context)[node->group] == 1)
		node->group = 0;
	return 0;
}

void node_tidy_groups(struct node *root)
{
	uint32_t most = 0;

	node_each(root, find_last_group, &most);

	AUTO_FREE uint32_t *members = mem_zero((most + 1) * sizeof *members);

	node_each(root, count_members, members);
	node_each(root, drop_single, members);
}

bool node_same_content(const struct node *a, const struct node *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case NODE_FILE:
		return a->chunked == b->chunked && memcmp(a->id, b->id, NODE_ID) == 0;
	case NODE_LINK:
		return memcmp(a->id, b->id, NODE_ID) == 0;
	case NODE_FOLDER:
	case NODE_FIFO:
	case NODE_SKIPPED:
	case NODE_IGNORED:
	case NODE_KINDS:
		break;
	}
	return true;
}
