/* Trees of checkpoints that are read folder by folder. */
#include "unit_repository.h"

#include "snapshot/checkpoint.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/changes.h"

static struct checkpoint_repo repo;
static struct error err;

/* Saves a checkpoint of the project. Returns its number, or -1. */
static int save(void)
{
	struct snapshot_request request = { .save = { .kind = "after" },
					    .look = { .project = at("project"), .loop = "loop" } };
	struct answer answer;
	int64_t number = -1;

	answer_begin(&answer);
	request.json = answer.json;
	if (checkpoint_repo_open(&request.repo, at("store"), request.look.project, NULL, &err) ==
		    0 &&
	    checkpoint_save(&request, &err) == 0)
		number = checkpoint_repo_last(&request.repo, "loop");
	checkpoint_repo_close(&request.repo);
	answer_end(&answer);
	return (int)number;
}

static void fresh(void)
{
	AUTO_FD top = open(unit_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirwalk_remove(top, "project", NULL);
	dirwalk_remove(top, "store", NULL);
	make_folder("project");
}

static void open_store(void)
{
	if (checkpoint_repo_open(&repo, at("store"), NULL, NULL, &err) < 0 ||
	    checkpoint_repo_git(&repo, &err) < 0)
		abort();
}

/* Begins to read checkpoint `number`. */
static void start(int number, struct tree_reader *reader, struct node *ret_root)
{
	struct checkpoint_repo_item item;

	if (checkpoint_repo_read(&repo, "loop", number, &item, &err) < 0 ||
	    tree_reader_start(reader, &repo, &item.tree, ret_root, &err) < 0)
		abort();
}

static bool is_closed(struct node *root, const char *path)
{
	struct node *node = node_at(root, path);

	return node && node->closed && node->count == 0;
}

static void opens(void)
{
	struct tree_reader reader;
	struct node root, *node;

	fresh();
	put("project/a/b/c/one", "1");
	put("project/d/e/two", "2");
	CHECK("a checkpoint", save() == 0);
	open_store();
	start(0, &reader, &root);
	CHECK("only the first folder is read",
	      reader.trees == 1 && is_closed(&root, "a") && is_closed(&root, "d"));
	CHECK("a path is found, and the folders above it are read",
	      tree_reader_at(&reader, &root, "a/b/c", &node, &err) == 0 && node &&
		      node->kind == NODE_FOLDER && node->closed && node->mode == 0755 &&
		      reader.trees == 3 && is_closed(&root, "d"));
	CHECK("a path that does not exist is not found",
	      tree_reader_at(&reader, &root, "a/x/c", &node, &err) == 0 && !node &&
		      tree_reader_at(&reader, &root, "a/b/c/one/x", &node, &err) == 0 && !node);
	CHECK("a folder is read once", tree_reader_open_all(&reader, &root, &err) == 0 &&
					       reader.trees == 6 && node_at(&root, "a/b/c/one") &&
					       node_at(&root, "d/e/two")->mode == 0644);
	node_release(&root);
	checkpoint_repo_close(&repo);
}

static void opens_recorded(void)
{
	struct tree_reader reader;
	struct node root;

	fresh();
	put("project/a/plain", "1");
	put("project/mode/in/secret", "1");
	put("project/links/in/one", "2");
	put("project/pipes/in/file", "3");
	put("project/made/in/build/x/y", "4");
	chmod(at("project/mode/in/secret"), 0600);
	make_folder("project/elsewhere");
	CHECK("a project with unusual entries",
	      link(at("project/links/in/one"), at("project/elsewhere/two")) == 0 &&
		      mkfifo(at("project/pipes/in/pipe"), 0644) == 0 && save() == 0);
	open_store();
	start(0, &reader, &root);
	CHECK("folders above an entry with a record are read",
	      node_at(&root, "mode/in/secret")->mode == 0600 &&
		      node_at(&root, "links/in/one")->group == 1 &&
		      node_at(&root, "elsewhere/two")->group == 1 &&
		      node_at(&root, "pipes/in/pipe")->kind == NODE_FIFO);
	CHECK("those above a generated folder are, but it is not",
	      is_closed(&root, "made/in/build"));
	CHECK("others are not", is_closed(&root, "a"));
	node_release(&root);
	checkpoint_repo_close(&repo);
}

static void opens_differing(void)
{
	const struct list everything = { 0 };
	struct tree_reader readers[2];
	struct node roots[2];
	struct changes changes;

	fresh();
	put("project/same/in/file", "1");
	put("project/other/in/file", "1");
	put("project/other/same/file", "1");
	put("project/gone/in/file", "2");
	save();
	put("project/other/in/file", "3");
	put("project/came/in/file", "4");
	rename(at("project/gone"), at("away"));
	CHECK("two checkpoints", save() == 1);
	open_store();
	start(0, &readers[0], &roots[0]);
	start(1, &readers[1], &roots[1]);
	CHECK("the folders that differ can be read",
	      tree_reader_open_differing(&readers[0], &roots[0], &readers[1], &roots[1], &err) ==
		      0);
	CHECK("equal folders stay closed",
	      is_closed(&roots[0], "same") && is_closed(&roots[1], "same") &&
		      is_closed(&roots[0], "other/same") && is_closed(&roots[1], "other/same"));
	changes_find(&roots[0], &roots[1], &everything, &changes);
	CHECK("all differences are found",
	      changes.count == 3 && strcmp(changes.items[0].path, "came/in/file") == 0 &&
		      strcmp(changes.items[1].path, "gone/in/file") == 0 &&
		      strcmp(changes.items[2].path, "other/in/file") == 0);
	changes_release(&changes);
	node_release(&roots[0]);
	node_release(&roots[1]);
	checkpoint_repo_close(&repo);
}

/* The same ids, but other usual modes. */
static void opens_with_other_modes(void)
{
	static const char *const names[] = { "project/a/one", "project/b/two" };
	const struct list everything = { 0 };
	struct tree_reader readers[2];
	struct node roots[2];
	struct changes changes;

	fresh();
	for (int i = 0; i < 2; i++)
		put(names[i], "1");
	save();
	for (int i = 0; i < 2; i++)
		chmod(at(names[i]), 0640);
	CHECK("a checkpoint with other modes", save() == 1);
	open_store();
	start(0, &readers[0], &roots[0]);
	start(1, &readers[1], &roots[1]);
	tree_reader_open_differing(&readers[0], &roots[0], &readers[1], &roots[1], &err);
	changes_find(&roots[0], &roots[1], &everything, &changes);
	CHECK("modes that all files have changed to are differences", changes.count == 2);
	changes_release(&changes);
	node_release(&roots[0]);
	node_release(&roots[1]);
	checkpoint_repo_close(&repo);
}

/* Writes a tree with the files of a checkpoint, and a manifest of version 1. */
static void write_old(const git_oid *tree, git_oid *ret_old)
{
	static const char manifest[] = "ringfence 1\0modes 644 755 755";
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(256);
	struct pack *pack = pack_new(&repo, false, NULL);
	unsigned char id[NODE_ID];
	git_tree *files = NULL;

	if (checkpoint_repo_parts(&repo, tree, &files, NULL, &err) < 0 ||
	    pack_add(pack, GIT_OBJECT_BLOB, manifest, sizeof manifest, id, &err) < 0)
		abort();
	buffer_add(&bytes, "40000 files", strlen("40000 files") + 1);
	buffer_add(&bytes, git_tree_id(files)->id, NODE_ID);
	buffer_add(&bytes, "100644 manifest", strlen("100644 manifest") + 1);
	buffer_add(&bytes, id, NODE_ID);
	if (pack_add(pack, GIT_OBJECT_TREE, bytes.data, bytes.used, ret_old->id, &err) < 0 ||
	    pack_finish(pack, &err) < 0)
		abort();
	pack_free(pack);
	git_tree_free(files);
}

static void opens_old(void)
{
	struct checkpoint_repo_item item;
	struct tree_reader reader;
	struct node root;
	git_oid old;

	fresh();
	put("project/a/b/build/file", "1");
	save();
	open_store();
	if (checkpoint_repo_read(&repo, "loop", 0, &item, &err) < 0)
		abort();
	write_old(&item.tree, &old);
	CHECK("a tree whose manifest does not tell what is generated is read as a whole",
	      tree_reader_start(&reader, &repo, &old, &root, &err) == 0 && reader.trees == 4 &&
		      node_at(&root, "a/b/build/file"));
	node_release(&root);
	checkpoint_repo_close(&repo);
}

static void broken(void)
{
	struct node root = { .kind = NODE_FOLDER, .closed = true, .id = { 1 } };
	struct tree_reader reader = { .repo = &repo };
	git_oid nothing = { { 1 } };

	fresh();
	open_store();
	CHECK("a missing tree cannot be read",
	      tree_reader_start(&reader, &repo, &nothing, &root, &err) < 0 &&
		      tree_reader_load(&repo, &nothing, &root, &err) < 0);
	CHECK("neither can a missing folder",
	      tree_reader_open(&reader, &root, &err) < 0 &&
		      tree_reader_open_all(&reader, &root, &err) < 0 && root.closed);
	checkpoint_repo_close(&repo);
}

int main(void)
{
	unit_begin();
	opens();
	opens_recorded();
	opens_differing();
	opens_with_other_modes();
	opens_old();
	broken();
	return unit_end();
}
