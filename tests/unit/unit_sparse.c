/* Drafts of which only changed folders are read, against the same with all folders read: random
 * projects, random changes, and entries of every kind. */
#include "unit_repository.h"

#include "snapshot/checkpoint.h"
#include "snapshot/generated.h"
#include "snapshot/look/tally.h"
#include "snapshot/look/tree_layer.h"
#include "snapshot/look/tree_totals.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/pinned.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum { ROUNDS = 48 / UNIT_SLOWER };

static struct checkpoint_repo repo;
static struct error err;
static unsigned int seed;
static bool usual; /* nothing that is made now needs a record in a manifest */

static unsigned int random_below(unsigned int end)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % end;
}

/* ---- random trees ---- */

static const char *const names[] = { "a",         "b",           "c",
				     "d",         "e",           "build",
				     "d",         "dist",        "node_modules",
				     "test_a.py", "conftest.py", "x.sh" };

static mode_t random_mode(bool folder)
{
	static const mode_t unusual[] = { 0600, 0640, 0755, 0700, 04755 };
	mode_t mode = usual || random_below(8) ? 0644 : unusual[random_below(5)];

	return folder ? mode | 0700 | (mode & 0044) >> 2 : mode;
}

static bool mark_opaque(const char *path)
{
	return lsetxattr(path, "user.overlay.opaque", "y", 1, 0) == 0;
}

static void fill_random(const char *path, bool layer, int depth, char *linked, size_t size);

static void make_folder_random(const char *path, bool layer, int depth, char *linked, size_t size)
{
	mkdir(path, 0755);
	if (layer && random_below(5) == 0 && !mark_opaque(path))
		abort();
	fill_random(path, layer, depth + 1, linked, size);
	chmod(path, random_mode(true));
}

static void make_file_random(const char *path, char *linked, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file)
		abort();
	for (unsigned int i = random_below(6); i; i--)
		fprintf(file, "%u\n", random_below(3));
	fclose(file);
	chmod(path, random_mode(false));
	if (random_below(4) == 0)
		snprintf(linked, size, "%s", path);
}

/* Makes an entry of a random kind. `linked`: a file that gets more names. */
static void make_random(const char *path, bool layer, int depth, char *linked, size_t size)
{
	unsigned int kind = random_below(usual ? 11 : 20);

	if (depth < 4 && kind < 9)
		make_folder_random(path, layer, depth, linked, size);
	else if (layer && kind < 11)
		mknod(path, S_IFCHR, makedev(0, 0));
	else if (kind == 11)
		mkfifo(path, 0622);
	else if (kind == 12)
		mknod(path, S_IFSOCK | 0644, 0);
	else if (kind == 13 && symlink("a/b", path) < 0)
		abort();
	else if (kind == 14 && *linked && link(linked, path) == 0)
		return;
	else if (kind != 13)
		make_file_random(path, linked, size);
}

static void fill_random(const char *path, bool layer, int depth, char *linked, size_t size)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		AUTO_FREE char *inner = mem_format("%s/%s", path, names[i]);
		struct stat status;

		if (usual && generated_is(names[i]))
			continue;
		if (random_below(layer ? 4 : 3) == 0 && lstat(inner, &status) < 0)
			make_random(inner, layer, depth, linked, size);
	}
}

/* Makes a folder with random entries, in place of the last one. */
static void make_tree(const char *name, bool layer)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *path = mem_dup(at(name));
	char linked[4096] = "";

	dirwalk_remove(top, name, NULL);
	make_folder(name);
	fill_random(path, layer, 0, linked, sizeof linked);
}

/* ---- comparing ---- */

static bool same_node(const struct node *a, const struct node *b)
{
	return a->kind == b->kind && a->mode == b->mode && a->chunked == b->chunked &&
	       a->group == b->group && a->why == b->why && memcmp(a->id, b->id, NODE_ID) == 0 &&
	       a->count == b->count;
}

static bool same_tree(struct node *a, struct node *b)
{
	struct node_pair pair = { 0 };
	bool same = same_node(a, b);

	while (same && node_next_pair(a, b, &pair))
		same = pair.a && pair.b && same_tree(pair.a, pair.b);
	return same;
}

static bool same_totals(const struct look *a, const struct look *b)
{
	return a->walk.files == b->walk.files && a->walk.bytes == b->walk.bytes &&
	       a->walk.odd == b->walk.odd;
}

/* The totals of a look are those that are counted. */
static bool right_totals(struct look *look)
{
	struct tree_totals totals = tree_totals_count(&look->walk.root);

	return look->walk.files == totals.files && look->walk.bytes == totals.bytes &&
	       look->walk.odd == totals.odd;
}

static bool same_hash(const struct look *a, const struct look *b)
{
	char one[SHA256_HEX], other[SHA256_HEX];

	tally_hash(&a->walk.root, one);
	tally_hash(&b->walk.root, other);
	return strcmp(one, other) == 0;
}

static uint64_t count_changed(struct look *look, int since)
{
	struct checkpoint_repo_item item;
	uint64_t changed;

	if (checkpoint_repo_read(&repo, "loop", since, &item, &err) < 0 ||
	    tally_changed(&look->reader, &item, &look->walk.root, &changed, &err) < 0)
		abort();
	return changed;
}

/* ---- drafts ---- */

static void open_store(void)
{
	if (checkpoint_repo_open(&repo, at("store"), at("project"), NULL, &err) < 0 ||
	    checkpoint_repo_git(&repo, &err) < 0 || checkpoint_repo_lock(&repo, &err) < 0)
		abort();
}

static struct look_options options_of(bool draft, bool sparse)
{
	return (struct look_options){ .project = at("project"),
				      .loop = "loop",
				      .draft = draft ? at("draft") : NULL,
				      .sparse = sparse };
}

static void scan(const struct look_options *options, struct look *look)
{
	if (look_scan(&repo, options, look, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
}

/* Saves the next checkpoint, of the project or of the draft. */
static void save(bool draft)
{
	struct save_options save = { .kind = "after" };
	struct look_options options = options_of(draft, draft);
	struct checkpoint_repo_item item;
	struct look look;
	bool same;

	scan(&options, &look);
	save.next = checkpoint_repo_last(&repo, "loop") + 1;
	if (save_checkpoint(&repo, &options, &look, &save, &item, &same, &err) < 0)
		abort();
	look_release(&look);
}

struct verdict {
	bool tree, totals, counted, hash, changed, opened, closed;
};

static int find_closed(void *context, struct node *node, const char *path)
{
	(void)path;
	*(bool *)context |= node->closed;
	return 0;
}

/* Compares the two ways to look at a draft. */
static void compare_looks(struct verdict *all)
{
	struct look_options options = options_of(true, true);
	int64_t last = checkpoint_repo_last(&repo, "loop");
	struct look sparse, whole;

	scan(&options, &sparse);
	options.sparse = false;
	scan(&options, &whole);
	all->tree &= git_oid_equal(&sparse.tree, &whole.tree);
	all->totals &= same_totals(&sparse, &whole);
	all->counted &= right_totals(&whole);
	all->hash &= same_hash(&sparse, &whole);
	node_each(&sparse.walk.root, find_closed, &all->closed);
	for (int i = 0; i <= last; i++)
		all->changed &= count_changed(&sparse, i) == count_changed(&whole, i);
	all->opened &= look_finish(&repo, &whole, &err) == 0 &&
		       tree_reader_open_all(&sparse.reader, &sparse.walk.root, &err) == 0 &&
		       same_tree(&sparse.walk.root, &whole.walk.root);
	look_release(&sparse);
	look_release(&whole);
}

/* ---- differences between checkpoints ---- */

static void read_checkpoint(int64_t number, bool whole, struct tree_reader *reader,
			    struct node *ret_root)
{
	struct checkpoint_repo_item item;

	if (checkpoint_repo_read(&repo, "loop", number, &item, &err) < 0 ||
	    tree_reader_start(reader, &repo, &item.tree, ret_root, &err) < 0 ||
	    (whole && tree_reader_open_all(reader, ret_root, &err) < 0))
		abort();
}

static bool pinned_found;

static bool same_changes(const struct changes *a, const struct changes *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; i < a->count && same; i++)
		same = strcmp(a->items[i].path, b->items[i].path) == 0 &&
		       !a->items[i].old == !b->items[i].old &&
		       !a->items[i].new ==
			       !b->items[i].new &&strcmp(a->items[i].from ? a->items[i].from : "",
							 b->items[i].from ? b->items[i].from
									  : "") == 0;
	return same;
}

static void list_pinned(struct tree_reader *reader, struct node *base, struct node *now,
			struct buffer *out)
{
	struct pins pins = { 0 };
	struct json json = JSON_INIT(out);
	struct list paths = { 0 };

	json_open(&json, NULL, '{');
	const struct pinned_request request = {
		.reader = reader, .base = base, .now = now, .pins = &pins, .project = at("project")
	};

	if (pinned_write(&request, NULL, &json, &paths, &err) < 0)
		abort();
	json_close(&json);
	list_release(&paths);
}

static bool compare_pinned(struct tree_reader readers[4], struct node roots[4])
{
	AUTO_BUFFER struct buffer whole = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer sparse = BUFFER_INIT(1 << 20);

	list_pinned(&readers[0], &roots[0], &roots[1], &whole);
	list_pinned(&readers[2], &roots[2], &roots[3], &sparse);
	pinned_found |= strstr(buffer_text(&whole), "hidden") != NULL;
	return strcmp(buffer_text(&whole), buffer_text(&sparse)) == 0;
}

/* Two whole trees, and the same two, of which only folders that differ are read. */
static bool compare_changes(int64_t from, int64_t to)
{
	const struct list everything = { 0 };
	struct tree_reader readers[4];
	struct changes found[2];
	struct node roots[4];
	bool same;

	for (int i = 0; i < 4; i++)
		read_checkpoint(i % 2 ? to : from, i < 2, &readers[i], &roots[i]);
	if (tree_reader_open_differing(&readers[2], &roots[2], &readers[3], &roots[3], &err) < 0)
		abort();
	for (int i = 0; i < 2; i++)
		changes_find(&roots[2 * i], &roots[2 * i + 1], &everything, &found[i]);
	same = same_changes(&found[0], &found[1]) && compare_pinned(readers, roots);
	for (int i = 0; i < 4; i++)
		node_release(&roots[i]);
	for (int i = 0; i < 2; i++)
		changes_release(&found[i]);
	return same;
}

/* ---- pinned files that a check changed ---- */

/* Lists everything below a folder. */
static void list_files(const char *name, struct buffer *ret_list)
{
	AUTO_FREE char *command = mem_format("cd %s && find . -printf '%%p %%y %%m\\n' | sort >%s",
					     at(name), at("printed"));

	if (system(command) != 0 || fd_read_path(at("printed"), ret_list) < 0)
		abort();
}

/* Makes a view in which a check changed files, takes back what it must, and lists the rest. */
static void settle(bool whole, struct buffer *ret_list)
{
	struct tree_reader readers[2];
	struct node trees[2];
	struct pins pins = { 0 };
	AUTO_FREE char *project = mem_dup(at("project"));
	const struct pinned_request request = { .reader = &readers[0],
						.base = &trees[0],
						.now = &trees[1],
						.pins = &pins,
						.project = project };

	make_tree("views/pinned/upper", true);
	make_folder("views/pins");
	for (int i = 0; i < 2; i++)
		read_checkpoint(i ? checkpoint_repo_last(&repo, "loop") : 0, whole, &readers[i],
				&trees[i]);
	if (tree_reader_open_differing(&readers[0], &trees[0], &readers[1], &trees[1], &err) < 0 ||
	    pinned_settle(&request, at("views"), &err) < 0)
		abort();
	list_files("views", ret_list);
	for (int i = 0; i < 2; i++)
		node_release(&trees[i]);
}

static bool compare_settled(void)
{
	AUTO_BUFFER struct buffer whole = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer sparse = BUFFER_INIT(1 << 20);
	unsigned int same_seed = seed;

	settle(true, &whole);
	seed = same_seed;
	settle(false, &sparse);
	return strcmp(buffer_text(&whole), buffer_text(&sparse)) == 0;
}

static void random_drafts(void)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct verdict all = { true, true, true, true, true, true, false };
	bool changes = true, settled = true;

	for (seed = 1; seed <= ROUNDS; seed++) {
		unsigned int round = seed;

		dirwalk_remove(top, "store", NULL);
		usual = round % 4 != 0;
		make_tree("project", false);
		open_store();
		save(false);
		for (int i = 0; i < 2; i++) {
			usual = round % 2 != 0;
			make_tree("draft/upper", true);
			compare_looks(&all);
			save(true);
			changes &= compare_changes(0, checkpoint_repo_last(&repo, "loop")) &&
				   compare_changes(checkpoint_repo_last(&repo, "loop"), 0);
		}
		settled &= compare_settled();
		checkpoint_repo_close(&repo);
		seed = round;
		if (!(all.tree && all.totals && all.counted && all.hash && all.changed &&
		      all.opened && changes && settled)) {
			printf("# seed %u\n", seed);
			break;
		}
	}
	CHECK("some folders stay closed", all.closed);
	CHECK("a draft has the same tree and manifest", all.tree);
	CHECK("the same totals", all.totals);
	CHECK("which are those that are counted", all.counted);
	CHECK("the same hash", all.hash);
	CHECK("the same number of changes since each checkpoint", all.changed);
	CHECK("and all of its folders can be opened", all.opened);
	CHECK("the changes between checkpoints and to pinned files are the same", changes);
	CHECK("some of these are hidden", pinned_found);
	CHECK("the same changes of a check to pinned files are taken back", settled);
}

/* ---- contents that were left out of a draft ---- */

static void left_out(void)
{
	char path[] = "dist/inner";
	struct copied_emptied emptied = { .inode = 7, .path = path };
	struct draft_layer_root layers = { .copied = { .emptied = &emptied, .emptied_count = 1 } };
	struct draft_layer draft = { .folder = -1, .root = &layers };
	struct node layer = { .name = "", .kind = NODE_FOLDER, .mode = 0755 };
	struct node base, result, *moved;
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct tree_reader reader;

	dirwalk_remove(top, "store", NULL);
	dirwalk_remove(top, "project", NULL);
	put("project/dist/inner/build/file", "1");
	open_store();
	save(false);
	read_checkpoint(0, false, &reader, &base);
	*node_insert(&layer, "moved") =
		(struct node){ .name = "moved", .kind = NODE_FOLDER, .mode = 0700, .inode = 7 };
	CHECK("a layer with an empty folder whose content was left out can be put over its base",
	      tree_layer(&reader, &base, &layer, &draft, &result, &err) == 0);
	moved = node_at(&result, "moved/build/file");
	CHECK("the folder has its content where it was moved to, and its own mode",
	      moved && moved->kind == NODE_FILE && node_at(&result, "moved")->mode == 0700);
	CHECK("and what counts as generated there is known",
	      node_at(&result, "dist")->closed && !node_at(&result, "moved")->closed);
	node_release(&result);
	node_release(&layer);
	node_release(&base);
	checkpoint_repo_close(&repo);
}

int main(void)
{
	unit_begin();
	random_drafts();
	left_out();
	return unit_end();
}
