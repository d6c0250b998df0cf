/* Whether the user has a loop's commits: see merged.h. */
#include "snapshot/apply/merged.h"

#include "snapshot/apply/user_repo.h"
#include "snapshot/base/libgit.h"
#include "util/mem.h"

#include <string.h>

enum { MOST_COMMITS = 5000 };

bool merged_is_own(const char *name, const char *loop)
{
	AUTO_FREE char *branch = mem_format("refs/heads/ringfence/%s", loop);
	AUTO_FREE char *below = mem_format("refs/ringfence/%s/", loop);

	return strcmp(name, branch) == 0 || strncmp(name, below, strlen(below)) == 0;
}

static bool contains(git_repository *repository, const git_oid *tip, const git_oid *commit)
{
	return git_oid_equal(tip, commit) || git_graph_descendant_of(repository, tip, commit) == 1;
}

bool merged_in_a_ref(git_repository *repository, const char *loop, const git_oid *commit)
{
	git_reference_iterator *all = NULL;
	git_reference *ref = NULL;
	git_reference *head = NULL;
	bool merged = false;

	if (git_repository_head(&head, repository) == 0 &&
	    !merged_is_own(git_reference_name(head), loop))
		merged = contains(repository, git_reference_target(head), commit);
	git_reference_free(head);
	if (!merged && git_reference_iterator_glob_new(&all, repository, "refs/*") == 0)
		while (!merged && git_reference_next(&ref, all) == 0) {
			const git_oid *tip = git_reference_target(ref);
			const char *name = git_reference_name(ref);

			merged = tip && !merged_is_own(name, loop) &&
				 strcmp(name, "refs/stash") != 0 &&
				 contains(repository, tip, commit);
			git_reference_free(ref);
		}
	git_reference_iterator_free(all);
	return merged;
}

/* ---- the user's branches ---- */

/* Begins a walk over the commits of HEAD and of the user's branches. Returns 0, or -1. */
static int push_branches(git_repository *repository, git_revwalk *walk)
{
	git_reference_iterator *all = NULL;
	git_reference *ref = NULL;
	int result = git_reference_iterator_glob_new(&all, repository, "refs/heads/*");

	git_revwalk_push_head(walk); /* fails if there is none */
	while (result == 0 && git_reference_next(&ref, all) == 0) {
		const char *name = git_reference_name(ref);

		if (git_reference_target(ref) && strncmp(name, "refs/heads/ringfence/", 21) != 0)
			result = git_revwalk_push(walk, git_reference_target(ref));
		git_reference_free(ref);
	}
	git_reference_iterator_free(all);
	return result < 0 ? -1 : 0;
}

static bool is_same_person(const git_signature *a, const git_signature *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->email, b->email) == 0 &&
	       a->when.time == b->when.time;
}

static bool is_copy(git_commit *commit, git_commit *of, const char *squashed)
{
	const char *subject = git_commit_summary(commit);
	const char *wanted = git_commit_summary(of);

	return strstr(git_commit_message(commit), squashed) ||
	       (subject && wanted && strcmp(subject, wanted) == 0 &&
		is_same_person(git_commit_author(commit), git_commit_author(of)));
}

/* Reports whether one of the commits of the walk is the result, or a copy. */
static bool find_commit(git_repository *repository, git_revwalk *walk, git_commit *wanted,
			const char *squashed)
{
	bool found = false;
	git_oid id;

	for (int i = 0; !found && i < MOST_COMMITS && git_revwalk_next(&id, walk) == 0; i++) {
		git_commit *commit = NULL;

		found = git_commit_lookup(&commit, repository, &id) == 0 &&
			(git_oid_equal(&id, git_commit_id(wanted)) ||
			 is_copy(commit, wanted, squashed));
		git_commit_free(commit);
	}
	return found;
}

static int search(git_repository *repository, const char *hex, const char *squashed,
		  bool *ret_merged, struct error *err)
{
	git_commit *wanted = NULL;
	git_revwalk *walk = NULL;
	git_oid id;
	int result = -1;

	if (git_oid_fromstr(&id, hex) == 0 && git_commit_lookup(&wanted, repository, &id) == 0 &&
	    git_revwalk_new(&walk, repository) == 0 &&
	    git_revwalk_sorting(walk, GIT_SORT_TIME) == 0 && push_branches(repository, walk) == 0)
		result = 0;
	/* Nothing before the result can be a copy. */
	for (unsigned int i = 0; result == 0 && i < git_commit_parentcount(wanted); i++)
		result = git_revwalk_hide(walk, git_commit_parent_id(wanted, i));
	if (result == 0)
		*ret_merged = find_commit(repository, walk, wanted, squashed);
	git_revwalk_free(walk);
	git_commit_free(wanted);
	return result < 0 ? libgit_error("read the loop's commits", err) : 0;
}

int merged_report(const char *project, const char *commit, const char *squashed, struct json *json,
		  struct error *err)
{
	struct user_repo user;
	bool merged = false;
	int result = user_repo_open(&user, project, NULL, err);

	if (result == 0)
		result = search(user.repository, commit, squashed, &merged, err);
	if (result == 0)
		json_flag(json, "merged", merged);
	user_repo_close(&user);
	return result;
}
