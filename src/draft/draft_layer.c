/* The changes of a draft: see draft_layer.h. */
#include "draft/draft_layer.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

int draft_layer_open(const char *folder, struct draft_layer_root *ret_root, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(folder, err);
	AUTO_FREE char *top = kind ? path_join(folder, kind->mark) : NULL;

	*ret_root = (struct draft_layer_root){ .kind = kind, .top.folder = -1 };
	if (!kind)
		return -1;
	ret_root->top = (struct draft_layer){ .folder = draft_kind_open_folder(top, err),
					      .root = ret_root };
	if (ret_root->top.folder < 0 || kind->open(folder, ret_root, err) < 0)
		return -1;
	return 0;
}

void draft_layer_release(struct draft_layer_root *root)
{
	copied_release(&root->copied);
	fd_close(&root->top.folder);
}

enum draft_layer_state draft_layer_enter(const struct draft_layer *at, const char *name,
					 struct draft_layer *ret_inner)
{
	*ret_inner = (struct draft_layer){ .folder = -1, .root = at->root };
	return at->root->kind->look(at, name, ret_inner);
}

const char *draft_layer_emptied(const struct draft_layer *at, uint64_t inode, const char *path)
{
	const struct copied *copied = &at->root->copied;

	for (size_t i = 0; i < copied->emptied_count; i++)
		if (copied->emptied[i].inode == inode)
			return copied->emptied[i].path;
	return draft_layer_left_out(at, path) ? path : NULL;
}

bool draft_layer_left_out(const struct draft_layer *at, const char *path)
{
	const struct copied *copied = &at->root->copied;

	for (size_t i = 0; i < copied->emptied_count; i++)
		if (path_within(path, copied->emptied[i].path))
			return true;
	return false;
}

const char *draft_layer_copied(const struct draft_layer *at, size_t i)
{
	return at->copied && i < at->copied->count ? at->copied->inner[i].name : NULL;
}
