/* Restores emptied files. */
#include "snapshot/undo/repair.h"

#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/restore.h"

struct finding {
	struct node *present;
	struct list *paths;
};

static int find_emptied(void *context, struct node *was, const char *path)
{
	struct finding *finding = context;
	const struct node *now = was->kind == NODE_FILE ? node_at(finding->present, path) : NULL;

	if (now && now->kind == NODE_FILE && now->size == 0 && !node_same_content(now, was))
		list_add(finding->paths, path);
	return 0;
}

int repair_project(struct checkpoint_repo *repo, const struct look_options *options,
		   struct look *present, struct list *ret_paths, struct error *err)
{
	struct finding finding = { &present->walk.root, ret_paths };
	int64_t last = checkpoint_repo_last(repo, options->loop);
	struct restore_result done = { 0 };
	struct checkpoint_repo_item from;
	struct node was;
	int result;

	if (last < 0)
		return 0;
	if (checkpoint_repo_read(repo, options->loop, last, &from, err) < 0 ||
	    tree_reader_load(repo, &from.tree, &was, err) < 0)
		return -1;
	node_each(&was, find_emptied, &finding);
	node_release(&was);
	if (!ret_paths->count)
		return 0;
	result = look_finish(repo, present, err) < 0 ||
				 restore_files(repo, options, present, &from.tree, ret_paths, &done,
					       err) < 0
			 ? -1
			 : 0;
	list_release(&done.kept);
	return result;
}
