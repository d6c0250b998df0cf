/* Totals of trees. */
#include "snapshot/look/tree_totals.h"

#include <string.h>

struct counting {
	struct tree_reader *reader; /* for files without a size; NULL: all have one */
	struct tree_totals totals;
};

/* Returns the size of a file. A tree in the repository does not tell it, and has no inodes. */
static uint64_t size_of(const struct counting *at, const struct node *node)
{
	int64_t size = !at->reader || node->inode ? (int64_t)node->size
						  : tree_reader_size(at->reader->repo, node);

	return size < 0 ? 0 : (uint64_t)size;
}

static int count(void *context, struct node *node, const char *path)
{
	struct counting *at = context;

	(void)path;
	at->totals.files += node->kind != NODE_FOLDER && node->kind != NODE_IGNORED;
	at->totals.bytes += node->kind == NODE_FILE ? size_of(at, node) : 0;
	at->totals.odd += node->kind == NODE_SKIPPED || node->kind == NODE_FIFO;
	return 0;
}

struct tree_totals tree_totals_count(struct node *root)
{
	struct counting at = { 0 };

	node_each(root, count, &at);
	return at.totals;
}

/* ---- differences ---- */

struct changing {
	struct counting gone, came;
	struct error *err;
};

static int count_all(struct counting *counting, struct node *node, struct error *err)
{
	if (!node)
		return 0;
	count(counting, node, "");
	return node->kind == NODE_FOLDER
		       ? tree_reader_each(counting->reader, node, count, counting, err)
		       : 0;
}

/* Reports whether two entries that are not both folders count the same. */
static bool is_kept(const struct node *base, const struct node *draft)
{
	return base && draft && node_same_content(base, draft);
}

static int compare(struct changing *at, struct node *base, struct node *draft);

static int compare_entries(struct changing *at, struct node *base, struct node *draft)
{
	if (base && draft && base->kind == NODE_FOLDER && draft->kind == NODE_FOLDER)
		return compare(at, base, draft);
	if (is_kept(base, draft))
		return 0;
	return count_all(&at->gone, base, at->err) < 0 || count_all(&at->came, draft, at->err) < 0
		       ? -1
		       : 0;
}

static int compare(struct changing *at, struct node *base, struct node *draft)
{
	struct node_pair pair = { 0 };

	if (draft->closed)
		return 0;
	if (tree_reader_open(at->gone.reader, base, at->err) < 0)
		return -1;
	while (node_next_pair(base, draft, &pair))
		if (compare_entries(at, pair.a, pair.b) < 0)
			return -1;
	return 0;
}

int tree_totals_change(struct tree_reader *reader, struct node *base, struct node *draft,
		       struct tree_totals *totals, struct error *err)
{
	struct changing at = { .gone.reader = reader, .came.reader = reader, .err = err };

	if (compare(&at, base, draft) < 0)
		return -1;
	totals->files += at.came.totals.files - at.gone.totals.files;
	totals->bytes += at.came.totals.bytes - at.gone.totals.bytes;
	totals->odd += at.came.totals.odd - at.gone.totals.odd;
	return 0;
}
