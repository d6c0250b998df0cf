/* The private git directory of a loop, and the import of its commits. */
#include "unit_repository.h"

#include "snapshot/git/gitwork.h"
#include "snapshot/git/publish.h"
#include "snapshot/object/object_source.h"
#include "snapshot/object/vet.h"

#define BRANCH "refs/heads/ringfence/loop"

static git_repository *repo, *private_repo;
static git_oid base;

static bool ask(int (*work)(const struct gitwork *, struct json *, struct error *),
		uint64_t most_bytes, const char *words)
{
	AUTO_FREE char *project = mem_dup(at("repo"));
	AUTO_FREE char *folder = mem_dup(at("loop"));
	const struct gitwork wanted = { project, { folder, "loop", most_bytes } };
	struct answer answer;
	bool held;

	answer_begin(&answer);
	answer.result = work(&wanted, &answer.json, &answer.err);
	held = mentions(answer.result == 0 ? buffer_text(&answer.bytes) : answer.err.text, words);
	answer_end(&answer);
	return held;
}

static bool opens(const char *words)
{
	return ask(gitwork_open, 1 << 30, words);
}

static bool imports(const char *words)
{
	return ask(gitwork_import, 1 << 30, words);
}

static void clear(void)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	git_repository_free(private_repo);
	git_repository_free(repo);
	private_repo = repo = NULL;
	dirwalk_remove(top, "repo", NULL);
	dirwalk_remove(top, "loop", NULL);
	make_folder("loop");
}

static void make_users(void)
{
	clear();
	repo = make_repository("repo");
	put("repo/a.txt", "one\n");
	put("repo/d/b.txt", "b\n");
	base = commit_all(repo);
}

/* As git sees it inside the fence: the user's objects are at the paths in the alternates. */
static void open_private(void)
{
	git_odb *odb = NULL;

	git_repository_free(private_repo);
	if (git_repository_open_bare(&private_repo, at("loop/git")) < 0 ||
	    git_repository_odb(&odb, private_repo) < 0 ||
	    git_odb_add_disk_alternate(odb, at("repo/.git/objects")) < 0)
		abort();
	git_odb_free(odb);
}

static void fresh(void)
{
	make_users();
	if (!opens("\"mode\": \"private\""))
		abort();
	open_private();
}

static git_oid agent_commits(const char *ref, const git_oid *parent, const char *path,
			     const char *text)
{
	return commit_file(private_repo, ref, parent, path, GIT_FILEMODE_BLOB, text);
}

static void set_head(const git_oid *id)
{
	char hex[GIT_OID_HEXSZ + 2];

	git_oid_tostr(hex, sizeof hex - 1, id);
	strcat(hex, "\n");
	put("loop/git/HEAD", hex);
}

/* ---- the directory ---- */

static void directories(void)
{
	clear();
	make_folder("repo");
	CHECK("without a repository there is no private directory", opens("\"mode\": \"none\""));
	make_users();
	put(".gitconfig", "[user]\n\tname = Me\n\temail = me@example.org\n");
	git_repository_free(repo);
	put("repo/.git/config", "[core]\n\trepositoryformatversion = 0\n\tautocrlf = input\n"
				"\tfsmonitor = touch mark\n[remote \"origin\"]\n"
				"\turl = https://user:token@example.org/x\n"
				"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
				"[filter \"x\"]\n\tclean = cat\n");
	git_repository_open(&repo, at("repo"));
	CHECK("the private directory begins with the user's refs and index",
	      opens("\"mode\": \"private\"") && is_there("loop/git/index") &&
		      is_there("loop/git-own/base"));
	{
		AUTO_BUFFER struct buffer config = BUFFER_INIT(1 << 16);

		fd_read_path(at("loop/git/config"), &config);
		CHECK("name and text settings are copied, programs and tokens are not",
		      mentions(buffer_text(&config), "me@example.org") &&
			      mentions(buffer_text(&config), "input") &&
			      !strstr(buffer_text(&config), "mark") &&
			      !strstr(buffer_text(&config), "token") &&
			      !strstr(buffer_text(&config), "\"x\"") &&
			      !strstr(buffer_text(&config), "cat"));
		CHECK("the only filter is our own",
		      mentions(buffer_text(&config), "clean = \"/run/ringfence/init lfs-clean /") &&
			      mentions(buffer_text(&config), "required = true"));
	}
	put("loop/git/config", "changed by the agent\n");
	CHECK("an existing directory is kept",
	      opens("\"mode\": \"private\"") && holds("loop/git/config", "changed by the agent\n"));
	CHECK("the answer lists the mounts", opens("\"path\": \"/run/ringfence/objects"));
}

static void repositories_that_cannot_be(void)
{
	static const struct {
		const char *sentence, *config;
	} cases[] = {
		{ "a repository with SHA-256 stays read-only",
		  "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" },
		{ "so does one with reftables",
		  "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = reftable\n" },
		{ "so does one with an unknown extension",
		  "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnews = yes\n" },
		{ "so does a partial clone",
		  "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = origin\n" },
		{ "so does one of a format to come", "[core]\n\trepositoryformatversion = 7\n" },
		{ "so does one with another work tree", "[core]\n\tworktree = /elsewhere\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make_users();
		put("repo/.git/config", cases[i].config);
		CHECK(cases[i].sentence, opens("\"mode\": \"read-only\""));
	}
	make_users();
	if (rename(at("repo/.git"), at("loop/dotgit")) < 0 ||
	    symlink(at("loop/dotgit"), at("repo/.git")) < 0)
		abort();
	CHECK("a .git that is a symlink stays read-only", opens("\"mode\": \"read-only\""));
	make_users();
	if (rename(at("repo/.git"), at("loop/dotgit")) < 0)
		abort();
	put("repo/.git", "gitdir: /nowhere/at/all\n");
	CHECK("a .git file that names a missing folder stays read-only",
	      opens("\"mode\": \"read-only\""));
	put("repo/.git", "nonsense\n");
	CHECK("a .git file without a path stays read-only", opens("\"mode\": \"read-only\""));
}

static void linked_work_trees(void)
{
	git_worktree *tree = NULL;
	AUTO_FREE char *inner = NULL;
	AUTO_FREE char *folder = mem_dup(at("loop"));
	struct answer answer;

	make_users();
	if (git_worktree_add(&tree, repo, "linked", at("loop/linked"), NULL) < 0)
		abort();
	git_worktree_free(tree);
	inner = mem_dup(at("loop/linked"));
	answer_begin(&answer);
	answer.result = gitwork_open(&(struct gitwork){ inner, { folder, "loop", 1 << 30 } },
				     &answer.json, &answer.err);
	CHECK("in a linked work tree a file is mounted over .git",
	      says(&answer, "\"mode\": \"private\"") && is_there("loop/git-own/file"));
	answer_end(&answer);
}

static void lenders(void)
{
	struct borrow borrow;
	struct error err;

	make_users();
	make_folder("loop/other/objects");
	AUTO_FREE char *text = mem_format("%s\n# a remark\n", at("loop/other/objects"));

	put("repo/.git/objects/info/alternates", text);
	CHECK("objects that the user's repository borrows are also lent",
	      borrow_find(at("repo"), &borrow, &err) == 0 && borrow.lenders.count == 2);
	borrow_release(&borrow);
	put("repo/.git/objects/info/alternates", "/nowhere\n");
	CHECK("missing alternates are not an error",
	      borrow_find(at("repo"), &borrow, &err) == 0 && borrow.git);
	borrow_release(&borrow);
}

/* ---- the import ---- */

static void good_commits(void)
{
	git_oid tip, branch, tag;

	fresh();
	CHECK("without a commit nothing is imported",
	      imports("{") && !is_there("repo/.git/" BRANCH));
	tip = agent_commits(NULL, &base, "new/file.txt", "by the agent\n");
	set_head(&tip);
	CHECK("the agent's commit is imported as a branch",
	      imports("\"refs\": 1") && ref_is(repo, BRANCH, &tip));
	CHECK("nothing is imported twice", imports("\"refs\": 0"));
	branch = agent_commits("refs/heads/topic", &tip, "x", "x\n");
	tag = agent_commits("refs/tags/v1", &base, "y", "y\n");
	set_ref(private_repo, "refs/stash", &branch);
	CHECK("other branches, tags and the stash are imported beside it",
	      imports("\"refs\": 3") && ref_is(repo, "refs/ringfence/loop/heads/topic", &branch) &&
		      ref_is(repo, "refs/ringfence/loop/tags/v1", &tag) &&
		      ref_is(repo, "refs/ringfence/loop/stash", &branch));
	tip = agent_commits(NULL, &base, "amended", "otherwise\n");
	set_head(&tip);
	CHECK("a rewritten history replaces the previous one",
	      imports("\"refs\": 1") && ref_is(repo, BRANCH, &tip));
	tip = agent_commits(NULL, &tip, "large", "0123456789");
	set_head(&tip);
	CHECK("an import above the size limit is refused",
	      ask(gitwork_import, 20, "--git-size") && !ref_is(repo, BRANCH, &tip));
	CHECK("with a higher limit it succeeds",
	      imports("\"refs\": 1") && ref_is(repo, BRANCH, &tip));
	CHECK("cleaning up keeps the refs",
	      ask(gitwork_clean, 0, "{") && ref_is(repo, BRANCH, &tip));
}

static void tags(void)
{
	git_object *target = NULL;
	git_signature *who = NULL;
	git_oid tip, tag;

	fresh();
	tip = agent_commits(NULL, &base, "x", "x\n");
	set_head(&tip);
	git_signature_new(&who, "A", "a@example.org", 1700000000, 0);
	git_object_lookup(&target, private_repo, &tip, GIT_OBJECT_COMMIT);
	git_tag_create(&tag, private_repo, "v2", target, who, "a tag\n", 0);
	git_object_free(target);
	git_signature_free(who);
	CHECK("an annotated tag is imported with its object",
	      imports("\"refs\": 2") && ref_is(repo, "refs/ringfence/loop/tags/v2", &tag));
}

/* Commits this tree on top of HEAD, and reports whether the import refuses it with this reason. */
static bool tree_is_refused(const char *bytes, size_t size, const char *why)
{
	git_odb *odb = NULL;
	git_oid tree, tip;
	AUTO_FREE char *commit = NULL;
	char hex[GIT_OID_HEXSZ + 1];
	bool refused;

	git_repository_odb(&odb, private_repo);
	git_odb_write(&tree, odb, bytes, size, GIT_OBJECT_TREE);
	git_oid_tostr(hex, sizeof hex, &tree);
	commit = mem_format("tree %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n",
			    hex);
	git_odb_write(&tip, odb, commit, strlen(commit), GIT_OBJECT_COMMIT);
	git_odb_free(odb);
	set_head(&tip);
	refused = imports(why) && !ref_is(repo, BRANCH, &tip);
	return refused;
}

#define ENTRY(mode, name)  \
	mode " " name "\0" \
	     "01234567890123456789"

static void bad_trees(void)
{
	fresh();
	CHECK("a tree that contains .git is refused",
	      tree_is_refused(ENTRY("40000", ".git"), sizeof ENTRY("40000", ".git") - 1, ".git"));
	CHECK("a tree with an invalid mode is refused",
	      tree_is_refused(ENTRY("100777", "x"), sizeof ENTRY("100777", "x") - 1,
			      "invalid mode"));
	CHECK("a truncated tree is refused", tree_is_refused("100644 x\0ab", 11, "truncated"));
	CHECK("a tree with a missing object is refused",
	      tree_is_refused(ENTRY("100644", "x"), sizeof ENTRY("100644", "x") - 1, "is missing"));
}

static void deep_trees(void)
{
	git_treebuilder *builder = NULL;
	git_oid tree, tip;

	fresh();
	git_treebuilder_new(&builder, private_repo, NULL);
	git_treebuilder_write(&tree, builder);
	git_treebuilder_free(builder);
	for (int i = 0; i < 300; i++) {
		git_treebuilder_new(&builder, private_repo, NULL);
		git_treebuilder_insert(NULL, builder, "d", &tree, GIT_FILEMODE_TREE);
		git_treebuilder_write(&tree, builder);
		git_treebuilder_free(builder);
	}
	tip = add_commit(private_repo, NULL, NULL, &tree);
	set_head(&tip);
	CHECK("a tree that is too deep is refused", imports("levels of folders"));
}

static void special_files(void)
{
	git_oid tip;

	fresh();
	tip = agent_commits(NULL, &base, ".gitmodules", "[submodule \"x\"]\n\turl = -x\n");
	set_head(&tip);
	CHECK("a .gitmodules with an option as its URL is refused", imports("refused\": [\""));
	tip = agent_commits(NULL, &base, ".gitmodules",
			    "[submodule \"x\"]\n\tpath = x\n\turl = https://example.org/x\n");
	set_head(&tip);
	CHECK("a valid .gitmodules is imported", imports("\"refs\": 1"));
	make_users();
	put("repo/.gitmodules", "[submodule \"x\"]\n\turl = -x\n");
	base = commit_all(repo);
	opens("private");
	open_private();
	tip = agent_commits(NULL, &base, "new", "x\n");
	set_head(&tip);
	CHECK("an odd one of the user's own is accepted", imports("\"refs\": 1"));
}

static void refs_in_the_way(void)
{
	git_oid tip, mine;
	char hex[GIT_OID_HEXSZ + 1];
	AUTO_FREE char *packed = NULL;

	fresh();
	tip = agent_commits(NULL, &base, "x", "x\n");
	set_head(&tip);
	imports("\"refs\": 1");
	mine = commit_file(repo, BRANCH, &tip, "mine", GIT_FILEMODE_BLOB, "by the user\n");
	tip = agent_commits(NULL, &tip, "y", "y\n");
	set_head(&tip);
	CHECK("a branch that the user moved is left alone, and the commits are beside it",
	      imports("was not updated") && ref_is(repo, BRANCH, &mine) &&
		      ref_is(repo, "refs/ringfence/loop/HEAD", &tip));
	fresh();
	tip = agent_commits(NULL, &base, "x", "x\n");
	set_head(&tip);
	set_ref(repo, "refs/heads/ringfence", &base);
	CHECK("a branch called ringfence is the user's",
	      imports("was not updated") && ref_is(repo, "refs/heads/ringfence", &base));
	fresh();
	tip = agent_commits(NULL, &base, "x", "x\n");
	set_head(&tip);
	git_oid_tostr(hex, sizeof hex, &tip);
	packed = mem_format("%s refs/heads/good\n%s refs/heads/-bad\n%s refs/heads/a..b\n"
			    "%s refs/heads/GOOD\nnonsense\n%s refs/notes/x\n",
			    hex, hex, hex, hex, hex);
	put("loop/git/packed-refs", packed);
	CHECK("invalid and clashing names are not imported",
	      imports("were not imported") &&
		      !is_there("repo/.git/refs/ringfence/loop/heads/-bad"));
}

static void broken_directories(void)
{
	git_oid tip;
	struct object_source source;
	struct error err;
	AUTO_FD git = -1;

	fresh();
	tip = agent_commits(NULL, &base, "x", "x\n");
	set_head(&tip);
	put("loop/git-own/base", "");
	CHECK("without a base every branch is new, and nothing breaks", imports("\"refs\": 2"));
	fresh();
	unlink(at("loop/git-own/base"));
	CHECK("a directory without its initial refs is an error", imports("read the initial refs"));
	fresh();
	put("loop/git/HEAD", "nonsense\n");
	CHECK("an invalid HEAD imports nothing", imports("{") && !is_there("repo/.git/" BRANCH));
	fresh();
	{
		AUTO_FD loop = open(at("loop"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		dirwalk_remove(loop, "git", NULL);
	}
	CHECK("a directory that the agent removed is an error", imports("open '"));
	make_folder("loop/empty");
	git = open(at("loop/empty"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK("a directory without objects imports nothing",
	      object_source_open(git, 1 << 20, &source, &err) == 0 && source.empty &&
		      !object_source_has(&source, base.id));
	object_source_close(&source);
	fresh();
	{
		AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		dirwalk_remove(top, "repo", NULL);
	}
	make_folder("repo");
	CHECK("a missing repository is an error", imports("has changed"));
}

static void cut_import(void)
{
	imports("{");
}

static void killed_imports(void)
{
	bool whole = true;
	int point = 1;

	for (; point < 200; point++) {
		git_oid tip;

		fresh();
		tip = agent_commits(NULL, &base, "x", "x\n");
		agent_commits("refs/heads/topic", &tip, "y", "y\n");
		set_head(&tip);
		if (!cut_off(point, cut_import))
			break;
		whole = whole && imports("{") && ref_is(repo, BRANCH, &tip) &&
			!is_there("repo/.git/refs/heads/ringfence/loop.lock") &&
			!is_there("loop/git-own/pending");
	}
	CHECK("an import has fault points", point > 3 && point < 200);
	CHECK("the next import completes it", whole);
}

static void vets(void)
{
	struct vet vet = { 0 };
	struct error err;
	git_oid tree, bad, missing = { { 9 } };

	make_users();
	git_repository_odb(&vet.objects, repo);
	libgit_tree(repo, &base, &tree, &err);
	bad = commit_file(repo, NULL, &base, ".gitmodules", GIT_FILEMODE_BLOB,
			  "[submodule \"x\"]\n\turl = -x\n");
	libgit_tree(repo, &bad, &bad, &err);
	CHECK("an ordinary tree is accepted", vet_tree(&vet, &tree, &err) == 0);
	CHECK("a tree with an unsafe file is refused", vet_tree(&vet, &bad, &err) < 0);
	vet_release(&vet);
	vet_accept(&vet, &bad);
	CHECK("unless it is the user's own", vet_tree(&vet, &bad, &err) == 0);
	CHECK("a missing tree is refused", vet_tree(&vet, &missing, &err) < 0);
	CHECK("its depth is accepted", vet_depth(&vet, &base, &err) == 0);
	vet_release(&vet);
	git_odb_free(vet.objects);
}

int main(void)
{
	unit_begin();
	directories();
	repositories_that_cannot_be();
	linked_work_trees();
	lenders();
	good_commits();
	tags();
	bad_trees();
	deep_trees();
	special_files();
	refs_in_the_way();
	broken_directories();
	killed_imports();
	vets();
	git_repository_free(private_repo);
	git_repository_free(repo);
	return unit_end();
}
