/* The user's repository: applying a branch, work trees of loops, and obstacles. */
#include "unit_repository.h"

#include "snapshot/apply/apply.h"
#include "snapshot/apply/bare.h"
#include "snapshot/apply/delta.h"
#include "snapshot/apply/landing.h"
#include "snapshot/apply/memory_objects.h"
#include "snapshot/apply/merge.h"
#include "snapshot/apply/worktree.h"
#include "snapshot/look/look_walk.h"

#define BRANCH "refs/heads/ringfence/loop"

static git_repository *repo;
static git_oid base, theirs;

/* Makes a repository with three files, and a loop's branch that changes one and adds one. */
static void fresh(void)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	git_repository_free(repo);
	dirwalk_remove(top, "repo", NULL);
	dirwalk_remove(top, "work", NULL);
	repo = make_repository("repo");
	put("repo/a.txt", "one\ntwo\nthree\n");
	put("repo/b.txt", "b\n");
	put("repo/d/c.txt", "c\n");
	base = commit_all(repo);
	theirs = commit_file(repo, BRANCH, &base, "a.txt", GIT_FILEMODE_BLOB, "one\ntwo\nTHREE\n");
	theirs = commit_file(repo, BRANCH, &theirs, "n/new.sh", GIT_FILEMODE_BLOB_EXECUTABLE,
			     "#!/bin/sh\n");
	put(".gitconfig", "[user]\n\tname = Me\n\temail = me@example.org\n");
}

static struct apply_options options(void)
{
	static char project[4096];

	snprintf(project, sizeof project, "%s", at("repo"));
	return (struct apply_options){ .project = project,
				       .branch = BRANCH,
				       .message = "Bring it" };
}

static void apply(const struct apply_options *options, struct answer *answer)
{
	answer_begin(answer);
	answer->result = apply_branch(options, &answer->json, &answer->err);
	if (answer->result < 0)
		printf("# %s\n", answer->err.text);
}

static bool apply_says(const struct apply_options *options, const char *words)
{
	struct answer answer;
	bool held;

	apply(options, &answer);
	held = says(&answer, words);
	answer_end(&answer);
	return held;
}

static bool apply_fails(const struct apply_options *options, const char *words)
{
	struct answer answer;
	bool held;

	apply(options, &answer);
	held = fails(&answer, words);
	answer_end(&answer);
	return held;
}

/* Reports whether the work tree and the index match HEAD. */
static bool is_clean(void)
{
	git_status_options wanted = GIT_STATUS_OPTIONS_INIT;
	git_status_list *list = NULL;
	size_t count = 1;

	wanted.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED;
	if (git_status_list_new(&list, repo, &wanted) == 0)
		count = git_status_list_entrycount(list);
	git_status_list_free(list);
	return count == 0;
}

/* ---- apply ---- */

static void forwards(void)
{
	struct apply_options wanted = options();
	struct stat status;

	fresh();
	wanted.dry = true;
	CHECK("a dry run shows the result and changes nothing",
	      apply_says(&wanted, "\"kind\": \"forward\"") && ref_is(repo, "HEAD", &base) &&
		      holds("repo/a.txt", "one\ntwo\nthree\n"));
	wanted.dry = false;
	wanted.tree = "0000000000000000000000000000000000000000";
	CHECK("a tree that the caller was not shown is refused",
	      apply_fails(&wanted, "moved in the meantime") && ref_is(repo, "HEAD", &base));
	wanted.tree = NULL;
	CHECK("a branch that is ahead is fast-forwarded",
	      apply_says(&wanted, "\"written\": 2") && ref_is(repo, "HEAD", &theirs) &&
		      holds("repo/a.txt", "one\ntwo\nTHREE\n"));
	CHECK("modes are applied, and the index matches",
	      stat(at("repo/n/new.sh"), &status) == 0 && (status.st_mode & 0100) && is_clean() &&
		      !is_there("repo/.git/index.lock") && !is_there("repo/.git/" LANDING_NOTE));
	CHECK("the second time, there is nothing to do",
	      apply_says(&wanted, "\"kind\": \"nothing\""));
}

static void merges(void)
{
	struct apply_options wanted = options();
	git_commit *made = NULL;
	git_oid head;

	fresh();
	put("repo/b.txt", "mine\n");
	commit_all(repo);
	CHECK("diverged branches are merged by a commit with two parents",
	      apply_says(&wanted, "\"kind\": \"merge\"") &&
		      git_reference_name_to_id(&head, repo, "HEAD") == 0 &&
		      git_commit_lookup(&made, repo, &head) == 0 &&
		      git_commit_parentcount(made) == 2);
	CHECK("the merge has the user's name and both changes",
	      made && strcmp(git_commit_author(made)->name, "Me") == 0 &&
		      holds("repo/b.txt", "mine\n") && holds("repo/a.txt", "one\ntwo\nTHREE\n") &&
		      is_clean());
	git_commit_free(made);
	fresh();
	wanted.squash = true;
	made = NULL;
	CHECK("squashed, they become one commit with one parent",
	      apply_says(&wanted, "\"kind\": \"squash\"") &&
		      git_reference_name_to_id(&head, repo, "HEAD") == 0 &&
		      git_commit_lookup(&made, repo, &head) == 0 &&
		      git_commit_parentcount(made) == 1 &&
		      strcmp(git_commit_message(made), "Bring it") == 0);
	git_commit_free(made);
	fresh();
	unlink(at(".gitconfig"));
	CHECK("a commit needs a name and an email",
	      apply_fails(&wanted, "your name and email") && ref_is(repo, "HEAD", &base));
}

static void conflicts(void)
{
	struct apply_options wanted = options();
	git_oid head;

	fresh();
	put("repo/a.txt", "one\ntwo\nmine\n");
	head = commit_all(repo);
	CHECK("a conflict is described, and nothing changes",
	      apply_says(&wanted, "\"kind\": \"conflict\"") && ref_is(repo, "HEAD", &head) &&
		      holds("repo/a.txt", "one\ntwo\nmine\n") && is_clean());
	fresh();
	unlink(at("repo/a.txt"));
	commit_all(repo);
	CHECK("a file that one side removed and the other changed is a conflict",
	      apply_says(&wanted, "\"conflict_count\": 1"));
	fresh();
	put("repo/n/new.sh", "mine\n");
	commit_all(repo);
	CHECK("a file that both sides added is a conflict", apply_says(&wanted, "n/new.sh"));
	fresh();
	put("repo/n", "a file\n");
	commit_all(repo);
	CHECK("a file where the other side has a folder is a conflict",
	      apply_says(&wanted, "\"kind\": \"conflict\""));
	fresh();
	theirs = commit_file(repo, BRANCH, &theirs, "b.txt", GIT_FILEMODE_BLOB, NULL);
	put("repo/b.txt", "mine\n");
	commit_all(repo);
	CHECK("a file that the loop removed and the user changed is a conflict",
	      apply_says(&wanted, "b.txt"));
}

static void obstacles(void)
{
	struct apply_options wanted = options();

	fresh();
	put("repo/a.txt", "not committed\n");
	CHECK("an uncommitted change is in the way",
	      apply_says(&wanted, "\"in_the_way\": [\"") && ref_is(repo, "HEAD", &base) &&
		      holds("repo/a.txt", "not committed\n"));
	fresh();
	put("repo/b.txt", "not committed\n");
	CHECK("an uncommitted change elsewhere is not in the way",
	      apply_says(&wanted, "\"in_the_way\": []") && ref_is(repo, "HEAD", &theirs) &&
		      holds("repo/b.txt", "not committed\n"));
	fresh();
	put("repo/n/new.sh", "untracked\n");
	CHECK("an untracked file is in the way",
	      apply_says(&wanted, "n/new.sh") && holds("repo/n/new.sh", "untracked\n"));
	fresh();
	put("repo/a.txt", "one\ntwo\nTHREE\n");
	CHECK("a file that already has the new content is fine",
	      apply_says(&wanted, "\"there\": 1") && ref_is(repo, "HEAD", &theirs));
	fresh();
	put("elsewhere/x", "x");
	if (symlink(at("elsewhere"), at("repo/n")) < 0)
		abort();
	CHECK("nothing is written through a symlink",
	      apply_says(&wanted, "\"in_the_way\": [\"") && !is_there("elsewhere/new.sh"));
	unlink(at("repo/n"));
	put("repo/a.txt", "not committed\n");
	wanted.here = true;
	CHECK("in the loop's own work tree newer files are kept",
	      apply_says(&wanted, "\"in_the_way\": []") && ref_is(repo, "HEAD", &theirs) &&
		      holds("repo/a.txt", "not committed\n"));
}

static void unrest(void)
{
	struct apply_options wanted = options();
	struct apply_options elsewhere = wanted;

	fresh();
	wanted.branch = "refs/heads/ringfence/nobody";
	CHECK("a missing branch is reported", apply_fails(&wanted, "there is no branch"));
	wanted.branch = BRANCH;
	put("repo/.git/MERGE_HEAD", "");
	CHECK("an apply is refused during a merge", apply_fails(&wanted, "in '"));
	unlink(at("repo/.git/MERGE_HEAD"));
	put("repo/.git/index.lock", "");
	CHECK("and while git is running", apply_fails(&wanted, "index.lock"));
	unlink(at("repo/.git/index.lock"));
	git_repository_set_head_detached(repo, &base);
	CHECK("and with a detached HEAD", apply_fails(&wanted, "detached"));
	make_folder("nothing");
	elsewhere.project = at("nothing");
	CHECK("and without a repository", apply_fails(&elsewhere, "is not in a git repository"));
	git_repository_free(repo);
	repo = NULL;
	git_repository_init(&repo, at("bare.git"), 1);
	elsewhere.project = at("bare.git");
	CHECK("and in a bare repository", apply_fails(&elsewhere, "bare"));
}

static void unborn(void)
{
	struct apply_options wanted = options();
	git_oid tip;

	fresh();
	git_repository_set_head(repo, "refs/heads/other");
	unlink(at("repo/a.txt"));
	unlink(at("repo/b.txt"));
	unlink(at("repo/d/c.txt"));
	unlink(at("repo/.git/index"));
	CHECK("a branch without a commit gets all commits",
	      apply_says(&wanted, "\"kind\": \"forward\"") &&
		      git_reference_name_to_id(&tip, repo, "refs/heads/other") == 0 &&
		      git_oid_equal(&tip, &theirs) && holds("repo/b.txt", "b\n"));
}

static void deep_trees(void)
{
	struct apply_options wanted = options();
	git_treebuilder *builder = NULL;
	git_oid tree;

	fresh();
	git_treebuilder_new(&builder, repo, NULL);
	git_treebuilder_write(&tree, builder);
	git_treebuilder_free(builder);
	for (int i = 0; i < 300; i++) {
		git_treebuilder_new(&builder, repo, NULL);
		git_treebuilder_insert(NULL, builder, "d", &tree, GIT_FILEMODE_TREE);
		git_treebuilder_write(&tree, builder);
		git_treebuilder_free(builder);
	}
	git_reference_remove(repo, BRANCH);
	add_commit(repo, BRANCH, &base, &tree);
	CHECK("a tree that is too deep is refused", apply_fails(&wanted, "levels of folders"));
}

static void cut_apply(void)
{
	struct apply_options wanted = options();
	struct answer answer;

	apply(&wanted, &answer);
}

static void finishes(void)
{
	bool whole = true;
	int point = 1;

	for (; point < 200; point++) {
		struct answer answer;

		fresh();
		if (!cut_off(point, cut_apply))
			break;
		answer_begin(&answer);
		whole = whole && apply_finish(options().project, &answer.json, &answer.err) == 0 &&
			(ref_is(repo, "HEAD", &theirs) || ref_is(repo, "HEAD", &base)) &&
			!is_there("repo/.git/" LANDING_NOTE) && !is_there("repo/.git/index.lock") &&
			!is_there("repo/" LOOK_WALK_STAGE);
		git_repository_free(repo);
		repo = NULL;
		whole = whole && git_repository_open(&repo, at("repo")) == 0 && is_clean();
		answer_end(&answer);
	}
	CHECK("an apply has fault points", point > 5 && point < 200);
	CHECK("the next apply completes it, or it has not begun", whole);
	fresh();
	put("repo/.git/" LANDING_NOTE, "nonsense");
	{
		struct apply_options wanted = options();

		CHECK("a damaged record is an error", apply_fails(&wanted, "is damaged"));
	}
}

static void removals(void)
{
	struct apply_options wanted = options();
	struct stat status;

	fresh();
	theirs = commit_file(repo, BRANCH, &theirs, "d/c.txt", GIT_FILEMODE_BLOB, NULL);
	theirs = commit_file(repo, BRANCH, &theirs, "b.txt", GIT_FILEMODE_LINK, "a.txt");
	CHECK("a removed file goes with its empty folder, and a file becomes a symlink",
	      apply_says(&wanted, "\"removed\": 1") && !is_there("repo/d") &&
		      lstat(at("repo/b.txt"), &status) == 0 && S_ISLNK(status.st_mode) &&
		      is_clean());
	fresh();
	theirs = commit_file(repo, BRANCH, &theirs, "d/c.txt", GIT_FILEMODE_BLOB, NULL);
	put("repo/d/mine.txt", "untracked\n");
	CHECK("a folder with a file of the user's is kept",
	      apply_says(&wanted, "\"removed\": 1") && holds("repo/d/mine.txt", "untracked\n") &&
		      !is_there("repo/d/c.txt"));
}

/* The user saves both files that are about to be replaced. */
static void save_files(void)
{
	put("repo/a.txt", "saved meanwhile\n");
	put("repo/d/c.txt", "saved meanwhile\n");
}

static bool is_nothing_lost(void)
{
	return holds("repo/a.txt", "saved meanwhile\n") &&
	       holds("repo/d/c.txt", "saved meanwhile\n");
}

static void changes_meanwhile(void)
{
	struct apply_options wanted = options();
	bool kept = true;
	int point = 1;

	unit_meanwhile = save_files;
	for (; point < 200; point++) {
		struct answer answer;

		fresh();
		theirs = commit_file(repo, BRANCH, &theirs, "d/c.txt", GIT_FILEMODE_BLOB, NULL);
		unit_fault = point;
		apply(&wanted, &answer);
		answer_end(&answer);
		if (unit_fault)
			break;
		kept = kept && is_nothing_lost();
	}
	unit_meanwhile = NULL;
	unit_fault = 0;
	CHECK("a file that the user saves at any moment of an apply is not lost",
	      kept && point > 5 && point < 200);
}

/* ---- mails ---- */

static bool patch_prints(const struct apply_options *options, const char *words)
{
	int before = capture_begin();
	struct answer answer;

	answer_begin(&answer);
	answer.result = apply_patch(options, &answer.json, &answer.err);
	capture_end(before);
	answer_end(&answer);
	return answer.result == 0 && printed(words);
}

static void mails(void)
{
	struct apply_options wanted = options();

	fresh();
	CHECK("commits become mails", patch_prints(&wanted, "Subject: [PATCH 1/2] a commit") &&
					      printed("+THREE") && printed("new file mode 100755"));
	theirs = commit_file(repo, BRANCH, &theirs, "esc", GIT_FILEMODE_BLOB, "\x1b[2J\n");
	wanted.terminal = true;
	CHECK("control characters are escaped for a terminal", patch_prints(&wanted, "\\x1b"));
	wanted.branch = "refs/heads/nobody";
	CHECK("without the branch there is no mail", !patch_prints(&wanted, ""));
}

/* ---- work trees ---- */

static bool tree_work(int (*work)(const struct worktree_options *, struct json *, struct error *),
		      const char *project, bool force, const char *words)
{
	struct worktree_options wanted = { .project = project,
					   .loop = "two",
					   .folder = at("work"),
					   .message = "Ringfence two: what was left",
					   .force = force };
	struct answer answer;
	bool held;

	answer_begin(&answer);
	answer.result = work(&wanted, &answer.json, &answer.err);
	held = answer.result == 0 ? mentions(buffer_text(&answer.bytes), words)
				  : mentions(answer.err.text, words);
	answer_end(&answer);
	return held;
}

static void worktrees(void)
{
	fresh();
	make_folder("work");
	put("repo/b.txt", "not committed\n");
	CHECK("a work tree has the committed files, and uncommitted ones are listed",
	      tree_work(worktree_add, at("repo"), false, "\"dirty\": [\"b.txt\"]") &&
		      holds("work/repo/b.txt", "b\n") && holds("work/repo/d/c.txt", "c\n"));
	CHECK("a loop cannot have two work trees",
	      tree_work(worktree_add, at("repo"), false, "already"));
	CHECK("without a change nothing is committed",
	      tree_work(worktree_commit_leftovers, at("work/repo"), false, "\"made\": false"));
	put("work/repo/left.txt", "left\n");
	put("work/repo/.gitignore", "*.log\n");
	put("work/repo/x.log", "noise\n");
	unlink(at("work/repo/b.txt"));
	if (symlink("left.txt", at("work/repo/link")) < 0)
		abort();
	CHECK("leftovers are committed",
	      tree_work(worktree_commit_leftovers, at("work/repo"), false, "\"made\": true"));
	CHECK("such a commit can be removed again, once",
	      tree_work(worktree_uncommit_leftovers, at("work/repo"), false, "\"taken\": true") &&
		      tree_work(worktree_uncommit_leftovers, at("work/repo"), false,
				"\"taken\": false") &&
		      holds("work/repo/left.txt", "left\n"));
	put("work/repo/.gitmodules", "[submodule \"x\"]\n\turl = -x\n");
	CHECK("unsafe git files are not committed",
	      tree_work(worktree_commit_leftovers, at("work/repo"), false, "cannot be committed"));
	unlink(at("work/repo/.gitmodules"));
	tree_work(worktree_commit_leftovers, at("work/repo"), false, "made");
	CHECK("another branch is left alone", tree_work(worktree_commit_leftovers, at("repo"),
							false, "a branch other than ringfence/"));
	CHECK("an unmerged branch is kept",
	      tree_work(worktree_remove, at("repo"), false, "\"branch\": \"kept\"") &&
		      !is_there("repo/.git/worktrees"));
	CHECK("unless forced",
	      tree_work(worktree_remove, at("repo"), true, "\"branch\": \"gone\""));
	CHECK("then there is no branch",
	      tree_work(worktree_remove, at("repo"), false, "\"branch\": \"none\""));
}

/* ---- smaller modules ---- */

static void memory(void)
{
	struct memory_objects *objects = NULL;
	git_oid first, second;
	git_odb *odb = NULL;
	struct error err;

	fresh();
	CHECK("a written object stays in memory, and can be read",
	      memory_objects_begin(repo, &objects, &err) == 0 &&
		      git_blob_create_from_buffer(&first, repo, "draft", 5) == 0 &&
		      git_repository_odb(&odb, repo) == 0 && git_odb_exists(odb, &first));
	git_odb_free(odb);
	git_repository_free(repo);
	git_repository_open(&repo, at("repo"));
	git_repository_odb(&odb, repo);
	CHECK("it is not on disk", !git_odb_exists(odb, &first));
	git_odb_free(odb);
	memory_objects_begin(repo, &objects, &err);
	git_blob_create_from_buffer(&second, repo, "kept", 4);
	CHECK("it can be written to disk", memory_objects_write(objects, repo, true, &err) == 0);
	git_repository_free(repo);
	git_repository_open(&repo, at("repo"));
	git_repository_odb(&odb, repo);
	CHECK("then others find the object", git_odb_exists(odb, &second));
	git_odb_free(odb);
}

static void hidden_repositories(void)
{
	struct bare bare = { 0 };
	git_oid tip;

	fresh();
	tip = commit_file(repo, NULL, &base, "x/HEAD", GIT_FILEMODE_BLOB, "ref: refs/heads/x\n");
	tip = commit_file(repo, NULL, &tip, "x/objects/keep", GIT_FILEMODE_BLOB, "");
	tip = commit_file(repo, NULL, &tip, "x/refs/keep", GIT_FILEMODE_BLOB, "");
	tip = commit_file(repo, NULL, &tip, "x/config", GIT_FILEMODE_BLOB, "[core]\n");
	bare.repository = repo;
	bare.work = open(at("repo"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	libgit_tree(repo, &tip, &bare.tree, &(struct error){ 0 });
	CHECK("a folder that git treats as a repository is found",
	      bare_contains(&bare, "x/config") && bare_contains(&bare, "x/refs/keep"));
	CHECK("an ordinary folder is not",
	      !bare_contains(&bare, "d/c.txt") && !bare_contains(&bare, "a.txt"));
	bare_release(&bare);
	bare_add(&bare, "docs/head.");
	bare_add(&bare, "Docs/Commondir");
	bare_add(&bare, "web/HEAD/x");
	bare_add(&bare, "web/refs/x");
	bare_add(&bare, "lib/Objects/k");
	bare_add(&bare, "lib/re\u200cfs");
	bare_add(&bare, "LIB/config");
	CHECK("one in another spelling is found, which some file systems take for the same",
	      bare_contains(&bare, "docs/head.") && bare_contains(&bare, "Docs/Commondir"));
	CHECK("a folder that one may borrow its configuration from is found",
	      bare_contains(&bare, "lib/Objects/k") && bare_contains(&bare, "LIB/config"));
	CHECK("a folder called HEAD does not make one", !bare_contains(&bare, "web/refs/x"));
	close(bare.work);
	bare_release(&bare);
}

static void deltas(void)
{
	struct delta_set set = { 0 };
	struct error err;
	git_oid zero = { { 0 } }, tree;
	AUTO_FD root = -1;
	AUTO_FD folder = -1;
	const char *name;

	fresh();
	libgit_tree(repo, &base, &tree, &err);
	CHECK("the changes from an empty tree are all files, sorted",
	      delta_list(repo, &zero, &tree, &set, &err) == 0 && set.count == 3 &&
		      strcmp(set.items[0].path, "a.txt") == 0 && !set.items[0].old_mode);
	delta_release(&set);
	set = (struct delta_set){ 0 };
	zero.id[0] = 1;
	CHECK("a missing tree is an error", delta_list(repo, &tree, &zero, &set, &err) < 0);
	delta_release(&set);
	root = open(at("repo"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK("a missing folder is created only if asked",
	      delta_folder(root, "p/q/file", false, &name) < 0 &&
		      (folder = delta_folder(root, "p/q/file", true, &name)) >= 0 &&
		      strcmp(name, "file") == 0 && is_there("repo/p/q"));
	delta_remove_empty_folders(root, "p");
	CHECK("folders that contain only folders are removed", !is_there("repo/p"));
	make_folder("repo/p/q");
	put("repo/p/file", "x");
	delta_remove_empty_folders(root, "p");
	CHECK("but files are kept", is_there("repo/p/file"));
}

static void merge_kinds(void)
{
	struct merge merge = { 0 };
	struct error err;

	fresh();
	CHECK("an older commit adds nothing",
	      merge_try(repo, &theirs, &base, &merge, &err) == 0 && merge.kind == MERGE_NOTHING);
	merge_release(&merge);
	CHECK("newer commits are counted", merge_try(repo, &base, &theirs, &merge, &err) == 0 &&
						   merge.kind == MERGE_FORWARD &&
						   merge.commits == 2);
	merge_release(&merge);
}

int main(void)
{
	unit_begin();
	forwards();
	merges();
	conflicts();
	obstacles();
	unrest();
	unborn();
	deep_trees();
	finishes();
	removals();
	changes_meanwhile();
	mails();
	worktrees();
	memory();
	hidden_repositories();
	deltas();
	merge_kinds();
	git_repository_free(repo);
	return unit_end();
}
