/* Making room: see prune.h. */
#include "snapshot/store/prune.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/store/cache.h"
#include "snapshot/store/pack.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often the half of what may go is let go, until it is small enough. */
enum { ROUNDS = 8 };

struct candidate {
	char *loop;
	int64_t number, at_ms;
	int rank; /* the lower, the sooner it goes */
};

struct pruning {
	struct checkpoint_repo *depot;
	const char *loop; /* the one that is looked at */
	struct candidate *candidates;
	size_t count;
	int64_t last; /* its highest number */
	int64_t newest_ms;
};

static int list_loops(const struct checkpoint_repo *depot, struct list *ret_loops)
{
	AUTO_FREE char *path = mem_format("%s/refs/ringfence", depot->path);
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			list_add(ret_loops, entry->d_name);
	if (folder)
		closedir(folder);
	return 0;
}

static int note(void *context, const struct checkpoint_repo_item *checkpoint, struct error *err)
{
	struct pruning *at = context;
	int rank = strcmp(checkpoint->kind, "within") == 0   ? 0
		   : strcmp(checkpoint->kind, "before") == 0 ? 1
							     : 2;

	(void)err;
	at->newest_ms = checkpoint->at_ms > at->newest_ms ? checkpoint->at_ms : at->newest_ms;
	if (checkpoint->number == 0 || checkpoint->number == at->last)
		return 0;
	at->candidates = mem_resize(at->candidates, at->count + 1, sizeof *at->candidates);
	at->candidates[at->count++] = (struct candidate){ .loop = mem_dup(at->loop),
							  .number = checkpoint->number,
							  .at_ms = checkpoint->at_ms,
							  .rank = rank };
	return 0;
}

static int forget(const struct checkpoint_repo *depot, const char *loop, int64_t number)
{
	AUTO_FREE char *name = mem_format("refs/ringfence/%s/%lld", loop, (long long)number);

	fault_point();
	return unlinkat(depot->folder, name, 0);
}

static int forget_one(void *context, const struct checkpoint_repo_item *checkpoint,
		      struct error *err)
{
	struct pruning *at = context;

	(void)err;
	at->count += forget(at->depot, at->loop, checkpoint->number) == 0;
	return 0;
}

/* All of a loop. */
static uint64_t forget_loop(struct checkpoint_repo *depot, const char *loop)
{
	struct pruning at = { .depot = depot, .loop = loop };
	AUTO_FREE char *refs = mem_format("refs/ringfence/%s", loop);
	AUTO_FREE char *rules = mem_format("rules/%s", loop);
	struct error ignored;

	checkpoint_repo_each(depot, loop, forget_one, &at, &ignored);
	unlinkat(depot->folder, refs, AT_REMOVEDIR);
	unlinkat(depot->folder, rules, 0);
	return at.count;
}

static bool is_named(const struct list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static bool is_old(struct checkpoint_repo *depot, const struct prune_options *options,
		   const char *loop)
{
	struct pruning at = { .depot = depot,
			      .loop = loop,
			      .last = checkpoint_repo_last(depot, loop) };
	struct checkpoint_repo_item newest;
	struct error ignored;

	if (!options->oldest_ms || (options->present && strcmp(options->present, loop) == 0))
		return false;
	return at.last >= 0 && checkpoint_repo_read(depot, loop, at.last, &newest, &ignored) == 0 &&
	       newest.at_ms < options->oldest_ms;
}

bool prune_needed(struct checkpoint_repo *depot, const struct prune_options *options)
{
	struct list loops = { 0 };
	bool needed = options->most_bytes && pack_total(depot->path) > options->most_bytes;

	list_loops(depot, &loops);
	for (size_t i = 0; i < loops.count && !needed; i++)
		needed = is_named(&options->loops, loops.items[i]) ||
			 is_old(depot, options, loops.items[i]);
	list_release(&loops);
	return needed;
}

/* ---- what is left, in one pack ---- */

static int copy_object(struct checkpoint_repo *depot, struct pack *pack, const git_oid *id,
		       struct error *err)
{
	git_odb_object *object = NULL;
	unsigned char same[NODE_ID];
	int result;

	if (git_odb_read(&object, depot->odb, id) < 0)
		return libgit_trouble("read an object of a checkpoint", err);
	result = pack_add(pack, git_odb_object_type(object), git_odb_object_data(object),
			  git_odb_object_size(object), same, err);
	git_odb_object_free(object);
	return result;
}

static int copy_tree(struct checkpoint_repo *depot, struct pack *pack, const git_oid *id, int depth,
		     struct error *err)
{
	git_tree *tree = NULL;
	int result = 0;

	if (pack_has(pack, id->id))
		return 0;
	if (depth > NODE_DEEPEST + 2 || git_tree_lookup(&tree, depot->repository, id) < 0)
		return libgit_trouble("read a tree of a checkpoint", err);
	for (size_t i = 0; i < git_tree_entrycount(tree) && result == 0; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const git_oid *inner = git_tree_entry_id(entry);

		if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
			result = copy_tree(depot, pack, inner, depth + 1, err);
		else if (!pack_has(pack, inner->id))
			result = copy_object(depot, pack, inner, err);
	}
	git_tree_free(tree);
	/* Last, so that a tree that is there has all of its parts. */
	return result < 0 ? -1 : copy_object(depot, pack, id, err);
}

struct copying {
	struct checkpoint_repo *depot;
	struct pack *pack;
};

static int copy_checkpoint(void *context, const struct checkpoint_repo_item *checkpoint,
			   struct error *err)
{
	struct copying *at = context;

	if (copy_tree(at->depot, at->pack, &checkpoint->tree, 0, err) < 0)
		return -1;
	return copy_object(at->depot, at->pack, &checkpoint->commit, err);
}

static int repack(struct checkpoint_repo *depot, struct error *err)
{
	struct copying at = { depot, pack_new(depot, true, NULL) };
	struct list loops = { 0 };
	int result = 0;

	list_loops(depot, &loops);
	for (size_t i = 0; i < loops.count && result == 0; i++)
		result = checkpoint_repo_each(depot, loops.items[i], copy_checkpoint, &at, err);
	/* It may know objects that are no more. */
	cache_forget(depot->folder);
	if (result == 0)
		result = pack_finish(at.pack, err);
	if (result == 0)
		pack_replace(at.pack);
	git_odb_refresh(depot->odb);
	pack_free(at.pack);
	list_release(&loops);
	return result;
}

/* ---- what goes ---- */

static int by_rank(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;

	if (left->rank != right->rank)
		return left->rank - right->rank;
	return left->at_ms < right->at_ms ? -1 : left->at_ms > right->at_ms;
}

static uint64_t forget_half(struct checkpoint_repo *depot, struct error *err)
{
	struct pruning at = { .depot = depot };
	struct list loops = { 0 };
	uint64_t removed = 0;

	list_loops(depot, &loops);
	for (size_t i = 0; i < loops.count; i++) {
		at.loop = loops.items[i];
		at.last = checkpoint_repo_last(depot, at.loop);
		checkpoint_repo_each(depot, at.loop, note, &at, err);
	}
	if (at.count)
		qsort(at.candidates, at.count, sizeof *at.candidates, by_rank);
	for (size_t i = 0; i < (at.count + 1) / 2; i++)
		removed += forget(depot, at.candidates[i].loop, at.candidates[i].number) == 0;
	for (size_t i = 0; i < at.count; i++)
		free(at.candidates[i].loop);
	free(at.candidates);
	list_release(&loops);
	return removed;
}

int prune_store(struct checkpoint_repo *depot, const struct prune_options *options,
		struct prune_result *ret_result, struct error *err)
{
	struct prune_result result = { .bytes_before = pack_total(depot->path) };
	struct list loops = { 0 };

	list_loops(depot, &loops);
	for (size_t i = 0; i < loops.count; i++)
		if (is_named(&options->loops, loops.items[i]) ||
		    is_old(depot, options, loops.items[i]))
			result.removed += forget_loop(depot, loops.items[i]);
	list_release(&loops);
	if (repack(depot, err) < 0)
		return -1;
	for (int i = 0;
	     options->most_bytes && i < ROUNDS && pack_total(depot->path) > options->most_bytes;
	     i++) {
		uint64_t removed = forget_half(depot, err);

		result.removed += removed;
		if (!removed || repack(depot, err) < 0)
			break;
	}
	result.bytes_after = pack_total(depot->path);
	*ret_result = result;
	return 0;
}
