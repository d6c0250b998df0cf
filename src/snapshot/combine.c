/* Merging another loop into a draft: see combine.h. */
#include "snapshot/combine.h"

#include "snapshot/checkpoint.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/tree_merge.h"
#include "util/mem.h"

#include <stdlib.h>

struct combining {
	struct snapshot_request *request;
	struct node base, theirs; /* before and after the other loop */
	struct look present;
	struct tree_merge merge;
	struct look wanted; /* the merged tree */
};

/* Loads a checkpoint of a loop. */
static int load(struct snapshot_request *request, const char *loop, const char *number,
		struct node *ret_root, struct error *err)
{
	struct checkpoint_repo_item checkpoint;

	return checkpoint_repo_read(&request->repo, loop, strtoll(number ? number : "0", NULL, 10),
				    &checkpoint, err) < 0
		       ? -1
		       : tree_reader_load(&request->repo, &checkpoint.tree, ret_root, err);
}

static int merge(struct combining *at, struct error *err)
{
	static const struct list everything;
	struct snapshot_request *request = at->request;

	at->merge = (struct tree_merge){ .base = &at->base,
					 .draft = &at->theirs,
					 .present = &at->present.walk.root,
					 .paths = &everything,
					 .ours = "the work so far",
					 .theirs = request->other };
	at->wanted = (struct look){ .pack = pack_new(&request->repo, false, NULL) };
	return tree_merge(&at->merge, &request->repo, at->wanted.pack, err) < 0 ||
			       look_set_tree(&at->wanted, &at->merge.result, err) < 0 ||
			       pack_finish(at->wanted.pack, err) < 0
		       ? -1
		       : 0;
}

static int write(struct combining *at, struct error *err)
{
	struct snapshot_request *request = at->request;
	const struct restore_target target = { .tree = &at->wanted.tree, .path = "" };
	struct restore_result done = { 0 };
	int result = restore_project(&request->repo, &request->look, &at->present, &target, &done,
				     err);

	list_release(&done.kept);
	json_list(&request->json, "conflicts", &at->merge.conflicts);
	json_list(&request->json, "conflict_paths", &at->merge.conflicting);
	json_list(&request->json, "joined", &at->merge.joined);
	return result;
}

static void combining_release(struct combining *at)
{
	look_release(&at->wanted);
	tree_merge_release(&at->merge);
	look_release(&at->present);
	node_release(&at->base);
	node_release(&at->theirs);
}

int combine_loop(struct snapshot_request *request, struct error *err)
{
	struct combining at = { .request = request };
	int result =
		checkpoint_begin(request, err) < 0 ||
				load(request, request->base, request->from, &at.base, err) < 0 ||
				load(request, request->other, request->to, &at.theirs, err) < 0 ||
				look_scan(&request->repo, &request->look, &at.present, err) < 0 ||
				look_finish(&request->repo, &at.present, err) < 0 ||
				merge(&at, err) < 0
			? -1
			: write(&at, err);

	combining_release(&at);
	return result;
}
