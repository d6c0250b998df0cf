/* Finds the files that only the history has. */
#include "snapshot/apply/past.h"

#include "snapshot/apply/delta.h"
#include "snapshot/base/libgit.h"
#include "snapshot/object/vet.h"
#include "util/mem.h"

#include <stdlib.h>

/* A version of a file in the tree of a commit. */
struct version {
	char *path;
	git_oid commit, tree;
	bool in_result;
};

struct search {
	git_repository *repository;
	const struct past_options *options;
	git_tree *old, *new;
	struct vet vet;
	struct bare bare;         /* finds git directories in one commit after the other */
	struct version *versions; /* newest commit first; each commit's by path */
	size_t count;
	size_t changes; /* all that were looked at */
};

/* ---- listing versions ---- */

static bool has(const git_tree *tree, const struct delta *delta)
{
	git_tree_entry *entry = NULL;
	bool same = tree && git_tree_entry_bypath(&entry, tree, delta->path) == 0 &&
		    git_tree_entry_filemode(entry) == (git_filemode_t)delta->new_mode &&
		    git_oid_equal(git_tree_entry_id(entry), &delta->new);

	git_tree_entry_free(entry);
	return same;
}

static void add_version(struct search *at, const git_oid *commit, const git_oid *tree,
			const struct delta *delta)
{
	if (!delta->new_mode)
		return;
	bare_add(&at->bare, delta->path);
	if (has(at->old, delta))
		return;
	at->versions = mem_resize(at->versions, at->count + 1, sizeof *at->versions);
	at->versions[at->count++] = (struct version){ .path = mem_dup(delta->path),
						      .commit = *commit,
						      .tree = *tree,
						      .in_result = has(at->new, delta) };
}

/* parent: the zero id if there is none. */
static int compare(struct search *at, const git_oid *commit, const git_oid *parent,
		   struct error *err)
{
	struct delta_set deltas = { 0 };
	git_oid before;
	git_oid tree;
	int result = 0;

	if (libgit_tree(at->repository, commit, &tree, err) < 0 ||
	    libgit_tree(at->repository, parent, &before, err) < 0)
		return -1;
	result = delta_list(at->repository, &before, &tree, &deltas, err);
	at->changes += deltas.count;
	if (result == 0 && at->changes > DELTA_MOST)
		result = error_set(
			err,
			"the loop's commits change more than %d files, too many to judge (use --squash)",
			DELTA_MOST);
	for (size_t i = 0; result == 0 && i < deltas.count; i++)
		add_version(at, commit, &tree, &deltas.items[i]);
	delta_release(&deltas);
	return result;
}

/* A merge brings what it has from any of its sides, and a git directory may have parts from all. */
static int look_at(struct search *at, const git_oid *id, struct error *err)
{
	git_oid none = { 0 };
	git_commit *commit = NULL;
	struct error why;
	unsigned int parents;
	int result = 0;

	if (vet_depth(&at->vet, id, &why) < 0)
		return error_set(err, "the loop's branch has %s", why.text);
	if (git_commit_lookup(&commit, at->repository, id) < 0)
		return libgit_error("read a commit", err);
	parents = git_commit_parentcount(commit);
	if (!parents)
		result = compare(at, id, &none, err);
	for (unsigned int i = 0; result == 0 && i < parents; i++)
		result = compare(at, id, git_commit_parent_id(commit, i), err);
	git_commit_free(commit);
	return result;
}

static int walk(struct search *at, struct error *err)
{
	const git_oid *ours = at->options->ours;
	git_revwalk *walk = NULL;
	size_t count = 0;
	git_oid id;
	int result = 0;
	int next = 0;

	if (git_revwalk_new(&walk, at->repository) < 0 ||
	    git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL) < 0 ||
	    git_revwalk_push(walk, at->options->theirs) < 0 ||
	    (ours && git_revwalk_hide(walk, ours) < 0))
		result = libgit_error("list the loop's commits", err);
	while (result == 0 && (next = git_revwalk_next(&id, walk)) == 0)
		result = ++count > PAST_COMMITS
				 ? error_set(err,
					     "the loop's branch brings more than %d commits, too "
					     "many to judge (use --squash)",
					     PAST_COMMITS)
				 : look_at(at, &id, err);
	if (result == 0 && next != GIT_ITEROVER)
		result = libgit_error("list the loop's commits", err);
	git_revwalk_free(walk);
	return result;
}

/* ---- choosing files ---- */

static void choose(struct search *at, struct past *past)
{
	struct textset known = { 0 };

	for (size_t i = 0; i < at->count; i++) {
		const struct version *version = &at->versions[i];
		bool git;

		bare_set_tree(&at->bare, &version->tree);
		git = bare_contains(&at->bare, version->path);
		if (version->in_result && (!git || bare_contains(at->options->bare, version->path)))
			continue;

		/* No path ends with a slash. */
		AUTO_FREE char *key = mem_format("%s%s", version->path, git ? "/" : "");

		if (!textset_add(&known, key))
			continue;
		past->files = mem_resize(past->files, past->count + 1, sizeof *past->files);
		past->files[past->count++] = (struct past_file){ .path = mem_dup(version->path),
								 .commit = version->commit,
								 .git = git };
	}
	textset_release(&known);
}

static void release(struct search *at)
{
	for (size_t i = 0; i < at->count; i++)
		free(at->versions[i].path);
	free(at->versions);
	bare_release(&at->bare);
	vet_release(&at->vet);
	git_odb_free(at->vet.objects);
	git_tree_free(at->old);
	git_tree_free(at->new);
}

int past_find(git_repository *repository, const struct past_options *options, struct past *ret_past,
	      struct error *err)
{
	struct search at = { .repository = repository,
			     .options = options,
			     .bare = { .repository = repository, .work = options->bare->work } };
	int result = 0;

	*ret_past = (struct past){ 0 };
	if (git_repository_odb(&at.vet.objects, repository) < 0 ||
	    (!git_oid_is_zero(options->old) &&
	     git_tree_lookup(&at.old, repository, options->old) < 0) ||
	    git_tree_lookup(&at.new, repository, options->new) < 0)
		result = libgit_error("read the trees", err);
	if (result == 0)
		result = walk(&at, err);
	if (result == 0)
		choose(&at, ret_past);
	release(&at);
	return result;
}

void past_release(struct past *past)
{
	for (size_t i = 0; i < past->count; i++)
		free(past->files[i].path);
	free(past->files);
	*past = (struct past){ 0 };
}
