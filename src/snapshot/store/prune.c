/* Pruning. */
#include "snapshot/store/prune.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/store/cache.h"
#include "snapshot/store/pack.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often half of the candidates are removed to get below the limit. */
enum { ROUNDS = 8 };

struct candidate {
	char *loop;
	int64_t number, at_ms;
	int rank; /* the lowest is removed first */
};

struct pruning {
	struct checkpoint_repo *repo;
	const char *loop; /* the loop being visited */
	struct candidate *candidates;
	size_t count;
	int64_t last; /* the loop's highest number */
};

static int list_loops(const struct checkpoint_repo *repo, struct list *ret_loops)
{
	AUTO_FREE char *path = mem_format("%s/refs/ringfence", repo->path);
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			list_add(ret_loops, entry->d_name);
	if (folder)
		closedir(folder);
	return 0;
}

/* An apply of a draft, and its undo, save the project before and after as two consecutive
 * checkpoints. Both are needed to undo it, and to apply the draft again. */
static bool is_crossing(const char *kind)
{
	return strcmp(kind, "apply") == 0 || strcmp(kind, "unapply") == 0;
}

static void keep_previous(struct pruning *at, int64_t number)
{
	struct candidate *previous = at->count ? &at->candidates[at->count - 1] : NULL;

	if (!previous || previous->number != number - 1 || strcmp(previous->loop, at->loop) != 0)
		return;
	free(previous->loop);
	at->count--;
}

static int add_candidate(void *context, const struct checkpoint_repo_item *checkpoint,
			 struct error *err)
{
	struct pruning *at = context;
	int rank = strcmp(checkpoint->kind, "within") == 0   ? 0
		   : strcmp(checkpoint->kind, "before") == 0 ? 1
							     : 2;

	(void)err;
	if (is_crossing(checkpoint->kind))
		keep_previous(at, checkpoint->number);
	if (checkpoint->number == 0 || checkpoint->number == at->last ||
	    is_crossing(checkpoint->kind))
		return 0;
	at->candidates = mem_resize(at->candidates, at->count + 1, sizeof *at->candidates);
	at->candidates[at->count++] = (struct candidate){ .loop = mem_dup(at->loop),
							  .number = checkpoint->number,
							  .at_ms = checkpoint->at_ms,
							  .rank = rank };
	return 0;
}

static int remove_ref(const struct checkpoint_repo *repo, const char *loop, int64_t number)
{
	AUTO_FREE char *name = mem_format("refs/ringfence/%s/%lld", loop, (long long)number);

	fault_point();
	return unlinkat(repo->folder, name, 0);
}

static int remove_checkpoint(void *context, const struct checkpoint_repo_item *checkpoint,
			     struct error *err)
{
	struct pruning *at = context;

	(void)err;
	at->count += remove_ref(at->repo, at->loop, checkpoint->number) == 0;
	return 0;
}

/* Removes all checkpoints of a loop. */
static uint64_t remove_loop(struct checkpoint_repo *repo, const char *loop)
{
	static const char *const of_draft[] = { "boot", "undo" };
	struct pruning at = { .repo = repo, .loop = loop };
	AUTO_FREE char *refs = mem_format("refs/ringfence/%s", loop);
	AUTO_FREE char *rules = mem_format("rules/%s", loop);
	struct error ignored;

	checkpoint_repo_each(repo, loop, remove_checkpoint, &at, &ignored);
	unlinkat(repo->folder, refs, AT_REMOVEDIR);
	unlinkat(repo->folder, rules, 0);
	for (size_t i = 0; i < sizeof of_draft / sizeof *of_draft; i++) {
		AUTO_FREE char *name = checkpoint_repo_file(of_draft[i], loop);

		unlinkat(repo->folder, name, 0);
	}
	return at.count;
}

/* Reports whether checkpoints are those of a draft of a command, beside the folder of all
 * repositories (draft/draft_record.h). It cannot be applied without them. */
static bool has_draft(const struct checkpoint_repo *repo, const char *id)
{
	AUTO_FREE char *draft = mem_format("%s/../../drafts/%s", repo->path, id);

	return access(draft, F_OK) == 0;
}

/* Does the same for the draft of a loop, in the loop's folder. */
static bool has_loop_draft(const struct checkpoint_repo *repo, const char *id)
{
	AUTO_FREE char *draft = mem_format("%s/../../loops/%s/draft", repo->path, id);

	return access(draft, F_OK) == 0;
}

static bool can_age(const struct prune_options *options, const char *loop)
{
	return options->oldest_ms && (!options->present || strcmp(options->present, loop) != 0);
}

static bool is_old(struct checkpoint_repo *repo, const struct prune_options *options,
		   const char *loop)
{
	struct checkpoint_repo_item newest;
	struct error ignored;
	int64_t last;

	if (!can_age(options, loop) || has_draft(repo, loop) || has_loop_draft(repo, loop))
		return false;
	last = checkpoint_repo_last(repo, loop);
	return last >= 0 && checkpoint_repo_read(repo, loop, last, &newest, &ignored) == 0 &&
	       newest.at_ms < options->oldest_ms;
}

/* Reports whether a loop on a draft is old. Its first and its latest checkpoint are needed to apply
 * it, and the others go. Its folder tells when that was looked at, or a checkpoint was taken. */
static bool is_old_draft(const struct checkpoint_repo *repo, const struct prune_options *options,
			 const char *loop)
{
	AUTO_FREE char *refs = mem_format("refs/ringfence/%s", loop);
	struct stat status;

	return can_age(options, loop) &&
	       fstatat(repo->folder, refs, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (int64_t)status.st_mtim.tv_sec * 1000 < options->oldest_ms &&
	       has_loop_draft(repo, loop);
}

bool prune_needed(struct checkpoint_repo *repo, const struct prune_options *options)
{
	struct list loops = { 0 };
	bool needed = options->most_bytes && pack_total(repo->path) > options->most_bytes;

	list_loops(repo, &loops);
	for (size_t i = 0; i < loops.count && !needed; i++)
		needed = list_has(&options->loops, loops.items[i]) ||
			 is_old_draft(repo, options, loops.items[i]) ||
			 is_old(repo, options, loops.items[i]);
	list_release(&loops);
	return needed;
}

/* ---- repacking ---- */

static int copy_tree(struct checkpoint_repo *repo, struct pack *pack, const git_oid *id, int depth,
		     struct error *err)
{
	git_tree *tree = NULL;
	int result = 0;

	if (pack_has(pack, id->id))
		return 0;
	if (depth > NODE_DEEPEST + 2 || git_tree_lookup(&tree, repo->repository, id) < 0)
		return libgit_error("read a tree from a checkpoint", err);
	for (size_t i = 0; i < git_tree_entrycount(tree) && result == 0; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const git_oid *inner = git_tree_entry_id(entry);

		if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
			result = copy_tree(repo, pack, inner, depth + 1, err);
		else if (!pack_has(pack, inner->id))
			result = pack_copy(pack, inner, err);
	}
	git_tree_free(tree);
	/* The tree is added last: a tree in the pack implies its entries. */
	return result < 0 ? -1 : pack_copy(pack, id, err);
}

struct copying {
	struct checkpoint_repo *repo;
	struct pack *pack;
};

static int copy_checkpoint(void *context, const struct checkpoint_repo_item *checkpoint,
			   struct error *err)
{
	struct copying *at = context;

	if (copy_tree(at->repo, at->pack, &checkpoint->tree, 0, err) < 0)
		return -1;
	return pack_copy(at->pack, &checkpoint->commit, err);
}

static int repack(struct checkpoint_repo *repo, struct error *err)
{
	struct copying at = { repo, pack_new(repo, true, NULL) };
	struct list loops = { 0 };
	int result = checkpoint_repo_git(repo, err); /* nobody else opens it without checkpoints */

	list_loops(repo, &loops);
	for (size_t i = 0; i < loops.count && result == 0; i++)
		result = checkpoint_repo_each(repo, loops.items[i], copy_checkpoint, &at, err);
	/* The cache may name objects that are removed. */
	cache_remove(repo->folder);
	if (result == 0)
		result = pack_finish(at.pack, err);
	if (result == 0)
		pack_replace(at.pack);
	if (repo->odb)
		git_odb_refresh(repo->odb);
	pack_free(at.pack);
	list_release(&loops);
	return result;
}

/* ---- choosing checkpoints to remove ---- */

static int by_rank(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;

	if (left->rank != right->rank)
		return left->rank - right->rank;
	return left->at_ms < right->at_ms ? -1 : left->at_ms > right->at_ms;
}

/* Adds the checkpoints of a loop that may be removed. */
static void add_candidates(struct pruning *at, const char *loop, struct error *err)
{
	if (has_draft(at->repo, loop))
		return;
	at->loop = loop;
	at->last = checkpoint_repo_last(at->repo, loop);
	checkpoint_repo_each(at->repo, loop, add_candidate, at, err);
}

static uint64_t remove_candidates(struct pruning *at, size_t count)
{
	uint64_t removed = 0;

	for (size_t i = 0; i < at->count; i++) {
		const struct candidate *candidate = &at->candidates[i];

		if (i < count)
			removed += remove_ref(at->repo, candidate->loop, candidate->number) == 0;
		free(candidate->loop);
	}
	free(at->candidates);
	return removed;
}

static uint64_t remove_half(struct checkpoint_repo *repo, struct error *err)
{
	struct pruning at = { .repo = repo };
	struct list loops = { 0 };
	uint64_t removed;

	list_loops(repo, &loops);
	for (size_t i = 0; i < loops.count; i++)
		add_candidates(&at, loops.items[i], err);
	if (at.count)
		qsort(at.candidates, at.count, sizeof *at.candidates, by_rank);
	removed = remove_candidates(&at, (at.count + 1) / 2);
	list_release(&loops);
	return removed;
}

static uint64_t thin_out(struct checkpoint_repo *repo, const char *loop, struct error *err)
{
	AUTO_FREE char *refs = mem_format("refs/ringfence/%s", loop);
	struct pruning at = { .repo = repo };

	add_candidates(&at, loop, err);
	utimensat(repo->folder, refs, NULL, AT_SYMLINK_NOFOLLOW);
	return remove_candidates(&at, at.count);
}

int prune_store(struct checkpoint_repo *repo, const struct prune_options *options,
		struct prune_result *ret_result, struct error *err)
{
	struct prune_result result = { .bytes_before = pack_total(repo->path) };
	struct list loops = { 0 };

	list_loops(repo, &loops);
	for (size_t i = 0; i < loops.count; i++)
		if (list_has(&options->loops, loops.items[i]) ||
		    is_old(repo, options, loops.items[i]))
			result.removed += remove_loop(repo, loops.items[i]);
		else if (is_old_draft(repo, options, loops.items[i]))
			result.removed += thin_out(repo, loops.items[i], err);
	list_release(&loops);
	if (repack(repo, err) < 0)
		return -1;
	for (int i = 0;
	     options->most_bytes && i < ROUNDS && pack_total(repo->path) > options->most_bytes;
	     i++) {
		uint64_t removed = remove_half(repo, err);

		result.removed += removed;
		if (!removed || repack(repo, err) < 0)
			break;
	}
	result.bytes_after = pack_total(repo->path);
	*ret_result = result;
	return 0;
}
