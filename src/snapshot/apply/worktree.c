/* Work trees of loops. */
#include "snapshot/apply/worktree.h"

#include "snapshot/apply/gather.h"
#include "snapshot/apply/landing.h"
#include "snapshot/apply/merged.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/object/vet.h"
#include "util/file/dirwalk.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The author of Ringfence's own commits. */
#define OWN_NAME "Ringfence"
#define OWN_MAIL "ringfence@localhost"

enum { DIRTY_TOLD = 20 };

/* The name of the work tree in the repository. */
static char *admin_name(const char *loop)
{
	return mem_format("worktrees/ringfence-%s", loop);
}

static char *branch_name(const char *loop)
{
	return mem_format("refs/heads/ringfence/%s", loop);
}

/* ---- creating ---- */

static int write_file(const char *folder, const char *name, const char *text, struct error *err)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	fault_point();
	if (fd < 0 || durable_replace(fd, name, text, strlen(text), 0644) < 0)
		return error_sys(err, "write '%s/%s'", folder, name);
	return 0;
}

/* Makes an empty folder a work tree of the repository. */
static int link_folder(const struct user_repo *user, const char *loop, const char *work,
		       struct error *err)
{
	AUTO_FREE char *name = admin_name(loop);
	AUTO_FREE char *admin = path_join(user->common, name);
	AUTO_FREE char *branch = branch_name(loop);
	AUTO_FREE char *head = mem_format("ref: %s\n", branch);
	AUTO_FREE char *back = mem_format("%s/.git\n", work);
	AUTO_FREE char *there = mem_format("gitdir: %s\n", admin);

	if (state_folder_make(admin, 0777) < 0)
		return error_sys(err, "create '%s'", admin);
	if (mkdir(work, 0777) < 0 && errno != EEXIST)
		return error_sys(err, "create '%s'", work);
	if (write_file(admin, "gitdir", back, err) < 0 ||
	    write_file(admin, "commondir", "../..\n", err) < 0 ||
	    write_file(admin, "HEAD", head, err) < 0)
		return -1;
	return write_file(work, ".git", there, err);
}

/* Writes the files of the commit, and creates the branch. */
static int fill(const char *work, const git_oid *commit, const char *loop, struct json *json,
		struct error *err)
{
	static const git_oid nothing;
	AUTO_FREE char *branch = branch_name(loop);
	struct landing landing = { .new = *commit,
				   .branch = branch,
				   .log = "ringfence run --worktree" };
	struct landing_result result = { 0 };
	struct delta_set deltas = { 0 };
	struct list own = { 0 };
	git_index *index = NULL;
	struct user_repo user;
	git_oid tree;
	int outcome = user_repo_open(&user, work, NULL, err);

	if (outcome == 0)
		outcome = user_repo_lock(&user, err) < 0 ||
					  libgit_tree(user.repository, commit, &tree, err) < 0 ||
					  delta_list(user.repository, &nothing, &tree, &deltas,
						     err) < 0
				  ? -1
				  : 0;
	if (outcome == 0 && git_repository_index(&index, user.repository) < 0)
		outcome = libgit_error("create an index", err);
	if (outcome == 0)
		outcome = delta_classify(&user, index, false, &deltas, &own, err);
	if (outcome == 0 && own.count)
		outcome = error_set(err, "'%s' is not empty", work);
	if (outcome == 0)
		outcome = landing_run(&user, &landing, &deltas, &result, err);
	json_open(json, "submodules", '[');
	for (size_t i = 0; i < deltas.count; i++)
		if (deltas.items[i].new_mode == GIT_FILEMODE_COMMIT)
			json_text(json, NULL, deltas.items[i].path);
	json_close(json);
	git_index_free(index);
	delta_release(&deltas);
	list_release(&own);
	list_release(&result.left);
	user_repo_close(&user);
	return outcome;
}

/* Lists the user's uncommitted changes, staged or not, which are not copied. */
static void write_dirty(const struct user_repo *user, struct json *json)
{
	git_commit *commit = NULL;
	git_index *index = NULL;
	git_tree *tree = NULL;
	size_t count = 0;
	struct stat written = { 0 };
	bool there = git_commit_lookup(&commit, user->repository, &user->head) == 0 &&
		     git_commit_tree(&tree, commit) == 0 &&
		     git_repository_index(&index, user->repository) == 0 &&
		     fstatat(user->git_fd, "index", &written, 0) == 0;

	json_open(json, "dirty", '[');
	for (size_t i = 0; there && i < git_index_entrycount(index); i++) {
		const git_index_entry *entry = git_index_get_byindex(index, i);
		git_tree_entry *was = NULL;
		bool staged = git_tree_entry_bypath(&was, tree, entry->path) < 0 ||
			      !git_oid_equal(git_tree_entry_id(was), &entry->id);

		git_tree_entry_free(was);
		if ((staged || !delta_is_there(user, entry, &written)) && ++count <= DIRTY_TOLD)
			json_text(json, NULL, entry->path);
	}
	json_close(json);
	json_number(json, "dirty_count", count);
	git_index_free(index);
	git_tree_free(tree);
	git_commit_free(commit);
}

int worktree_add(const struct worktree_options *options, struct json *json, struct error *err)
{
	AUTO_FREE char *branch = branch_name(options->loop);
	AUTO_FREE char *work = NULL;
	AUTO_FREE char *inner = NULL;
	struct user_repo user;
	char id[GIT_OID_HEXSZ + 1];
	git_oid taken;
	int result = user_repo_open(&user, options->project, options->folder, err);

	if (result == 0 && user.unborn)
		result = error_set(err,
				   "the repository '%s' has no commit yet, and a work tree needs "
				   "one (git commit)",
				   user.work);
	if (result == 0 && git_reference_name_to_id(&taken, user.repository, branch) == 0)
		result = error_set(err, "the branch ringfence/%s already exists", options->loop);
	if (result == 0) {
		work = mem_format("%s/%s", options->folder, path_name(user.work));
		inner = mem_format("%s%s", work, options->project + strlen(user.work));
		result = link_folder(&user, options->loop, work, err);
	}
	if (result == 0) {
		json_text(json, "folder", inner);
		json_text(json, "work_tree", work);
		json_text(json, "commit", git_oid_tostr(id, sizeof id, &user.head));
		write_dirty(&user, json);
		result = fill(work, &user.head, options->loop, json, err);
	}
	/* A folder that git does not track is not in the commit. */
	if (result == 0 && state_folder_make(inner, 0777) < 0)
		result = error_sys(err, "create '%s'", inner);
	user_repo_close(&user);
	return result;
}

/* ---- committing leftovers ---- */

static int commit(struct user_repo *user, const git_oid *tree_id, const char *message,
		  git_oid *ret_id, struct error *err)
{
	git_commit *parent = NULL;
	git_signature *who = NULL;
	git_tree *tree = NULL;
	int result = -1;

	if (git_commit_lookup(&parent, user->repository, &user->head) == 0 &&
	    git_tree_lookup(&tree, user->repository, tree_id) == 0 &&
	    git_signature_now(&who, OWN_NAME, OWN_MAIL) == 0)
		result = git_commit_create(ret_id, user->repository, NULL, who, who, NULL, message,
					   tree, 1, (const git_commit *[]){ parent });
	if (result < 0)
		libgit_error("create a commit", err);
	git_signature_free(who);
	git_tree_free(tree);
	git_commit_free(parent);
	return result < 0 ? -1 : 0;
}

static int move_branch(struct user_repo *user, const git_oid *id, const char *log,
		       struct error *err)
{
	git_reference *moved = NULL;
	int result;

	git_repository_set_ident(user->repository, OWN_NAME, OWN_MAIL);
	fault_point();
	result = git_reference_create_matching(&moved, user->repository, user->branch, id, 1,
					       &user->head, log);
	git_reference_free(moved);
	fault_point();
	return result < 0 ? libgit_error("move the loop's branch", err) : 0;
}

/* Leftover files are checked like the agent's own commits. */
static int check_tree(const struct user_repo *user, const git_oid *tree, const git_oid *before,
		      struct error *err)
{
	struct vet vet = { 0 };
	struct error why;
	int result = -1;

	if (git_repository_odb(&vet.objects, user->repository) < 0)
		return libgit_error("open the objects", err);
	vet_accept(&vet, before);
	result = vet_tree(&vet, tree, &why);
	if (result < 0)
		error_set(err,
			  "the loop's uncommitted files in '%s' cannot be committed: there is %s",
			  user->work, why.text);
	vet_release(&vet);
	git_odb_free(vet.objects);
	return result;
}

int worktree_commit_leftovers(const struct worktree_options *options, struct json *json,
			      struct error *err)
{
	AUTO_FREE char *branch = branch_name(options->loop);
	struct memory_objects *objects = NULL;
	git_oid tree, before, id;
	struct user_repo user;
	int result = user_repo_open(&user, options->project, NULL, err);

	if (result == 0)
		result = user_repo_lock(&user, err) < 0 || user_repo_head(&user, err) < 0 ? -1 : 0;
	if (result == 0 && (!user.branch || strcmp(user.branch, branch) != 0 || user.unborn))
		result = error_set(err, "in '%s', a branch other than ringfence/%s is checked out",
				   user.work, options->loop);
	if (result == 0)
		result = gather_tree(&user, &tree, &objects, err) < 0 ||
					 libgit_tree(user.repository, &user.head, &before, err) <
						 0 ||
					 check_tree(&user, &tree, &before, err) < 0
				 ? -1
				 : 0;
	id = user.head;
	if (result == 0 && !git_oid_equal(&tree, &before)) {
		result = commit(&user, &tree, options->message ? options->message : "Ringfence",
				&id, err);
		if (result == 0)
			result = memory_objects_write(objects, user.repository, false, err);
		if (result == 0 && syncfs(user.git_fd) < 0)
			result = error_sys(err, "sync the disk of '%s'", user.git);
		if (result == 0)
			result = move_branch(&user, &id, "ringfence: commit leftovers", err);
	}
	if (result == 0)
		result = user_repo_put_index(&user, err);
	if (result == 0) {
		char text[GIT_OID_HEXSZ + 1];

		json_text(json, "commit", git_oid_tostr(text, sizeof text, &id));
		json_flag(json, "made", !git_oid_equal(&id, &user.head));
	}
	user_repo_close(&user);
	return result;
}

/* Returns true, and the parent, if HEAD is a commit of leftovers. */
static bool find_before_leftovers(const struct user_repo *user, const char *loop,
				  git_oid *ret_parent)
{
	AUTO_FREE char *beginning = mem_format(OWN_NAME " %s: ", loop);
	git_commit *tip = NULL;
	bool found = git_commit_lookup(&tip, user->repository, &user->head) == 0 &&
		     git_commit_parentcount(tip) == 1 &&
		     strcmp(git_commit_committer(tip)->email, OWN_MAIL) == 0 &&
		     strncmp(git_commit_message(tip), beginning, strlen(beginning)) == 0;

	if (found)
		*ret_parent = *git_commit_parent_id(tip, 0);
	git_commit_free(tip);
	return found;
}

int worktree_uncommit_leftovers(const struct worktree_options *options, struct json *json,
				struct error *err)
{
	AUTO_FREE char *branch = branch_name(options->loop);
	struct user_repo user;
	git_oid parent;
	bool found = false;
	int result = user_repo_open(&user, options->project, NULL, err);

	if (result == 0)
		result = user_repo_lock(&user, err) < 0 || user_repo_head(&user, err) < 0 ? -1 : 0;
	if (result == 0 && user.branch && strcmp(user.branch, branch) == 0 && !user.unborn)
		found = find_before_leftovers(&user, options->loop, &parent);
	if (found)
		result = move_branch(&user, &parent, "ringfence: continue the loop", err);
	json_flag(json, "taken", found && result == 0);
	user_repo_close(&user);
	return result;
}

/* ---- removing ---- */

static int remove_refs(const struct user_repo *user, const char *loop, bool force,
		       struct json *json, struct error *err)
{
	git_strarray names = { 0 };
	size_t gone = 0;
	size_t kept = 0;
	int result = 0;

	if (git_reference_list(&names, user->repository) < 0)
		return libgit_error("list the branches", err);
	for (size_t i = 0; i < names.count && result == 0; i++) {
		git_oid tip;

		if (!merged_is_own(names.strings[i], loop) ||
		    git_reference_name_to_id(&tip, user->repository, names.strings[i]) < 0)
			continue;
		if (!force && !merged_in_a_ref(user->repository, loop, &tip)) {
			kept++;
			continue;
		}
		fault_point();
		if (git_reference_remove(user->repository, names.strings[i]) < 0)
			result = libgit_error("remove the loop's branch", err);
		gone++;
	}
	git_strarray_dispose(&names);
	json_text(json, "branch", kept ? "kept" : gone ? "gone" : "none");
	return result;
}

int worktree_remove(const struct worktree_options *options, struct json *json, struct error *err)
{
	AUTO_FREE char *name = admin_name(options->loop);
	struct user_repo user;
	int result = user_repo_open(&user, options->project, options->folder, err);

	if (result == 0) {
		AUTO_FD common = open(user.common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const char *last;
		AUTO_FD folder = common < 0 ? -1 : delta_folder(common, name, false, &last);

		fault_point();
		if (folder >= 0)
			dirwalk_remove(folder, last, NULL);
		if (folder >= 0) /* git removes the folder when it is empty */
			unlinkat(common, "worktrees", AT_REMOVEDIR);
		result = remove_refs(&user, options->loop, options->force, json, err);
	}
	user_repo_close(&user);
	return result;
}
