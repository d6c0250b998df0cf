/* The state of the user's repository: see repo_state.h. */
#include "snapshot/apply/repo_state.h"

#include "credential/credential.h"
#include "snapshot/apply/delta.h"
#include "snapshot/apply/user_repo.h"
#include "snapshot/base/libgit.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/textset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANGES_COUNTED = 1000,
	CHANGES_TOLD = 3,
	FILE_BYTES = 1 << 20, /* larger files are data */
	FINDINGS = 20,
	FILE_FINDINGS = 4,
	CERTAIN_COMMITS = 8, /* are read at any speed */
};

/* ---- uncommitted changes ---- */

struct dirt {
	size_t count;
	struct list paths; /* the first ones */
};

static int add_change(const char *path, unsigned int flags, void *context)
{
	struct dirt *dirt = context;

	if (flags == GIT_STATUS_CURRENT)
		return 0;
	if (dirt->count++ < CHANGES_TOLD)
		list_add(&dirt->paths, path);
	return dirt->count >= CHANGES_COUNTED;
}

/* Untracked files are not counted: finding them takes a walk of the whole tree. */
static void report_changes(const struct user_repo *user, const struct repo_state_options *options,
			   struct json *json)
{
	git_status_options wanted = GIT_STATUS_OPTIONS_INIT;
	struct dirt dirt = { 0 };
	git_index *index = NULL;
	bool examined;

	wanted.flags = GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
	examined = git_repository_index(&index, user->repository) == 0 &&
		   (int64_t)git_index_entrycount(index) <= options->most_files &&
		   git_status_foreach_ext(user->repository, &wanted, add_change, &dirt) >= 0;
	git_index_free(index);
	json_flag(json, "changes_examined", examined);
	json_number(json, "changes", dirt.count);
	json_list(json, "changed", &dirt.paths);
	list_release(&dirt.paths);
}

/* ---- credentials in recent commits ---- */

struct search {
	git_repository *repository;
	const struct repo_state_options *options;
	struct json *json;
	git_tree *present; /* of HEAD */
	git_odb *objects;
	struct textset seen; /* blobs */
	uint64_t until_ms;
	int64_t commits, bytes;
	size_t findings;
	bool cut; /* a limit was reached */
};

/* Reports whether HEAD still has this version: it is then found in the work tree. */
static bool is_present(const struct search *at, const struct delta *delta)
{
	git_tree_entry *entry = NULL;
	bool same = git_tree_entry_bypath(&entry, at->present, delta->path) == 0 &&
		    git_oid_equal(git_tree_entry_id(entry), &delta->new);

	git_tree_entry_free(entry);
	return same;
}

static void report_finding(struct search *at, const git_oid *commit, const char *path,
			   const struct credential_finding *finding)
{
	char hex[GIT_OID_HEXSZ + 1];

	json_open(at->json, NULL, '{');
	json_text(at->json, "commit", git_oid_tostr(hex, sizeof hex, commit));
	json_text(at->json, "path", path);
	json_number(at->json, "line", finding->line);
	json_text(at->json, "what", finding->what);
	json_text(at->json, "shown", finding->shown);
	json_close(at->json);
	at->findings++;
}

static void scan_blob(struct search *at, const git_oid *commit, const struct delta *delta)
{
	struct credential_finding findings[FILE_FINDINGS];
	git_odb_object *object = NULL;
	git_object_t type;
	size_t size = 0;
	size_t count;

	if (git_odb_read_header(&size, &type, at->objects, &delta->new) < 0 ||
	    type != GIT_OBJECT_BLOB || size > FILE_BYTES ||
	    git_odb_read(&object, at->objects, &delta->new) < 0)
		return;
	at->bytes += (int64_t)size;
	count = credential_scan(git_odb_object_data(object), git_odb_object_size(object), findings,
				FILE_FINDINGS);
	for (size_t i = 0; i < count && at->findings < FINDINGS; i++)
		report_finding(at, commit, delta->path, &findings[i]);
	git_odb_object_free(object);
}

static void scan_version(struct search *at, const git_oid *commit, const struct delta *delta)
{
	char hex[GIT_OID_HEXSZ + 1];

	if ((delta->new_mode & S_IFMT) == S_IFREG && !is_present(at, delta) &&
	    textset_add(&at->seen, git_oid_tostr(hex, sizeof hex, &delta->new)))
		scan_blob(at, commit, delta);
}

/* Scans the files that a commit changes. One that cannot be read makes the search incomplete. */
static void scan_commit(struct search *at, const git_oid *id)
{
	git_oid parent = { 0 };
	git_commit *commit = NULL;
	struct delta_set deltas = { 0 };
	struct error ignored;
	git_oid before;
	git_oid tree;

	if (git_commit_lookup(&commit, at->repository, id) == 0 && git_commit_parentcount(commit))
		parent = *git_commit_parent_id(commit, 0);
	git_commit_free(commit);
	if (libgit_tree(at->repository, id, &tree, &ignored) < 0 ||
	    libgit_tree(at->repository, &parent, &before, &ignored) < 0 ||
	    delta_list(at->repository, &before, &tree, &deltas, &ignored) < 0)
		at->cut = true;
	for (size_t i = 0; i < deltas.count && at->bytes <= at->options->most_bytes; i++)
		scan_version(at, id, &deltas.items[i]);
	delta_release(&deltas);
}

static bool is_over(struct search *at)
{
	if (at->commits >= at->options->most_commits || at->bytes > at->options->most_bytes ||
	    at->findings >= FINDINGS ||
	    (at->commits >= CERTAIN_COMMITS && clock_steady_ms() > at->until_ms))
		at->cut = true;
	return at->cut;
}

static void walk(struct search *at, const git_oid *head)
{
	git_revwalk *walk = NULL;
	git_oid id;

	if (git_revwalk_new(&walk, at->repository) == 0 &&
	    git_revwalk_sorting(walk, GIT_SORT_TIME) == 0 && git_revwalk_push(walk, head) == 0)
		while (git_revwalk_next(&id, walk) == 0 && !is_over(at)) {
			scan_commit(at, &id);
			at->commits++;
		}
	git_revwalk_free(walk);
}

static int report_history(const struct user_repo *user, const struct repo_state_options *options,
			  struct json *json, struct error *err)
{
	struct search at = { .repository = user->repository,
			     .options = options,
			     .json = json,
			     .until_ms = clock_steady_ms() + (uint64_t)options->most_ms };
	git_oid tree;
	int result = 0;

	json_open(json, "secrets", '[');
	if (!user->unborn) {
		result = libgit_tree(user->repository, &user->head, &tree, err);
		if (result == 0 && (git_tree_lookup(&at.present, user->repository, &tree) < 0 ||
				    git_repository_odb(&at.objects, user->repository) < 0))
			result = libgit_error("read the last commit", err);
		if (result == 0)
			walk(&at, &user->head);
	}
	json_close(json);
	json_number(json, "commits", (uint64_t)at.commits);
	json_flag(json, "history_cut", at.cut);
	textset_release(&at.seen);
	git_odb_free(at.objects);
	git_tree_free(at.present);
	return result;
}

/* ---- the report ---- */

int repo_state_report(const struct repo_state_options *options, struct json *json,
		      struct error *err)
{
	struct user_repo user;
	struct error why;
	int result = user_repo_open(&user, options->project, NULL, &why);
	bool found = result == 0 || why.status != ERROR_NOT_FOUND;

	json_flag(json, "repository", found);
	if (result < 0 && found)
		*err = why;
	if (result == 0) {
		json_text(json, "branch", user.branch);
		json_flag(json, "unborn", user.unborn);
		json_text(json, "busy", user_repo_operation(&user));
		report_changes(&user, options, json);
		result = report_history(&user, options, json, err);
	}
	user_repo_close(&user);
	return found ? result : 0;
}
