/* Merges in memory. */
#include "snapshot/apply/merge.h"

#include "snapshot/base/libgit.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUNKS = 10000, PLACES = 5, WORDS = 4096 };

/* ---- conflicting lines ---- */

/*
 * Consecutive lines that one side changed: their position in the common ancestor and in the changed
 * file.
 */
struct hunk {
	int old_start, old_lines, new_start, new_lines;
};

struct hunks {
	struct hunk *items;
	size_t count;
	bool binary;
};

static int add_hunk(const git_diff_delta *delta, const git_diff_hunk *hunk, void *context)
{
	struct hunks *hunks = context;

	hunks->binary = hunks->binary || (delta->flags & GIT_DIFF_FLAG_BINARY);
	if (hunks->count == HUNKS)
		return 0;
	hunks->items = mem_resize(hunks->items, hunks->count + 1, sizeof *hunks->items);
	hunks->items[hunks->count++] = (struct hunk){ hunk->old_start, hunk->old_lines,
						      hunk->new_start, hunk->new_lines };
	return 0;
}

static int mark_binary(const git_diff_delta *delta, const git_diff_binary *binary, void *context)
{
	struct hunks *hunks = context;

	(void)delta;
	(void)binary;
	hunks->binary = true;
	return 0;
}

static int list_hunks(const git_blob *old, const git_blob *new, struct hunks *hunks)
{
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;

	options.context_lines = 0;
	options.interhunk_lines = 0;
	return git_diff_blobs(old, NULL, new, NULL, &options, NULL, mark_binary, add_hunk, NULL,
			      hunks);
}

/* The half-open range of a hunk in the old file; one that only adds lines is empty. */
static void old_range(const struct hunk *hunk, int *ret_from, int *ret_to)
{
	*ret_from = hunk->old_lines ? hunk->old_start : hunk->old_start + 1;
	*ret_to = *ret_from + hunk->old_lines;
}

/* Adjacent hunks also conflict: git requires an unchanged line between them. */
static bool overlap(const struct hunk *a, const struct hunk *b)
{
	int a_from, a_to, b_from, b_to;

	old_range(a, &a_from, &a_to);
	old_range(b, &b_from, &b_to);
	return a_from <= b_to && b_from <= a_to;
}

/* Adds "lines 3-5, 9 of ", numbered as in our file. */
static void add_places(struct buffer *out, const struct hunks *ours, const struct hunks *theirs)
{
	AUTO_BUFFER struct buffer places = BUFFER_INIT(WORDS);
	size_t told = 0;
	bool many = false;

	for (size_t i = 0; i < ours->count; i++) {
		const struct hunk *hunk = &ours->items[i];
		int from = hunk->new_lines ? hunk->new_start : hunk->new_start + 1;
		int to = hunk->new_lines ? from + hunk->new_lines - 1 : from;
		bool both = false;

		for (size_t k = 0; k < theirs->count && !both; k++)
			both = overlap(hunk, &theirs->items[k]);
		if (!both || ++told > PLACES)
			continue;
		many = many || told > 1 || to > from;
		buffer_printf(&places, "%s%d", told > 1 ? ", " : "", from);
		if (to > from)
			buffer_printf(&places, "-%d", to);
	}
	if (told > PLACES)
		buffer_printf(&places, " and %zu more places", told - PLACES);
	if (told)
		buffer_printf(out, "%s %s of ", many ? "lines" : "line", buffer_text(&places));
}

/* Both sides changed the content of a file. */
static void describe_content(git_repository *repository, struct buffer *out,
			     const git_index_entry *base, const git_index_entry *ours,
			     const git_index_entry *theirs)
{
	const git_index_entry *const entries[] = { base, ours, theirs };
	git_blob *blobs[3] = { 0 };
	struct hunks left = { 0 };
	struct hunks right = { 0 };
	bool text = true;

	for (size_t i = 0; i < 3; i++)
		text = text && git_blob_lookup(&blobs[i], repository, &entries[i]->id) == 0 &&
		       !git_blob_is_binary(blobs[i]);
	if (text)
		text = list_hunks(blobs[0], blobs[1], &left) == 0 &&
		       list_hunks(blobs[0], blobs[2], &right) == 0 && !left.binary && !right.binary;
	buffer_add_text(out, "both changed ");
	if (text)
		add_places(out, &left, &right);
	else
		buffer_add_text(out, "the binary file ");
	buffer_add_text(out, ours->path);
	for (size_t i = 0; i < 3; i++)
		git_blob_free(blobs[i]);
	free(left.items);
	free(right.items);
}

/* ---- kinds of conflicts ---- */

static const char *kind_of(const git_index_entry *entry)
{
	switch (entry->mode) {
	case GIT_FILEMODE_LINK:
		return "a symlink";
	case GIT_FILEMODE_COMMIT:
		return "a submodule";
	default:
		return "a file";
	}
}

static bool same_type(const git_index_entry *a, const git_index_entry *b)
{
	return (a->mode & 0170000) == (b->mode & 0170000);
}

static void describe_both(git_repository *repository, struct buffer *out,
			  const git_index_entry *base, const git_index_entry *ours,
			  const git_index_entry *theirs)
{
	if (strcmp(ours->path, theirs->path) != 0)
		buffer_printf(out, "you renamed %s to %s, but the loop renamed it to %s",
			      base->path, ours->path, theirs->path);
	else if (!same_type(ours, theirs))
		buffer_printf(out, "%s is %s here, but %s in the loop's branch", ours->path,
			      kind_of(ours), kind_of(theirs));
	else if (ours->mode == GIT_FILEMODE_COMMIT)
		buffer_printf(out, "both updated the submodule %s", ours->path);
	else if (ours->mode == GIT_FILEMODE_LINK)
		buffer_printf(out, "both changed the target of the symlink %s", ours->path);
	else if (git_oid_equal(&ours->id, &theirs->id))
		buffer_printf(out, "both changed the mode of %s", ours->path);
	else if (base)
		describe_content(repository, out, base, ours, theirs);
	else
		buffer_printf(out, "both added %s, with different contents", ours->path);
}

/*
 * Only one side has the path, and the ancestor does not: it was renamed, or the other side has a
 * folder there.
 */
static void describe_one_sided(git_index *merged, struct buffer *out, const git_index_entry *entry,
			       bool ours)
{
	AUTO_FREE char *below = mem_format("%s/", entry->path);
	size_t at;

	if (git_index_find_prefix(&at, merged, below) == 0 && ours)
		buffer_printf(out, "%s is %s here, but a folder in the loop's branch", entry->path,
			      kind_of(entry));
	else if (git_index_find_prefix(&at, merged, below) == 0)
		buffer_printf(out, "%s is a folder here, but %s in the loop's branch", entry->path,
			      kind_of(entry));
	else
		buffer_printf(out,
			      "%s used the name %s, which the other side used for something else",
			      ours ? "you" : "the loop", entry->path);
}

static void describe(git_repository *repository, git_index *merged, struct buffer *out,
		     const git_index_entry *base, const git_index_entry *ours,
		     const git_index_entry *theirs)
{
	if (ours && theirs)
		describe_both(repository, out, base, ours, theirs);
	else if (base && theirs)
		buffer_printf(out, "you deleted %s, which the loop changed", theirs->path);
	else if (base && ours)
		buffer_printf(out, "you changed %s, which the loop deleted", ours->path);
	else if (base)
		buffer_printf(out, "both renamed %s, to different names", base->path);
	else
		describe_one_sided(merged, out, ours ? ours : theirs, ours != NULL);
}

static int list_conflicts(git_repository *repository, git_index *merged, struct merge *merge,
			  struct error *err)
{
	git_index_conflict_iterator *iterator = NULL;
	const git_index_entry *base, *ours, *theirs;
	int result;

	if (git_index_conflict_iterator_new(&iterator, merged) < 0)
		return libgit_error("list the conflicts", err);
	while ((result = git_index_conflict_next(&base, &ours, &theirs, iterator)) == 0) {
		AUTO_BUFFER struct buffer words = BUFFER_INIT(WORDS);

		if (++merge->conflicts > MERGE_CONFLICTS)
			continue;
		describe(repository, merged, &words, base, ours, theirs);
		list_add(&merge->paths, ours ? ours->path : theirs ? theirs->path : base->path);
		list_add(&merge->words, buffer_text(&words));
	}
	git_index_conflict_iterator_free(iterator);
	return result == GIT_ITEROVER ? 0 : libgit_error("list the conflicts", err);
}

/* ---- merging ---- */

static int merge_both(git_repository *repository, const git_oid *ours, const git_oid *theirs,
		      struct merge *merge, struct error *err)
{
	git_merge_options options = GIT_MERGE_OPTIONS_INIT;
	git_commit *left = NULL;
	git_commit *right = NULL;
	git_index *merged = NULL;
	int result = -1;

	if (git_commit_lookup(&left, repository, ours) < 0 ||
	    git_commit_lookup(&right, repository, theirs) < 0 ||
	    git_merge_commits(&merged, repository, left, right, &options) < 0)
		libgit_error("merge", err);
	else if (git_index_has_conflicts(merged)) {
		merge->kind = MERGE_CONFLICT;
		result = list_conflicts(repository, merged, merge, err);
	} else if (git_index_write_tree_to(&merge->tree, merged, repository) < 0) {
		libgit_error("write the merged tree", err);
	} else {
		merge->kind = MERGE_TRUE;
		result = 0;
	}
	git_index_free(merged);
	git_commit_free(left);
	git_commit_free(right);
	return result;
}

/* Commits from one to another. */
static size_t count_commits(git_repository *repository, const git_oid *ours, const git_oid *theirs)
{
	git_revwalk *walk = NULL;
	size_t count = 0;
	git_oid id;

	if (git_revwalk_new(&walk, repository) == 0 && git_revwalk_push(walk, theirs) == 0 &&
	    (!ours || git_revwalk_hide(walk, ours) == 0))
		while (git_revwalk_next(&id, walk) == 0)
			count++;
	git_revwalk_free(walk);
	return count;
}

int merge_try(git_repository *repository, const git_oid *ours, const git_oid *theirs,
	      struct merge *ret_merge, struct error *err)
{
	struct merge *merge = ret_merge;
	git_oid base;
	int found;

	*merge = (struct merge){ .kind = MERGE_FORWARD };
	merge->commits = count_commits(repository, ours, theirs);
	if (!ours)
		return libgit_tree(repository, theirs, &merge->tree, err);
	found = git_merge_base(&base, repository, ours, theirs);
	if (found == GIT_ENOTFOUND)
		return error_set(err, "the loop's branch and yours have no commit in common");
	if (found < 0)
		return libgit_error("find the common ancestor of the branches", err);
	if (git_oid_equal(&base, theirs)) {
		merge->kind = MERGE_NOTHING;
		return libgit_tree(repository, ours, &merge->tree, err);
	}
	if (git_oid_equal(&base, ours))
		return libgit_tree(repository, theirs, &merge->tree, err);
	return merge_both(repository, ours, theirs, merge, err);
}

void merge_release(struct merge *merge)
{
	list_release(&merge->paths);
	list_release(&merge->words);
	*merge = (struct merge){ 0 };
}
