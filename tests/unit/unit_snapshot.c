/*
 * The parts of checkpoints that need no files: names, manifests, ignore rules, hashes, comparing
 * trees.
 */
#include "unit.h"

#include "snapshot/look/ignore_rules.h"
#include "snapshot/object/index_read.h"
#include "snapshot/snapshot.h"
#include "snapshot/store/manifest.h"
#include "snapshot/store/sha1.h"
#include "snapshot/store/stored_name.h"
#include "snapshot/undo/restore_plan.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool stored_as(const char *name, bool chunked, const char *stored)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1024);
	const char *back;
	bool pieces;

	stored_name_store(&out, name, chunked);
	back = stored_name_read(buffer_text(&out), &pieces);
	return strcmp(buffer_text(&out), stored) == 0 && back && strcmp(back, name) == 0 &&
	       pieces == chunked;
}

static void names(void)
{
	bool pieces;

	CHECK("a name is stored unchanged",
	      stored_as("main.c", false, "main.c") && stored_as(".gitignore", false, ".gitignore"));
	CHECK("no tree holds .git under any alias",
	      stored_as(".git", false, "ringfence%.git") &&
		      stored_as(".GIT", false, "ringfence%.GIT") &&
		      stored_as("git~1", false, "ringfence%git~1") &&
		      stored_as(".git . .", false, "ringfence%.git . .") &&
		      stored_as(".git:x", false, "ringfence%.git:x") &&
		      stored_as(".g\xe2\x80\x8cit", false, "ringfence%.g\xe2\x80\x8cit"));
	CHECK("a name that looks like a stored name gets a prefix",
	      stored_as("ringfence%x", false, "ringfence%ringfence%x") &&
		      stored_as("ringfence", false, "ringfence%ringfence"));
	CHECK("a chunked file is marked", stored_as("big", true, "ringfence#big"));
	CHECK("impossible names are refused", !stored_name_read(".git", &pieces) &&
						      !stored_name_read("ringfence%..", &pieces) &&
						      !stored_name_read("ringfence%", &pieces) &&
						      !stored_name_read("..", &pieces) &&
						      !stored_name_read("ringfence%a/b", &pieces) &&
						      !stored_name_read("ringfence-x", &pieces));
}

static void sums(void)
{
	static const unsigned char wanted[] = { 0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81,
						0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50,
						0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d };
	static const unsigned char million[] = { 0x34, 0xaa, 0x97, 0x3c, 0xd4, 0xc4, 0xda,
						 0xa4, 0xf6, 0x1e, 0xeb, 0x2b, 0xdb, 0xad,
						 0x27, 0x31, 0x65, 0x34, 0x01, 0x6f };
	unsigned char sum[SHA1_SIZE];
	struct sha1 sha1;

	sha1_init(&sha1);
	sha1_add(&sha1, "abc", 3);
	sha1_end(&sha1, sum);
	CHECK("the hash of abc matches the standard", memcmp(sum, wanted, SHA1_SIZE) == 0);
	sha1_init(&sha1);
	for (int i = 0; i < 1000000 / 8; i++)
		sha1_add(&sha1, "aaaaaaaa", 8);
	sha1_end(&sha1, sum);
	CHECK("so does the hash of a million letters", memcmp(sum, million, SHA1_SIZE) == 0);
}

static struct node *add(struct node *folder, const char *name, enum node_kind kind, mode_t mode)
{
	struct node *node = node_insert(folder, name);

	node->kind = kind;
	node->mode = mode;
	memcpy(node->id, name, strlen(name));
	return node;
}

/* a, d/, d/b, run: a and d/b are hard links to one file. */
static void make_tree(struct node *root, mode_t mode)
{
	*root = (struct node){ .kind = NODE_FOLDER, .mode = 0750 };
	add(root, "run", NODE_FILE, 0755);
	add(root, "d", NODE_FOLDER, 0755);
	add(root, "a", NODE_FILE, mode)->links = 2;
	add(node_find(root, "d"), "b", NODE_FILE, mode)->links = 2;
	node_group(root);
}

static int find_folder(void *context, const char *path, struct node **ret_folder, struct error *err)
{
	struct node *node = node_at(context, path);

	(void)err;
	*ret_folder = node && node->kind == NODE_FOLDER ? node : NULL;
	return 0;
}

static int read_manifest(const char *bytes, size_t size, struct node *root, struct error *err)
{
	return manifest_read(bytes, size, root, find_folder, root, err);
}

static bool refuses(const char *bytes, size_t size)
{
	struct error err;
	struct node root;
	bool refused;

	make_tree(&root, 0644);
	refused = read_manifest(bytes, size, &root, &err) < 0;
	node_release(&root);
	return refused;
}

static void manifest_heads(void)
{
	static const char old[] = "ringfence 1\0modes 600 700 750";
	static const char newer[] = "ringfence 3\0modes 600 700 750";
	struct manifest_head head = { 0 };
	struct error err;
	struct node root;

	CHECK("an older manifest can be read",
	      manifest_read_head(old, sizeof old, &head, &err) == 0 && head.version == 1 &&
		      head.size == sizeof old);
	make_tree(&root, 0644);
	manifest_set_modes(&head, &root);
	CHECK("its usual modes are those of entries",
	      node_find(&root, "a")->mode == 0600 && node_find(&root, "run")->mode == 0700 &&
		      node_find(&root, "d")->mode == 0750);
	node_release(&root);
	CHECK("a newer one, one without modes, and nothing are refused",
	      manifest_read_head(newer, sizeof newer, &head, &err) < 0 &&
		      manifest_read_head(old, 12, &head, &err) < 0 &&
		      manifest_read_head(old, 0, &head, &err) < 0);
}

/* dist/, dist/build/, src/, src/build, src/target */
static void manifest_generated(void)
{
	static const char text[] = "ringfence 2\0modes 644 755 755\0g dist\0g src/build\0"
				   "s a socket: src/target";
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	struct node root = { .name = "build", .kind = NODE_FOLDER, .mode = 0755 };

	add(&root, "dist", NODE_FOLDER, 0755);
	add(node_find(&root, "dist"), "build", NODE_FOLDER, 0755);
	add(&root, "src", NODE_FOLDER, 0755);
	add(node_find(&root, "src"), "build", NODE_LINK, 0777);
	add(node_find(&root, "src"), "target", NODE_SKIPPED, 0)->why = NODE_WHY_SOCKET;
	manifest_write(&root, NULL, &out);
	CHECK("a manifest names generated entries that are in no other one, and are saved",
	      out.used == sizeof text && memcmp(out.data, text, sizeof text) == 0);
	node_release(&root);
}

static void manifests(void)
{
	static const char no_file[] = "ringfence 1\0modes 644 755 755\0m 600 none";
	static const char no_folder[] = "ringfence 2\0modes 644 755 755\0g none";
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer again = BUFFER_INIT(4096);
	struct node full, bare;
	struct error err;

	make_tree(&full, 0600);
	add(&full, "pipe", NODE_FIFO, 0622);
	add(&full, "sock", NODE_SKIPPED, 0)->why = NODE_WHY_SOCKET;
	manifest_write(&full, &(struct manifest_head){ .usual = { 0644, 0755, 0755 } }, &text);
	make_tree(&bare, 0644);
	CHECK("a manifest completes a git tree",
	      read_manifest(text.data, text.used, &bare, &err) == 0 && bare.mode == 0750 &&
		      node_find(&bare, "a")->mode == 0600 &&
		      node_at(&bare, "d/b")->group == node_find(&bare, "a")->group &&
		      node_find(&bare, "pipe")->mode == 0622 &&
		      strcmp(node_why_text(node_find(&bare, "sock")->why), "a socket") == 0);
	manifest_write(&bare, &(struct manifest_head){ .usual = { 0644, 0755, 0755 } }, &again);
	CHECK("writing it again gives the same bytes",
	      text.used == again.used && memcmp(text.data, again.data, text.used) == 0);
	again.used = 0;
	manifest_write(&full, NULL, &again);
	CHECK("otherwise the usual modes are the most common ones",
	      strcmp(again.data + strlen(again.data) + 1, "modes 600 755 755") == 0);
	CHECK("a truncated manifest is refused", refuses(text.data, text.used - 3));
	CHECK("a manifest that names a missing file is refused",
	      refuses(no_file, sizeof no_file) && refuses(no_folder, sizeof no_folder));
	node_release(&full);
	node_release(&bare);
}

static void ignore_rules(void)
{
	static const char upper[] = "*.o\n/top\nbuild/\r\n#no\n\nlogs\n";
	struct ignore_rules *rules = ignore_rules_new();
	struct ignore_rules *read = NULL;
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(4096);
	struct error err;

	ignore_rules_add(rules, "", upper, sizeof upper - 1);
	ignore_rules_add(rules, "src", "!keep.o\n/only\n", 14);
	ignore_rules_track(rules, "build/tracked");
	ignore_rules_track(rules, "build-2/x");
	ignore_rules_ready(rules);
	CHECK("names are ignored at any depth",
	      ignore_rules_match(rules, "a.o", false) &&
		      ignore_rules_match(rules, "x/y/a.o", false));
	CHECK("a file in a deeper folder takes precedence",
	      !ignore_rules_match(rules, "src/keep.o", false) &&
		      ignore_rules_match(rules, "keep.o", false));
	CHECK("a slash anchors a pattern", ignore_rules_match(rules, "top", false) &&
						   !ignore_rules_match(rules, "x/top", false) &&
						   ignore_rules_match(rules, "src/only", false) &&
						   !ignore_rules_match(rules, "only", false));
	CHECK("a trailing slash matches folders only",
	      ignore_rules_match(rules, "build", true) &&
		      !ignore_rules_match(rules, "build", false));
	CHECK("tracked files and their parent folders are known",
	      ignore_rules_tracked(rules, "build") &&
		      ignore_rules_tracked(rules, "build/tracked") &&
		      !ignore_rules_tracked(rules, "build/other") &&
		      !ignore_rules_tracked(rules, "buil"));
	CHECK("a scan omits what an ignored folder holds, except what is tracked",
	      ignore_rules_omit(rules, "x/logs/deep/a", false) &&
		      ignore_rules_omit(rules, "build/other", false) &&
		      ignore_rules_omit(rules, "a.o", false) &&
		      !ignore_rules_omit(rules, "build", true) &&
		      !ignore_rules_omit(rules, "build/tracked", false) &&
		      !ignore_rules_omit(rules, "src/keep.o", false));
	ignore_rules_keep(rules, "build/tracked");
	ignore_rules_settle(rules);
	ignore_rules_write(rules, &bytes);
	CHECK("rules are stored and read back",
	      ignore_rules_read(bytes.data, bytes.used, &read, &err) == 0 &&
		      ignore_rules_match(read, "a.o", false) &&
		      ignore_rules_tracked(read, "build") &&
		      !ignore_rules_tracked(read, "build-2"));
	ignore_rules_free(read);
	CHECK("truncated rules are refused",
	      ignore_rules_read(bytes.data, bytes.used - 1, &read, &err) < 0);
	ignore_rules_free(rules);
}

static void comparing(void)
{
	struct list kept = { 0 };
	struct node one, other;
	struct error err;
	AUTO_FREE char *where = NULL;

	make_tree(&one, 0644);
	make_tree(&other, 0644);
	CHECK("equal trees do not differ", !restore_plan_difference(&one, &other, &kept));
	node_at(&other, "d/b")->mode = 0600;
	where = restore_plan_difference(&one, &other, &kept);
	CHECK("a mode is a difference", where && strcmp(where, "d/b") == 0);
	node_at(&other, "d/b")->mode = 0644;
	node_at(&other, "d/b")->group = node_find(&other, "a")->group = 0;
	free(where);
	where = restore_plan_difference(&one, &other, &kept);
	CHECK("so is a copy instead of a hard link", where && strcmp(where, "a") == 0);
	CHECK("a part of one tree is grafted onto another",
	      restore_plan_graft(&one, &other, "d/b", &err) == 0 &&
		      node_find(&one, "a")->group == 0);
	CHECK("a missing path cannot be grafted",
	      restore_plan_graft(&one, &other, "d/c", &err) < 0);
	node_release(&one);
	node_release(&other);
}

static enum index_read_result read_sample(const char *name, struct buffer *bytes,
					  struct index_read *ret_index)
{
	AUTO_FREE char *path = mem_format(CORPUS "/fuzz_index_read/%s", name);

	bytes->used = 0;
	if (fd_read_path(path, bytes) < 0)
		return INDEX_READ_DAMAGED;
	return index_read_parse(buffer_text(bytes), bytes->used, ret_index);
}

static bool reads(const char *name, enum index_read_result wanted)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 20);
	struct index_read index;
	enum index_read_result result = read_sample(name, &bytes, &index);

	index_read_release(&index);
	return bytes.used && result == wanted;
}

static void indexes(void)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 20);
	struct index_read index;

	CHECK("an index has paths, modes and the tree of its commit",
	      read_sample("usual", &bytes, &index) == INDEX_READ_WHOLE && index.count == 2 &&
		      strcmp(index.items[0].path, "a") == 0 &&
		      strcmp(index.items[1].path, "s/b") == 0 && index.items[1].mode == 0100644 &&
		      index.items[0].stage == 0 && index.tree);
	index_read_release(&index);
	CHECK("with longer flags it is the same",
	      read_sample("extended", &bytes, &index) == INDEX_READ_WHOLE && index.count == 2 &&
		      strcmp(index.items[1].path, "s/b") == 0);
	index_read_release(&index);
	CHECK("after git add there is no tree",
	      read_sample("staged", &bytes, &index) == INDEX_READ_WHOLE && index.count == 3 &&
		      !index.tree);
	index_read_release(&index);
	CHECK("other forms are told from damage",
	      reads("four", INDEX_READ_OTHER) && reads("split", INDEX_READ_OTHER) &&
		      reads("cut", INDEX_READ_DAMAGED) &&
		      index_read_parse("garbage", 7, &index) == INDEX_READ_DAMAGED);
}

static int answer[2];
static int told;

/* Ends the task. */
static void tell(const char *what)
{
	told += strcmp(what, SNAPSHOT_SAVING) == 0;
	fd_close(&answer[1]);
}

static void waiting(void)
{
	struct snapshot_job job = SNAPSHOT_JOB_INIT;

	CHECK("a pipe", pipe2(answer, O_CLOEXEC) == 0);
	job.answer = answer[0];
	snapshot_await(&job, tell, SNAPSHOT_SAVING);
	CHECK("somebody who waits for a long task is told what it does", told == 1);
	snapshot_await(&job, NULL, SNAPSHOT_SAVING);
	snapshot_await(&job, tell, SNAPSHOT_SAVING);
	CHECK("and nothing is told of a task that has ended", told == 1);
	fd_close(&answer[0]);
}

int main(void)
{
	names();
	sums();
	manifests();
	manifest_heads();
	manifest_generated();
	ignore_rules();
	comparing();
	indexes();
	waiting();
	return unit_failures > 0;
}
