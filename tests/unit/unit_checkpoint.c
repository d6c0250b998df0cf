/* Checkpoints: their repository, scans of a project, differences, and rollbacks. */
#include "unit_repository.h"

#include "snapshot/base/gituser.h"
#include "snapshot/base/note.h"
#include "snapshot/checkpoint.h"
#include "snapshot/store/pack.h"
#include "snapshot/undo/hunks.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/tree_choice.h"

#include <sys/socket.h>
#include <sys/un.h>

static const struct ask {
	const char *loop, *from, *to, *path, *style, *drop, *only;
	bool ignored, live, color, terminal;
	uint64_t most_bytes;
} plain;

typedef int work_fn(struct snapshot_request *request, struct error *err);

/* Runs one task as main.c does, with the repository open. */
static void run(work_fn *work, const struct ask *ask, struct answer *answer)
{
	struct snapshot_request request = { .from = ask->from,
					    .to = ask->to,
					    .path = ask->path,
					    .style = ask->style,
					    .save.kind = "after",
					    .look = { .project = at("project"),
						      .loop = ask->loop ? ask->loop : "loop",
						      .ignored = ask->ignored,
						      .live = ask->live },
					    .differ = { .color = ask->color,
							.terminal = ask->terminal },
					    .prune.most_bytes = ask->most_bytes };

	answer_begin(answer);
	request.json = answer->json;
	if (ask->drop)
		list_add(&request.prune.loops, ask->drop);
	if (ask->only)
		list_add(&request.differ.paths, ask->only);
	answer->result = checkpoint_repo_open(&request.repo, at("store"), request.look.project,
					      NULL, &answer->err);
	if (answer->result == 0)
		answer->result = work(&request, &answer->err);
	checkpoint_repo_close(&request.repo);
	list_release(&request.prune.loops);
	list_release(&request.differ.paths);
}

static bool run_says(work_fn *work, const struct ask *ask, const char *words)
{
	struct answer answer;
	bool held;

	run(work, ask, &answer);
	if (answer.result < 0)
		printf("# %s\n", answer.err.text);
	held = says(&answer, words);
	answer_end(&answer);
	return held;
}

static bool run_fails(work_fn *work, const struct ask *ask, const char *words)
{
	struct answer answer;
	bool held;

	run(work, ask, &answer);
	held = fails(&answer, words);
	answer_end(&answer);
	return held;
}

static bool run_prints(work_fn *work, const struct ask *ask, const char *words)
{
	int before = capture_begin();
	struct answer answer;

	run(work, ask, &answer);
	capture_end(before);
	answer_end(&answer);
	return answer.result == 0 && printed(words);
}

static void fresh(void)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirwalk_remove(top, "project", NULL);
	dirwalk_remove(top, "store", NULL);
	make_folder("project");
}

/* ---- the repository ---- */

static struct checkpoint_repo repo;
static struct error err;

static void open_store(void)
{
	if (checkpoint_repo_open(&repo, at("store"), NULL, NULL, &err) < 0 ||
	    checkpoint_repo_git(&repo, &err) < 0 || checkpoint_repo_lock(&repo, &err) < 0)
		abort();
}

static int count_packs(void)
{
	AUTO_FREE char *command = mem_format("ls %s | wc -l >%s", at("store/objects/pack"),
					     at("printed"));
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

	if (system(command) != 0 || fd_read_path(at("printed"), &text) < 0)
		return -1;
	return atoi(buffer_text(&text));
}

static bool can_read(const unsigned char *id, const char *text)
{
	git_odb_object *object = NULL;
	git_oid oid;
	bool same;

	memcpy(oid.id, id, sizeof oid.id);
	git_odb_refresh(repo.odb);
	if (git_odb_read(&object, repo.odb, &oid) < 0)
		return false;
	same = git_odb_object_size(object) == strlen(text) &&
	       memcmp(git_odb_object_data(object), text, strlen(text)) == 0;
	git_odb_object_free(object);
	return same;
}

static void packs(void)
{
	unsigned char id[NODE_ID], other[NODE_ID];
	struct pack *pack;

	fresh();
	open_store();
	pack = pack_new(&repo, false, NULL);
	CHECK("a pack without an object leaves no file",
	      pack_seal(pack, &err) == 0 && !*pack_name(pack) && pack_finish(pack, &err) == 0 &&
		      count_packs() == 0);
	pack_free(pack);
	pack = pack_new(&repo, false, NULL);
	CHECK("the same bytes are written once",
	      pack_add(pack, GIT_OBJECT_BLOB, "one", 3, id, &err) == 0 &&
		      pack_add(pack, GIT_OBJECT_BLOB, "one", 3, other, &err) == 0 &&
		      pack_count(pack) == 1 && memcmp(id, other, NODE_ID) == 0);
	CHECK("a pack knows its objects", pack_has(pack, id) && pack_bytes(pack) > 0);
	CHECK("a finished pack can be read", pack_finish(pack, &err) == 0 && can_read(id, "one") &&
						     count_packs() == 2 &&
						     pack_total(repo.path) > 0);
	pack_free(pack);
	pack = pack_new(&repo, false, NULL);
	CHECK("an object in the repository is not written again",
	      pack_add(pack, GIT_OBJECT_BLOB, "one", 3, id, &err) == 0 && pack_count(pack) == 0);
	pack_free(pack);
	pack = pack_new(&repo, true, NULL);
	CHECK("unless the pack must be complete",
	      pack_add(pack, GIT_OBJECT_BLOB, "one", 3, id, &err) == 0 &&
		      pack_add(pack, GIT_OBJECT_BLOB, "two", 3, other, &err) == 0 &&
		      pack_count(pack) == 2 && pack_finish(pack, &err) == 0);
	pack_replace(pack);
	CHECK("a complete pack replaces all others",
	      count_packs() == 2 && can_read(id, "one") && can_read(other, "two"));
	pack_free(pack);
	pack = pack_new(&repo, false, NULL);
	pack_add(pack, GIT_OBJECT_BLOB, "three", 5, id, &err);
	pack_free(pack);
	CHECK("an unfinished pack leaves nothing", count_packs() == 2);
	pack = pack_new(&repo, false, "draft-of-mine");
	pack_add(pack, GIT_OBJECT_BLOB, "four", 4, id, &err);
	CHECK("a temporary file has the requested prefix",
	      is_there("store/objects/pack/draft-of-mine-pack"));
	pack_free(pack);
	checkpoint_repo_close(&repo);
}

/* Writes a pack of its own for each of these objects. */
static bool write_packs(int first, int last, unsigned char ids[][NODE_ID])
{
	bool all = true;

	for (int i = first; i < last; i++) {
		struct pack *pack = pack_new(&repo, false, NULL);
		char text[32];

		snprintf(text, sizeof text, "pack %d", i);
		all = all &&
		      pack_add(pack, GIT_OBJECT_BLOB, text, strlen(text), ids[i], &err) == 0 &&
		      pack_finish(pack, &err) == 0;
		pack_free(pack);
	}
	return all;
}

static void merges(void)
{
	enum { MANY = 33, MORE = 70 };
	static unsigned char ids[MORE][NODE_ID];
	AUTO_FREE char *large = mem_zero(5 << 20);
	unsigned char other[NODE_ID];
	struct pack *pack;
	bool all = true;

	fresh();
	open_store();
	pack = pack_new(&repo, false, NULL);
	srand(1);
	for (size_t i = 0; i < 5 << 20; i++)
		large[i] = (char)rand();
	CHECK("a large pack", pack_add(pack, GIT_OBJECT_BLOB, large, 5 << 20, other, &err) == 0 &&
				      pack_finish(pack, &err) == 0);
	pack_free(pack);
	CHECK("few small packs are left alone", write_packs(0, MANY - 1, ids) &&
							pack_merge(&repo, &err) == 0 &&
							count_packs() == 2 * MANY);
	CHECK("many are merged into one, beside the large one",
	      write_packs(MANY - 1, MANY, ids) && pack_merge(&repo, &err) == 0 &&
		      count_packs() == 4);
	CHECK("and again",
	      write_packs(MANY, MORE, ids) && pack_merge(&repo, &err) == 0 && count_packs() == 4);
	for (int i = 0; i < MORE; i++) {
		char text[32];

		snprintf(text, sizeof text, "pack %d", i);
		all = all && can_read(ids[i], text);
	}
	CHECK("no object is lost", all);
	checkpoint_repo_close(&repo);
}

static void numbers(void)
{
	git_oid commit = { { 1 } };

	fresh();
	open_store();
	CHECK("the first checkpoint has the number that was asked for",
	      checkpoint_repo_next(&repo, "loop", 0) == 0 &&
		      checkpoint_repo_next(&repo, "loop", 7) == 7);
	for (int64_t i = 0; i < 3; i++)
		checkpoint_repo_number(&repo, "loop", i, &commit, &err);
	CHECK("the next one follows the latest", checkpoint_repo_next(&repo, "loop", 3) == 3);
	CHECK("even if the caller knows of fewer",
	      checkpoint_repo_next(&repo, "loop", 1) == 3 &&
		      checkpoint_repo_next(&repo, "loop", 0) == 3);
	CHECK("or of more", checkpoint_repo_next(&repo, "loop", 9) == 9);
	checkpoint_repo_close(&repo);
}

static void many_objects(void)
{
	unsigned char id[NODE_ID];
	char text[32];
	struct pack *pack;
	bool all = true;

	fresh();
	open_store();
	pack = pack_new(&repo, false, NULL);
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof text, "object %d", i);
		all = all && pack_add(pack, GIT_OBJECT_BLOB, text, strlen(text), id, &err) == 0;
	}
	CHECK("thousands of objects fit into one pack", all && pack_count(pack) == 3000 &&
								pack_finish(pack, &err) == 0 &&
								can_read(id, "object 2999"));
	pack_free(pack);
	checkpoint_repo_close(&repo);
}

static void caches(void)
{
	static const char rules[SHA256_HEX] = "abc";
	struct node root = { .kind = NODE_FOLDER, .mode = 0755 };
	struct cache cache;
	struct node *file;

	fresh();
	open_store();
	file = node_insert(&root, "file");
	*file = (struct node){ .name = "file", .kind = NODE_FILE, .mode = 0644, .size = 7 };
	node_insert(&root, "empty")->kind = NODE_FOLDER;
	CHECK("a missing cache is not an error", !cache_read(repo.folder, &cache));
	CHECK("a cache is read back as it was written",
	      cache_write(repo.folder, rules, &root, &err) == 0 &&
		      cache_read(repo.folder, &cache) && strcmp(cache.rules, "abc") == 0 &&
		      cache.root.count == 2 && node_find(&cache.root, "file")->size == 7 &&
		      node_find(&cache.root, "empty")->kind == NODE_FOLDER);
	cache_release(&cache);
	if (truncate(at("store/cache"), 100) < 0)
		abort();
	CHECK("a truncated cache is ignored", !cache_read(repo.folder, &cache));
	cache_write(repo.folder, rules, &root, &err);
	{
		AUTO_FD fd = open(at("store/cache"), O_RDWR | O_CLOEXEC);
		struct stat status;

		if (fstat(fd, &status) < 0 || pwrite(fd, "\xff", 1, status.st_size / 2) != 1)
			abort();
	}
	CHECK("a cache with a changed byte is ignored", !cache_read(repo.folder, &cache));
	cache_write(repo.folder, rules, &root, &err);
	{
		AUTO_FD fd = open(at("store/cache"), O_RDWR | O_CLOEXEC);

		if (pwrite(fd, "x", 1, 8) != 1) /* the first byte of the boot's id */
			abort();
	}
	CHECK("a cache of another boot is ignored", !cache_read(repo.folder, &cache));
	put("store/cache", "");
	CHECK("an empty cache is ignored", !cache_read(repo.folder, &cache));
	cache_write(repo.folder, rules, &root, &err);
	cache_remove(repo.folder);
	CHECK("a cache can be removed", !cache_read(repo.folder, &cache));
	node_release(&root);
	checkpoint_repo_close(&repo);
}

static void notes(void)
{
	AUTO_FD folder = -1;

	fresh();
	folder = open(at("project"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK("a note replaces an existing one",
	      note_write(folder, "draft", folder, "note", "old", 3) == 0 &&
		      note_write(folder, "draft", folder, "note", "new!", 4) == 0 &&
		      holds("project/note", "new!") && !is_there("project/draft"));
	CHECK("a note that cannot be written is a failure",
	      note_write(folder, "no/draft", folder, "note", "x", 1) < 0 &&
		      holds("project/note", "new!"));
	make_folder("project/a/b/c");
	put("project/a/b/file", "x");
	if (symlink("/etc", at("project/a/link")) < 0)
		abort();
	dirwalk_remove(folder, "a", NULL);
	dirwalk_remove(folder, "missing", NULL);
	CHECK("a folder is removed with its contents", !is_there("project/a"));
}

static void settings(void)
{
	AUTO_FREE char *home = gituser_home();
	AUTO_FREE char *file = gituser_file(home, "git/ignore");
	AUTO_FREE char *inside = gituser_path("~/x", "/base");
	AUTO_FREE char *relative = gituser_path("y", "/base");
	AUTO_FREE char *none = NULL;
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *elsewhere = NULL;

	CHECK("the user's home is found", strcmp(home, unit_top) == 0);
	CHECK("the user's git files are in it", strcmp(file, at(".config/git/ignore")) == 0);
	CHECK("a path is relative to the home or to a folder",
	      strcmp(inside, at("x")) == 0 && strcmp(relative, "/base/y") == 0);
	none = gituser_setting(NULL, "user.unheard");
	put(".gitconfig", "[user]\n\tname = Somebody\n");
	name = gituser_setting(NULL, "user.name");
	CHECK("a setting is read from the user's file",
	      !none && name && strcmp(name, "Somebody") == 0);
	put(".gitconfig", "[user\n");
	env_set("XDG_CONFIG_HOME", at("xdg"));
	elsewhere = gituser_file(home, "git/ignore");
	CHECK("XDG_CONFIG_HOME moves the other files",
	      strcmp(elsewhere, at("xdg/git/ignore")) == 0);
	env_set("XDG_CONFIG_HOME", NULL);
	unlink(at(".gitconfig"));
}

/* ---- scans ---- */

static void make_socket(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", at(name));
	if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
		abort();
}

static void make_project(void)
{
	fresh();
	put("project/a.txt", "one\ntwo\nthree\n");
	put("project/d/run", "#!/bin/sh\n");
	chmod(at("project/d/run"), 0755);
	put("project/d/secret", "x\n");
	chmod(at("project/d/secret"), 0600);
	put_bytes("project/binary", "a\0b\xff", 4);
	if (symlink("a.txt", at("project/link")) < 0 || mkfifo(at("project/pipe"), 0640) < 0 ||
	    link(at("project/a.txt"), at("project/d/twin")) < 0)
		abort();
	make_socket("project/socket");
	make_folder("project/empty");
	put("project/.gitignore", "build/\n*.log\n");
	put("project/build/out", "made\n");
	put("project/x.log", "noise\n");
	put("project/.git/config", "[core]\n");
	make_folder("project/.git/objects");
}

static void saves(void)
{
	make_project();
	CHECK("the first checkpoint has number 0 and lists skipped files",
	      run_says(checkpoint_save, &plain, "\"number\": 0") &&
		      run_says(checkpoint_list, &plain, "\"kind\": \"after\""));
	CHECK("an unchanged project gives the same checkpoint",
	      run_says(checkpoint_save, &plain, "\"same\": true"));
	put("project/new", "n\n");
	CHECK("a changed project gives the next checkpoint",
	      run_says(checkpoint_save, &plain, "\"number\": 1"));
	CHECK("a socket is listed as skipped",
	      (put("project/new", "m\n"),
	       run_says(checkpoint_save, &plain, "\"path\": \"socket\"")));
	CHECK("ignored files are not in it",
	      run_fails(checkpoint_contains, &(struct ask){ .from = "0", .path = "build/out" },
			"does not contain 'build/out'"));
	CHECK("another loop begins with 0 and saves ignored files if asked",
	      run_says(checkpoint_save, &(struct ask){ .loop = "other", .ignored = true },
		       "\"number\": 0") &&
		      run_says(checkpoint_contains,
			       &(struct ask){ .loop = "other", .from = "0", .path = "build/out" },
			       "{"));
	CHECK("a scan while an agent is working finds the same project",
	      run_says(checkpoint_save, &(struct ask){ .live = true }, "\"number\": 2"));
	CHECK("a missing checkpoint is an error",
	      run_fails(checkpoint_contains, &(struct ask){ .from = "99", .path = "a.txt" }, "99"));
	CHECK("a socket is not in the checkpoint, and the reason is given",
	      run_fails(checkpoint_contains, &(struct ask){ .from = "0", .path = "socket" },
			"socket"));
	CHECK("a missing project is an error",
	      rename(at("project"), at("gone")) == 0 &&
		      run_fails(checkpoint_save, &plain, "project") &&
		      rename(at("gone"), at("project")) == 0);
	put("store/rules/loop", "nonsense");
	CHECK("unreadable rules are an error", run_fails(checkpoint_save, &plain, "rule"));
}

static void shows(void)
{
	make_project();
	run_says(checkpoint_save, &plain, "0");
	CHECK("a file is shown as it was",
	      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "a.txt" },
			 "one\ntwo\nthree\n"));
	CHECK("a folder is shown as its entries",
	      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "" }, "d/\n") &&
		      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "d" },
				 "run\nsecret\ntwin\n"));
	CHECK("a symlink is shown as its target",
	      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "link" }, "a.txt"));
	CHECK("a pipe is shown as nothing",
	      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "pipe" }, "") &&
		      printed_nothing());
	CHECK("control characters are escaped for a terminal",
	      run_prints(checkpoint_show,
			 &(struct ask){ .from = "0", .path = "binary", .terminal = true }, "\\x"));
}

static void large_files(void)
{
	AUTO_FD fd = -1;
	struct stat status;

	fresh();
	put("project/large", "begin");
	fd = open(at("project/large"), O_RDWR | O_CLOEXEC);
	if (pwrite(fd, "middle", 6, 9 << 20) != 6 || ftruncate(fd, 21 << 20) < 0)
		abort();
	CHECK("a large file is stored in chunks",
	      run_says(checkpoint_save, &plain, "\"number\": 0"));
	CHECK("its zeros are not stored, and are printed again",
	      run_prints(checkpoint_show, &(struct ask){ .from = "0", .path = "large" }, "begin") &&
		      stat(at("printed"), &status) == 0 && status.st_size == 21 << 20);
	if (pwrite(fd, "MIDDLE", 6, 9 << 20) != 6)
		abort();
	CHECK("a change in it costs one chunk", run_says(checkpoint_save, &plain, "\"number\": 1"));
	CHECK("it differs as a binary file",
	      run_prints(checkpoint_diff, &(struct ask){ .from = "0" }, "large"));
	unlink(at("project/large"));
	CHECK("it is restored with all bytes",
	      run_says(checkpoint_undo, &(struct ask){ .from = "0" }, "\"written\": 1") &&
		      stat(at("project/large"), &status) == 0 && status.st_size == 21 << 20);
}

static void many_files(void)
{
	char name[64];

	fresh();
	for (int i = 0; i < 2100; i++) {
		snprintf(name, sizeof name, "project/d%d/f%d", i / 100, i);
		put(name, name);
	}
	CHECK("a project of thousands of files is saved",
	      run_says(checkpoint_save, &plain, "\"files\": 2100"));
	put("project/d20/f2099", "changed\n");
	CHECK("one change among them is found",
	      run_says(checkpoint_save, &plain, "\"number\": 1") &&
		      run_prints(checkpoint_diff,
				 &(struct ask){ .from = "0", .to = "1", .style = "names" },
				 "d20/f2099"));
}

/* ---- differences ---- */

static void change_project(void)
{
	put("project/d/secret", "y\n"); /* keeps its mode */
	chmod(at("project/d/run"), 0644);
	put_bytes("project/binary", "a\0c", 3);
	unlink(at("project/link"));
	if (symlink("d/run", at("project/link")) < 0 ||
	    rename(at("project/d/twin"), at("project/moved")) < 0)
		abort();
	put("project/a.txt", "one\nTWO\nthree\nfour");
	put("project/esc\x1b", "x\x1b[0m\n");
	rmdir(at("project/empty"));
}

static void differs(void)
{
	make_project();
	run_says(checkpoint_save, &plain, "0");
	CHECK("without a change nothing is printed",
	      run_prints(checkpoint_diff, &(struct ask){ .from = "0" }, "") && printed_nothing());
	change_project();
	CHECK("a patch has lines and modes",
	      run_prints(checkpoint_diff, &plain, "-two\n+TWO\n") && printed("old mode 100755") &&
		      printed("\\ No newline at end of file") && printed("new file mode"));
	CHECK("a binary file is reported as binary", printed("binary"));
	CHECK("a patch can have colours",
	      run_prints(checkpoint_diff, &(struct ask){ .color = true }, "\x1b["));
	CHECK("the stat counts lines",
	      run_prints(checkpoint_diff, &(struct ask){ .style = "stat" }, "a.txt") &&
		      run_prints(checkpoint_diff, &(struct ask){ .style = "stat", .color = true },
				 "+"));
	CHECK("changed names are listed",
	      run_prints(checkpoint_diff, &(struct ask){ .style = "names" }, "a.txt"));
	CHECK("the JSON has each path with its status",
	      run_prints(checkpoint_diff, &(struct ask){ .style = "json" },
			 "\"path\": \"a.txt\", \"status\": \"modified\""));
	CHECK("a name is safe for a terminal",
	      run_prints(checkpoint_diff, &(struct ask){ .terminal = true }, "\\x1b"));
	CHECK("a diff can be restricted to one path",
	      run_prints(checkpoint_diff, &(struct ask){ .style = "names", .only = "binary" },
			 "binary"));
	run_says(checkpoint_save, &plain, "1");
	CHECK("two checkpoints can be compared, in both directions",
	      run_prints(checkpoint_diff, &(struct ask){ .from = "0", .to = "1" }, "+TWO") &&
		      run_prints(checkpoint_diff, &(struct ask){ .from = "1", .to = "0" }, "-TWO"));
	CHECK("a missing checkpoint cannot be compared",
	      run_fails(checkpoint_diff, &(struct ask){ .from = "7" }, "7"));
}

/* ---- rollbacks ---- */

static bool is_as_before(void)
{
	struct stat a, twin, status;

	return holds("project/a.txt", "one\ntwo\nthree\n") && holds("project/d/secret", "x\n") &&
	       !is_there("project/moved") && is_there("project/empty") &&
	       !is_there("project/esc\x1b") && stat(at("project/a.txt"), &a) == 0 &&
	       stat(at("project/d/twin"), &twin) == 0 && a.st_ino == twin.st_ino &&
	       stat(at("project/d/run"), &status) == 0 && (status.st_mode & 07777) == 0755 &&
	       lstat(at("project/pipe"), &status) == 0 && S_ISFIFO(status.st_mode) &&
	       !is_there("project/" LOOK_WALK_STAGE);
}

static void undoes(void)
{
	make_project();
	run_says(checkpoint_save, &plain, "0");
	change_project();
	unlink(at("project/pipe"));
	CHECK("a rollback reports what it did",
	      run_says(checkpoint_undo, &(struct ask){ .from = "0" }, "\"saved\": 1"));
	CHECK("files, modes, links, pipes and folders are restored", is_as_before());
	CHECK("ignored files and .git are left alone",
	      holds("project/build/out", "made\n") && holds("project/.git/config", "[core]\n"));
	CHECK("the state before the rollback can be restored",
	      run_says(checkpoint_undo, &(struct ask){ .from = "1" }, "\"number\": 1") &&
		      holds("project/a.txt", "one\nTWO\nthree\nfour"));
	CHECK("one path is restored alone",
	      run_says(checkpoint_undo, &(struct ask){ .from = "0", .path = "d/secret" },
		       "\"written\": 1") &&
		      holds("project/d/secret", "x\n") && is_there("project/moved"));
	CHECK("a path that is not in the checkpoint is an error",
	      run_fails(checkpoint_undo, &(struct ask){ .from = "0", .path = "a.txt/below" },
			"the checkpoint does not contain it"));
	unlink(at("project/a.txt"));
	put("project/a.txt/inside", "a folder now\n");
	put("project/d2/ignored.log", "noise\n");
	CHECK("a file replaces a folder, and a folder with ignored files is kept",
	      run_says(checkpoint_undo, &(struct ask){ .from = "0" }, "\"kept\": [") &&
		      is_as_before() && is_there("project/d2/ignored.log"));
	CHECK("a missing checkpoint cannot be restored",
	      run_fails(checkpoint_undo, &(struct ask){ .from = "55" }, "55"));
}

static void cut_undo(void)
{
	struct answer answer;

	run(checkpoint_undo, &(struct ask){ .from = "0" }, &answer);
}

static void recovers(void)
{
	bool whole = true;
	int point = 1;

	for (; point < 200; point++) {
		make_project();
		run_says(checkpoint_save, &plain, "0");
		change_project();
		if (!cut_off(point, cut_undo))
			break;
		if (!run_says(checkpoint_save, &plain, "{"))
			whole = false;
		if (!is_as_before() && !holds("project/a.txt", "one\nTWO\nthree\nfour"))
			whole = false;
		if (is_there("project/" LOOK_WALK_STAGE) || is_there("store/" RESTORE_NOTE))
			whole = false;
	}
	CHECK("a rollback has fault points", point > 5 && point < 200);
	CHECK("the next task completes it, or it has not begun", whole);
	fresh();
	run_says(checkpoint_save, &plain, "0");
	put("store/" RESTORE_NOTE, "nonsense");
	CHECK("a damaged record is refused",
	      run_says(checkpoint_list, &plain, "\"pending\": true") &&
		      run_fails(checkpoint_undo, &(struct ask){ .from = "0" }, "is damaged"));
}

/* ---- pruning ---- */

static void prunes(void)
{
	static char block[300000];
	unsigned int seed = 1;

	fresh();
	for (int i = 0; i < 8; i++) {
		for (size_t k = 0; k < sizeof block; k++)
			block[k] = (char)((seed = seed * 1103515245 + 12345) >> 16);
		put_bytes("project/noise", block, sizeof block);
		run_says(checkpoint_save, &(struct ask){ .loop = i == 7 ? "other" : "loop" },
			 "number");
	}
	CHECK("nothing is removed below the limit",
	      run_says(checkpoint_prune, &plain, "\"removed\": 0"));
	CHECK("above the limit, checkpoints between the first and the last are removed",
	      run_says(checkpoint_prune, &(struct ask){ .most_bytes = 1000000 }, "\"removed\":") &&
		      run_says(checkpoint_list, &plain, "\"number\": 0") &&
		      run_says(checkpoint_list, &plain, "\"number\": 6"));
	CHECK("removed checkpoints cannot be read",
	      run_fails(checkpoint_contains, &(struct ask){ .from = "1", .path = "noise" }, "1"));
	CHECK("kept checkpoints can be restored",
	      run_says(checkpoint_undo, &(struct ask){ .from = "0" }, "\"number\": 0"));
	CHECK("a loop is removed with all its checkpoints",
	      run_says(checkpoint_prune, &(struct ask){ .drop = "other" }, "\"removed\": 1") &&
		      run_says(checkpoint_list, &(struct ask){ .loop = "other" },
			       "\"checkpoints\": []"));
	CHECK("an unknown loop is not an error",
	      run_says(checkpoint_prune, &(struct ask){ .drop = "nobody" }, "\"removed\": 0"));
	CHECK("a save prunes automatically",
	      (put("project/small", "s"),
	       run_says(checkpoint_save, &(struct ask){ .most_bytes = 1000 }, "\"number\"")));
}

static void broken_stores(void)
{
	struct checkpoint_repo_item item;
	struct node root = { 0 };
	git_oid nothing = { { 1 } };

	fresh();
	put("project/a", "x");
	run_says(checkpoint_save, &plain, "0");
	open_store();
	CHECK("a missing tree cannot be loaded",
	      tree_reader_load(&repo, &nothing, &root, &err) < 0);
	CHECK("a missing commit cannot be read",
	      checkpoint_repo_read_commit(&repo, &nothing, &item, &err) < 0);
	CHECK("the last number is found, and is -1 for an unknown loop",
	      checkpoint_repo_last(&repo, "loop") == 0 &&
		      checkpoint_repo_last(&repo, "nobody") == -1);
	checkpoint_repo_close(&repo);
	put("store/refs/ringfence/loop/0", "no id\n");
	CHECK("an invalid ref is an error",
	      run_fails(checkpoint_diff, &(struct ask){ .from = "0" }, "there is no checkpoint 0"));
	fresh();
	put("store", "a file");
	CHECK("a store that is a file is an error", run_fails(checkpoint_save, &plain, "store"));
}

static void requests(void)
{
	struct snapshot_request request = { 0 };

	CHECK("an argument is parsed by its key",
	      snapshot_request_parse(&request, "store=/x", &err) == 0 &&
		      snapshot_request_parse(&request, "ignored=1", &err) == 0 &&
		      snapshot_request_parse(&request, "iteration=7", &err) == 0 &&
		      snapshot_request_parse(&request, "drop=a", &err) == 0 &&
		      strcmp(request.store, "/x") == 0 && request.look.ignored &&
		      request.save.iteration == 7 && request.prune.loops.count == 1);
	CHECK("given arguments are known, others are not",
	      snapshot_request_has(&request, "store") && !snapshot_request_has(&request, "folder"));
	CHECK("an unknown key and a word without a key are errors",
	      snapshot_request_parse(&request, "what=x", &err) < 0 &&
		      snapshot_request_parse(&request, "store", &err) < 0);
	list_release(&request.prune.loops);
}

/* ---- parts of changes ---- */

/* Picks, and compares the result. */
static bool picks(const char *old, const char *new, const char *choice, const char *wanted)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	const struct hunks_side sides[] = { { old, strlen(old) }, { new, strlen(new) } };

	if (hunks_pick(&sides[0], &sides[1], choice, &out, &err) < 0)
		return !wanted && err.status == ERROR_INVALID;
	return wanted && strcmp(buffer_text(&out), wanted) == 0;
}

/* Makes a text of a few short lines, or changes one. */
static void random_text(unsigned int *seed, struct buffer *out, const char *like)
{
	for (int i = 0; i < 30; i++) {
		int kind = rand_r(seed) % 8;

		if (like && kind > 1)
			buffer_printf(out, "%d\n", i % 3);
		else if (!like || kind == 1)
			buffer_printf(out, "%d\n", like ? 9 : i % 3);
	}
	if (rand_r(seed) % 3 == 0)
		buffer_add_text(out, "end");
}

/* Takes none and all of the runs between two random texts. */
static bool picks_at_random(unsigned int seed)
{
	AUTO_BUFFER struct buffer old = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer new = BUFFER_INIT(1 << 16);
	char none[64] = "", all[64] = "";
	size_t runs = 0;

	random_text(&seed, &old, NULL);
	random_text(&seed, &new, buffer_text(&old));
	while (!picks(buffer_text(&old), buffer_text(&new), none, buffer_text(&old))) {
		if (++runs == sizeof none)
			return false;
		none[runs - 1] = '0';
		all[runs - 1] = '1';
	}
	return picks(buffer_text(&old), buffer_text(&new), all, buffer_text(&new));
}

static void hunks(void)
{
	static const char old[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
	static const char new[] = "one\n2\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12\nend";
	unsigned int seed = 1;

	CHECK("nothing is taken", picks(old, new, "000", old));
	CHECK("everything is taken", picks(old, new, "111", new));
	CHECK("one run of a hunk is taken",
	      picks(old, new, "010", "1\n2\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"));
	CHECK("a run at the end, without a line end, is taken",
	      picks(old, new, "001", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nend"));
	CHECK("a file can become empty, and be filled",
	      picks("a\n", "", "1", "") && picks("", "a", "1", "a") && picks("", "a", "0", ""));
	CHECK("a choice of another length is refused",
	      picks(old, new, "00", NULL) && picks(old, new, "0000", NULL) &&
		      picks(old, new, "", NULL) && picks(old, new, "0x0", NULL));
	while (seed < 500 && picks_at_random(seed))
		seed++;
	if (seed < 500)
		printf("# seed %u\n", seed);
	CHECK("random texts: none of the runs is the old text, all of them are the new one",
	      seed == 500);
}

/* Describes a tree: "a d(b c)". */
static void describe(const struct node *folder, struct buffer *out)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct node *node = &folder->inner[i];

		buffer_printf(out, "%s%s", i ? " " : "", node->name);
		if (node->kind == NODE_FILE) {
			buffer_printf(out, "%d", node->id[0]);
			continue;
		}
		buffer_add_text(out, "(");
		describe(node, out);
		buffer_add_text(out, ")");
	}
}

/* Builds a tree of such a description, with names of one letter. Returns the rest. */
static const char *build(const char *text, struct node *folder)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	while (*text && *text != ')') {
		struct node *node = node_add(folder);

		*node = (struct node){ .name = names[*text - 'a'], .kind = NODE_FILE };
		if (text[1] == '(') {
			node->kind = NODE_FOLDER;
			text = build(text + 2, node) + 1;
		} else {
			node->id[0] = (unsigned char)(text[1] - '0');
			text += 2;
		}
		text += *text == ' ';
	}
	return text;
}

/* Leaves one or two paths out. */
static bool chooses(const char *old, const char *new, const char *one, const char *other,
		    const char *wanted)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 12);
	struct node trees[3] = { { .kind = NODE_FOLDER }, { .kind = NODE_FOLDER } };
	struct list left = { 0 };
	bool same;

	build(old, &trees[0]);
	build(new, &trees[1]);
	list_add(&left, one);
	list_add(&left, other ? other : one);
	tree_choice(&trees[0], &trees[1], &left, &trees[2]);
	describe(&trees[2], &text);
	same = strcmp(buffer_text(&text), wanted) == 0;
	if (!same)
		printf("# %s\n", buffer_text(&text));
	for (size_t i = 0; i < 3; i++)
		node_release(&trees[i]);
	list_release(&left);
	return same;
}

static void choices(void)
{
	CHECK("a changed file that is left out stays, and the rest changes",
	      chooses("a1 b1", "a2 b2", "a", NULL, "a1 b2"));
	CHECK("an added file that is left out is not added",
	      chooses("a1", "a2 b2", "b", NULL, "a2"));
	CHECK("a deleted file that is left out stays", chooses("a1 b1", "b2", "a", NULL, "a1 b2"));
	CHECK("a new folder is not made for files that are left out",
	      chooses("a1", "a1 d(b1 c(b1))", "d/b", "d/c/b", "a1"));
	CHECK("a new folder is made for the others",
	      chooses("a1", "a1 d(b1 c1)", "d/b", NULL, "a1 d(c1)"));
	CHECK("a new empty folder can be left out, and taken",
	      chooses("", "c() d()", "c", NULL, "d()"));
	CHECK("a deleted folder stays for a file that is left out",
	      chooses("d(b1 c1)", "", "d/b", NULL, "d(b1)"));
	CHECK("a file does not replace a folder in which something stays",
	      chooses("d(b1 c1)", "d2", "d/b", NULL, "d(b1)"));
	CHECK("a file replaces a folder otherwise", chooses("d(b1 c1)", "d2", "x", NULL, "d2"));
	CHECK("a folder does not replace a file for what is left out",
	      chooses("d1", "d(b1)", "d/b", NULL, "d1"));
}

int main(void)
{
	unit_begin();
	hunks();
	choices();
	packs();
	merges();
	numbers();
	many_objects();
	caches();
	notes();
	settings();
	saves();
	shows();
	large_files();
	many_files();
	differs();
	undoes();
	recovers();
	prunes();
	broken_stores();
	requests();
	return unit_end();
}
