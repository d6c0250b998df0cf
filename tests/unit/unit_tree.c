/* The file tree of a fence as data: the entries for a mechanism, and the order for init. */
#include "unit.h"

#include "fence/run/run_record.h"
#include "fence/tree/tree.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static const struct tree_entry *find(const struct tree *tree, const char *path)
{
	const struct tree_entry *found = NULL;

	for (size_t i = 0; i < tree->count; i++)
		if (strcmp(tree->items[i].path, path) == 0)
			found = &tree->items[i];
	return found;
}

static void check_rules(const struct tree *tree, const char *hidden_file)
{
	const struct tree_entry *hidden = find(tree, "/p/key");
	const struct tree_entry *emptied = find(tree, "/users/u/.config");
	const struct tree_entry *inside = find(tree, "/users/u/.config/app");
	const struct tree_entry *cover = find(tree, "/p/.git");

	CHECK("a writable rule mounts its own path",
	      find(tree, "/p")->writable && strcmp(find(tree, "/p")->source, "/p") == 0);
	CHECK("a hidden file is a read-only stub",
	      hidden->kind == TREE_SHOWN && !hidden->writable &&
		      strcmp(hidden->source, hidden_file) == 0);
	CHECK("a mount point in a visible folder must exist", hidden->exists);
	CHECK("an emptied folder is a new file system, but not scratch",
	      emptied->kind == TREE_TMPFS && !emptied->writable && !emptied->scratch);
	CHECK("a mount point in an emptied folder is created", !inside->exists);
	CHECK("a rule with a source mounts it, and init must find it",
	      strcmp(cover->source, "/state/git") == 0 && cover->device == 3 && cover->inode == 4);
}

static void check_own(const struct tree *tree)
{
	CHECK("the system is read-only", find(tree, "/usr") && !find(tree, "/usr")->writable);
	CHECK("/etc is a copy", strcmp(find(tree, "/etc")->source, "/etc") != 0);
	CHECK("/tmp, /dev/shm and the home are scratch, /dev is not",
	      find(tree, "/tmp")->scratch && find(tree, "/dev/shm")->scratch &&
		      find(tree, "/users/u")->scratch && !find(tree, "/dev")->scratch);
	CHECK("init is in the tree", find(tree, TREE_INIT) != NULL);
}

/* Init checks every entry that comes from the host or from a rule. */
static void check_order(const struct tree *tree)
{
	AUTO_BUFFER struct buffer order = BUFFER_INIT(1 << 20);
	size_t expected = 0;
	size_t rules = 0;
	size_t scratch = 0;

	tree_describe(tree, &order);
	for (size_t i = 0; i < tree->count; i++)
		expected += tree->items[i].rule || tree->items[i].kind == TREE_SHOWN;

	struct wire_reader reader = { .at = order.data, .left = order.used };
	struct wire_record record;

	while (wire_next(&reader, &record) > 0) {
		rules += record.tag == WIRE_RULE;
		scratch += record.tag == WIRE_SCRATCH;
	}
	CHECK("the order names every mounted path and every rule", rules == expected);
	CHECK("the order names three scratch folders", scratch == 3);
}

int main(void)
{
	char state[UNIT_PATH];
	struct fence_rule rules[] = {
		{ .path = (char *)"/users/u/.config", .access = WIRE_HIDE_AROUND, .is_dir = true },
		{ .path = (char *)"/users/u/.config/app", .access = WIRE_READ, .is_dir = true },
		{ .path = (char *)"/p", .access = WIRE_WRITE, .is_dir = true },
		{ .path = (char *)"/p/.git",
		  .access = WIRE_WRITE,
		  .is_dir = true,
		  .source = (char *)"/state/git",
		  .source_device = 3,
		  .source_inode = 4 },
		{ .path = (char *)"/p/key", .access = WIRE_HIDE },
	};
	struct fence_spec spec = { .command = (char *const[]){ NULL } };
	struct fence_plan plan = { .identity = { .uid = getuid(),
						 .gid = getgid(),
						 .caller = getuid(),
						 .name = (char *)"u",
						 .home = (char *)"/users/u" },
				   .project = (char *)"/p",
				   .home = (char *)"/users/u",
				   .state = state,
				   .init = (char *)"/bin/sh",
				   .rules = rules,
				   .rule_count = sizeof rules / sizeof *rules,
				   .spec = &spec };
	struct tree tree;
	struct error err;

	if (!unit_temp(state) || run_record_prepare(state, &err) < 0)
		abort();

	AUTO_FREE char *hidden_file = path_join(state, "hidden/file");
	bool made = tree_make(&plan, &tree, &err) == 0;

	CHECK("a tree is made from a plan", made);
	if (made) {
		check_rules(&tree, hidden_file);
		check_own(&tree);
		check_order(&tree);
		tree_release(&tree);
	}
	plan.init = (char *)"/no/such/program";
	CHECK("a tree cannot be made without init", tree_make(&plan, &tree, &err) < 0);
	nftw(state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return unit_failures > 0;
}
