/* Applies a loop's branch. */
#include "snapshot/apply/apply.h"

#include "snapshot/apply/bare.h"
#include "snapshot/apply/landing.h"
#include "snapshot/apply/mail.h"
#include "snapshot/apply/memory_objects.h"
#include "snapshot/apply/merge.h"
#include "snapshot/apply/past.h"
#include "snapshot/base/libgit.h"
#include "snapshot/look/look_walk.h"
#include "snapshot/object/vet.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Everything that is computed before anything changes. */
struct finding {
	struct user_repo user;
	git_oid theirs;
	git_oid old_tree;
	struct memory_objects *objects;
	struct merge merge;
	struct delta_set deltas;
	struct bare bare; /* finds git directories in the result */
	struct past past; /* unless the commits are squashed */
	struct list own;  /* obstacles: the user's own files */
	git_index *index;
};

static void release(struct finding *finding)
{
	git_index_free(finding->index);
	past_release(&finding->past);
	bare_release(&finding->bare);
	delta_release(&finding->deltas);
	merge_release(&finding->merge);
	list_release(&finding->own);
	user_repo_close(&finding->user);
}

static int find_branch(git_repository *repository, const char *name, git_oid *ret_id,
		       struct error *err)
{
	const char *shown = text_after_prefix(name, "refs/heads/");
	int found = git_reference_name_to_id(ret_id, repository, name);

	if (found == GIT_ENOTFOUND)
		return error_set(
			err,
			"there is no branch %s in this repository: the loop has not committed "
			"anything; with --workspace in-place, its changes are already in your "
			"files (see what it did with: ringfence diff)",
			shown ? shown : name);
	return found < 0 ? libgit_error("read the loop's branch", err) : 0;
}

/* libgit2 would take hours to walk such a tree. */
static int check_depth(git_repository *repository, const git_oid *theirs, struct error *err)
{
	struct vet vet = { 0 };
	struct error why;
	int result;

	if (git_repository_odb(&vet.objects, repository) < 0)
		return libgit_error("open the objects", err);
	result = vet_depth(&vet, theirs, &why);
	vet_release(&vet);
	git_odb_free(vet.objects);
	return result < 0 ? error_set(err, "the loop's branch has %s", why.text) : 0;
}

/* The changes may bring git directories under other names. */
static void begin_bare(struct finding *at)
{
	at->bare = (struct bare){ .repository = at->user.repository,
				  .tree = at->merge.tree,
				  .work = at->user.work_fd };
	for (size_t i = 0; i < at->deltas.count; i++)
		if (at->deltas.items[i].new_mode)
			bare_add(&at->bare, at->deltas.items[i].path);
}

static int find_past(struct finding *at, struct error *err)
{
	const struct past_options options = { .ours = at->user.unborn ? NULL : &at->user.head,
					      .theirs = &at->theirs,
					      .old = &at->old_tree,
					      .new = &at->merge.tree,
					      .bare = &at->bare };

	return past_find(at->user.repository, &options, &at->past, err);
}

static int find_changes(struct finding *at, const struct apply_options *options, struct error *err)
{
	const struct user_repo *user = &at->user;
	const git_oid *ours = user->unborn ? NULL : &user->head;

	if (memory_objects_begin(user->repository, &at->objects, err) < 0 ||
	    find_branch(user->repository, options->branch, &at->theirs, err) < 0 ||
	    check_depth(user->repository, &at->theirs, err) < 0 ||
	    merge_try(user->repository, ours, &at->theirs, &at->merge, err) < 0)
		return -1;
	if (at->merge.kind == MERGE_CONFLICT || at->merge.kind == MERGE_NOTHING)
		return 0;
	if (git_repository_index(&at->index, user->repository) < 0)
		return libgit_error("read the index (try git merge instead)", err);
	if (git_index_has_conflicts(at->index))
		return error_set(err, "the index has unresolved conflicts (see: git status)");
	if (libgit_tree(user->repository, &user->head, &at->old_tree, err) < 0 ||
	    delta_list(user->repository, &at->old_tree, &at->merge.tree, &at->deltas, err) < 0)
		return -1;
	begin_bare(at);
	if (!options->squash && find_past(at, err) < 0)
		return -1;
	return delta_classify(user, at->index, options->here && at->merge.kind == MERGE_FORWARD,
			      &at->deltas, &at->own, err);
}

/* ---- answers ---- */

static void write_id(struct json *json, const char *key, const git_oid *id)
{
	char text[GIT_OID_HEXSZ + 1];

	json_text(json, key, git_oid_tostr(text, sizeof text, id));
}

static const char *kind_name(const struct finding *at, const struct apply_options *options)
{
	switch (at->merge.kind) {
	case MERGE_CONFLICT:
		return "conflict";
	case MERGE_NOTHING:
		return "nothing";
	case MERGE_FORWARD:
	case MERGE_TRUE:
		break;
	}
	if (options->squash)
		return at->deltas.count ? "squash" : "nothing";
	return at->merge.kind == MERGE_FORWARD ? "forward" : "merge";
}

/* Adds the target of a path that is a symlink in a tree. */
static void write_target(struct json *json, const struct bare *bare, const char *path)
{
	git_tree *tree = NULL;
	git_tree_entry *entry = NULL;
	git_blob *blob = NULL;

	if (git_tree_lookup(&tree, bare->repository, &bare->tree) == 0 &&
	    git_tree_entry_bypath(&entry, tree, path) == 0 &&
	    git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK &&
	    git_blob_lookup(&blob, bare->repository, git_tree_entry_id(entry)) == 0 &&
	    git_blob_rawsize(blob) < PATH_MAX) {
		AUTO_FREE char *target = mem_format("%.*s", (int)git_blob_rawsize(blob),
						    (const char *)git_blob_rawcontent(blob));

		json_text(json, "target", target);
	}
	git_blob_free(blob);
	git_tree_entry_free(entry);
	git_tree_free(tree);
}

/* Opens the JSON object of a change; the caller closes it. */
static void open_change(struct json *json, struct bare *bare, const char *path)
{
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_flag(json, "git", bare_contains(bare, path));
	write_target(json, bare, path);
}

static void write_changes(struct json *json, struct finding *at)
{
	size_t there = 0;

	json_open(json, "changes", '[');
	for (size_t i = 0; i < at->deltas.count; i++) {
		const struct delta *delta = &at->deltas.items[i];

		open_change(json, &at->bare, delta->path);
		json_text(json, "status",
			  !delta->old_mode   ? "added"
			  : !delta->new_mode ? "deleted"
					     : "modified");
		json_flag(json, "submodule", delta->new_mode == GIT_FILEMODE_COMMIT);
		json_flag(json, "there", delta->place == DELTA_NEW);
		json_close(json);
		there += delta->place == DELTA_NEW;
	}
	json_close(json);
	json_number(json, "there", there);
}

static void write_past(struct json *json, const struct past *past)
{
	json_open(json, "history", '[');
	for (size_t i = 0; i < past->count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", past->files[i].path);
		json_flag(json, "git", past->files[i].git);
		write_id(json, "commit", &past->files[i].commit);
		json_close(json);
	}
	json_close(json);
}

/*
 * Lists files that git would pass through a filter; here they are written as they are stored,
 * except for those in Git LFS whose content is in the store.
 */
static void write_filtered(struct json *json, const struct finding *at)
{
	json_open(json, "filtered", '[');
	for (size_t i = 0; i < at->deltas.count; i++) {
		const struct delta *delta = &at->deltas.items[i];
		const char *value = NULL;

		if (delta->new_mode && delta->place == DELTA_OLD && !delta->new_lfs &&
		    git_attr_get(&value, at->user.repository, GIT_ATTR_CHECK_FILE_THEN_INDEX,
				 delta->path, "filter") == 0 &&
		    git_attr_value(value) == GIT_ATTR_VALUE_STRING)
			json_text(json, NULL, delta->path);
	}
	json_close(json);
}

static int write_obeyed(struct json *json, const struct finding *at, struct error *err)
{
	struct list obeyed = { 0 };

	if (user_repo_obeyed(at->user.git, at->user.work, &obeyed, err) < 0)
		return -1;
	json_list(json, "obeyed", &obeyed);
	list_release(&obeyed);
	return 0;
}

static int write_answer(struct json *json, struct finding *at, const struct apply_options *options,
			struct error *err)
{
	json_text(json, "kind", kind_name(at, options));
	json_text(json, "branch", at->user.branch + strlen("refs/heads/"));
	json_text(json, "work_tree", at->user.work);
	if (!at->user.unborn)
		write_id(json, "old", &at->user.head);
	write_id(json, "theirs", &at->theirs);
	if (at->merge.kind != MERGE_CONFLICT)
		write_id(json, "tree", &at->merge.tree);
	json_number(json, "commits", at->merge.commits);
	json_number(json, "conflict_count", at->merge.conflicts);
	json_open(json, "conflicts", '[');
	for (size_t i = 0; i < at->merge.words.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", at->merge.paths.items[i]);
		json_text(json, "words", at->merge.words.items[i]);
		json_close(json);
	}
	json_close(json);
	json_list(json, "in_the_way", &at->own);
	write_changes(json, at);
	write_past(json, &at->past);
	write_filtered(json, at);
	return write_obeyed(json, at, err);
}

/* ---- applying ---- */

static int commit(struct finding *at, const struct apply_options *options, git_oid *ret_id,
		  struct error *err)
{
	git_repository *repository = at->user.repository;
	const git_commit *parents[2] = { 0 };
	git_commit *ours = NULL;
	git_commit *theirs = NULL;
	git_signature *who = NULL;
	git_tree *tree = NULL;
	size_t count = 0;
	int result = -1;

	if (user_repo_identity(&at->user, &who, err) < 0)
		return -1;
	if ((!at->user.unborn && git_commit_lookup(&ours, repository, &at->user.head) < 0) ||
	    (!options->squash && git_commit_lookup(&theirs, repository, &at->theirs) < 0) ||
	    git_tree_lookup(&tree, repository, &at->merge.tree) < 0)
		goto end;
	if (ours)
		parents[count++] = ours;
	if (theirs)
		parents[count++] = theirs;
	result = git_commit_create(ret_id, repository, NULL, who, who, NULL,
				   options->message ? options->message : "Merge", tree, count,
				   parents);
end:
	if (result < 0)
		libgit_error("create a commit", err);
	git_tree_free(tree);
	git_commit_free(ours);
	git_commit_free(theirs);
	git_signature_free(who);
	return result < 0 ? -1 : 0;
}

/* The caller was shown nothing else, or nothing at all. */
static bool is_shown(const char *shown, const git_oid *id)
{
	return !shown || git_oid_streq(id, shown) == 0;
}

static int perform(struct finding *at, const struct apply_options *options, struct json *json,
		   struct error *err)
{
	struct landing landing = { .old = at->user.head,
				   .new = at->theirs,
				   .branch = at->user.branch,
				   .log = options->log ? options->log : "ringfence apply" };
	struct landing_result result = { 0 };
	int outcome = 0;

	if (!is_shown(options->tree, &at->merge.tree) || !is_shown(options->theirs, &at->theirs))
		return error_set(err, "a branch moved in the meantime (try again)");
	if ((options->squash || at->merge.kind == MERGE_TRUE) &&
	    commit(at, options, &landing.new, err) < 0)
		return -1;
	outcome = memory_objects_write(at->objects, at->user.repository, true, err);
	if (outcome == 0)
		outcome = landing_run(&at->user, &landing, &at->deltas, &result, err);
	if (outcome == 0) {
		write_id(json, "new", &landing.new);
		json_number(json, "written", result.written);
		json_number(json, "removed", result.removed);
		json_list(json, "left", &result.left);
	}
	list_release(&result.left);
	return outcome;
}

/* Completes an interrupted apply. The caller holds the lock. */
static int complete_interrupted(struct user_repo *user, struct json *json, struct error *err)
{
	struct landing_result result = { 0 };
	int outcome;

	if (!landing_pending(user->git_fd)) {
		/* An apply that was killed before it changed anything leaves only this folder. */
		if (user->stale)
			dirwalk_remove(user->work_fd, LOOK_WALK_STAGE, NULL);
		return 0;
	}
	outcome = landing_finish(user, &result, err);
	if (outcome == 0) {
		json_flag(json, "recovered", true);
		json_list(json, "recovered_left", &result.left);
	}
	list_release(&result.left);
	return outcome;
}

/* Reports whether there is an interrupted apply; false if there is no repository. */
static bool was_interrupted(const char *project)
{
	git_repository *repository = NULL;
	bool found = false;

	libgit_init();
	if (git_repository_open_ext(&repository, project, 0, NULL) == 0) {
		const char *path = git_repository_path(repository);
		AUTO_FD git = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		found = git >= 0 && (landing_pending(git) || user_repo_was_killed(git));
	}
	git_repository_free(repository);
	return found;
}

int apply_finish(const char *project, struct json *json, struct error *err)
{
	struct user_repo user;
	int result;

	if (!was_interrupted(project))
		return 0;
	result = user_repo_open(&user, project, NULL, err);
	if (result == 0)
		result = user_repo_lock(&user, err);
	if (result == 0)
		result = complete_interrupted(&user, json, err);
	user_repo_close(&user);
	return result;
}

int apply_branch(const struct apply_options *options, struct json *json, struct error *err)
{
	struct finding at = { 0 };
	int result = user_repo_open(&at.user, options->project, NULL, err);

	/* A dry run takes no lock, unless an interrupted apply must be completed. */
	if (result == 0 && (!options->dry || landing_pending(at.user.git_fd)))
		result = user_repo_lock(&at.user, err) < 0 ||
					 complete_interrupted(&at.user, json, err) < 0
				 ? -1
				 : 0;
	if (result == 0)
		result = user_repo_head(&at.user, err) < 0 ||
					 user_repo_check_idle(&at.user, err) < 0 ||
					 find_changes(&at, options, err) < 0
				 ? -1
				 : 0;
	if (result == 0) {
		bool can = at.merge.kind != MERGE_CONFLICT && !at.own.count &&
			   strcmp(kind_name(&at, options), "nothing") != 0;

		result = write_answer(json, &at, options, err);
		if (result == 0 && can && !options->dry)
			result = perform(&at, options, json, err);
	}
	release(&at);
	return result;
}

/* ---- as mails ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Lists each path that the mails touch once, even if a later mail removes it again; so there is no
 * status.
 */
static int write_paths(struct json *json, struct finding *at, struct list *paths, struct error *err)
{
	struct bare bare = { .repository = at->user.repository, .work = at->user.work_fd };

	if (libgit_tree(bare.repository, &at->theirs, &bare.tree, err) < 0)
		return -1;
	if (paths->count)
		qsort(paths->items, paths->count, sizeof *paths->items, by_text);
	for (size_t i = 0; i < paths->count; i++)
		bare_add(&bare, paths->items[i]);
	json_open(json, "changes", '[');
	for (size_t i = 0; i < paths->count; i++) {
		if (i && strcmp(paths->items[i], paths->items[i - 1]) == 0)
			continue;
		open_change(json, &bare, paths->items[i]);
		json_close(json);
	}
	json_close(json);
	bare_release(&bare);
	return write_obeyed(json, at, err);
}

int apply_patch(const struct apply_options *options, struct json *json, struct error *err)
{
	struct finding at = { 0 };
	struct mail_options mails = { .theirs = &at.theirs,
				      .subject = options->message ? options->message : "ringfence",
				      .remote = options->remote,
				      .terminal = options->terminal };
	struct list paths = { 0 };
	char theirs[GIT_OID_HEXSZ + 1];
	size_t commits = 0;
	int result = user_repo_open(&at.user, options->project, NULL, err);

	if (result == 0) {
		mails.ours = at.user.unborn ? NULL : &at.user.head;
		result = find_branch(at.user.repository, options->branch, &at.theirs, err) < 0 ||
					 check_depth(at.user.repository, &at.theirs, err) < 0 ||
					 mail_print(at.user.repository, &mails, &commits, &paths,
						    err) < 0
				 ? -1
				 : 0;
	}
	if (result == 0) {
		json_number(json, "commits", commits);
		json_text(json, "work_tree", at.user.work);
		git_oid_tostr(theirs, sizeof theirs, &at.theirs);
		json_text(json, "theirs", theirs);
		result = write_paths(json, &at, &paths, err);
	}
	list_release(&paths);
	release(&at);
	return result;
}
