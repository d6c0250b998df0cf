/* Facts about a scan. */
#include "snapshot/look/tally.h"

#include "snapshot/base/libgit.h"
#include "snapshot/generated.h"
#include "snapshot/store/stored_name.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_content(const struct node *node)
{
	return node->kind == NODE_FILE || node->kind == NODE_LINK;
}

/* ---- counting ---- */

static bool add_folder(const struct node *folder, struct tally *tally,
		       unsigned char ret_id[NODE_ID]);

static void add_text(struct buffer *text, const struct node *node, const unsigned char *id)
{
	buffer_add(text, node->name, strlen(node->name) + 1);
	buffer_printf(text, "%d%d", (int)node->kind,
		      (node->mode & 0100) != 0 && node->kind == NODE_FILE);
	buffer_add(text, id, NODE_ID);
}

/* Adds an entry. Returns false if generated files below it do not count. */
static bool add_entry(const struct node *node, struct tally *tally, struct buffer *text)
{
	unsigned char id[NODE_ID];
	bool whole = true;

	memcpy(id, node->id, NODE_ID);
	if (node->kind == NODE_FOLDER)
		whole = add_folder(node, tally, id);
	else if (node->kind != NODE_IGNORED)
		tally->files++;
	if (is_content(node))
		tally->bytes += node->size;
	if (is_content(node) || node->kind == NODE_FOLDER)
		add_text(text, node, id);
	return whole;
}

/*
 * Adds the entries of a folder. ret_id identifies what counts; it is the folder's own id if
 * everything does.
 */
static bool add_folder(const struct node *folder, struct tally *tally,
		       unsigned char ret_id[NODE_ID])
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT((size_t)1 << 31);
	char hex[SHA256_HEX];
	bool whole = true;

	for (size_t i = 0; i < folder->count; i++) {
		if (generated_is(folder->inner[i].name))
			whole = false;
		else if (!add_entry(&folder->inner[i], tally, &text))
			whole = false;
	}
	memcpy(ret_id, folder->id, NODE_ID);
	if (!whole) {
		sha256_hex(buffer_text(&text), text.used, hex);
		memcpy(ret_id, hex, NODE_ID); /* the first 80 bits suffice */
	}
	return whole;
}

void tally_count(const struct node *root, struct tally *ret_tally)
{
	unsigned char id[NODE_ID];

	*ret_tally = (struct tally){ 0 };
	add_folder(root, ret_tally, id);
	sha256_hex(id, sizeof id, ret_tally->tree);
}

/* ---- comparing ---- */

struct comparing {
	struct checkpoint_repo *repo;
	uint64_t changed;
	struct error *err;
};

static void count_content(struct comparing *at, const struct node *node)
{
	struct tally all = { 0 };
	unsigned char id[NODE_ID];

	if (node->kind == NODE_FOLDER)
		add_folder(node, &all, id);
	at->changed += is_content(node) ? 1 : all.files;
}

/* An entry of a tree in the repository. */
struct entry {
	const char *name;
	const git_oid *id;
	git_filemode_t mode;
	bool chunked;
};

static bool is_folder(const struct entry *entry)
{
	return entry->mode == GIT_FILEMODE_TREE && !entry->chunked;
}

static bool is_same(const struct node *node, const struct entry *entry)
{
	return is_content(node) && node->chunked == entry->chunked &&
	       (node->kind == NODE_LINK) == (entry->mode == GIT_FILEMODE_LINK) &&
	       memcmp(node->id, entry->id->id, NODE_ID) == 0;
}

static int compare(struct comparing *at, const struct node *folder, const git_oid *id, int depth);

/* Compares an entry of the checkpoint with the current node of that name, or NULL. */
static int compare_entry(struct comparing *at, const struct node *node, const struct entry *entry,
			 int depth)
{
	static const struct node empty = { .kind = NODE_FOLDER };

	if (is_folder(entry)) {
		if (node && node->kind != NODE_FOLDER)
			count_content(at, node);
		return compare(at, node && node->kind == NODE_FOLDER ? node : &empty, entry->id,
			       depth + 1);
	}
	if (node && node->kind == NODE_FOLDER)
		count_content(at, node);
	at->changed += !node || !is_same(node, entry);
	return 0;
}

/* Counts entries that the checkpoint does not have. Its trees are sorted differently from nodes. */
static void count_new(struct comparing *at, const struct node *folder, const bool *met)
{
	for (size_t i = 0; i < folder->count; i++)
		if (!met[i] && !generated_is(folder->inner[i].name))
			count_content(at, &folder->inner[i]);
}

static int compare(struct comparing *at, const struct node *folder, const git_oid *id, int depth)
{
	AUTO_FREE bool *met = mem_zero((folder->count + 1) * sizeof *met);
	git_tree *tree = NULL;
	int result = 0;

	if (memcmp(folder->id, id->id, NODE_ID) == 0)
		return 0;
	if (depth > NODE_DEEPEST || git_tree_lookup(&tree, at->repo->repository, id) < 0)
		return libgit_error("read a checkpoint", at->err);
	for (size_t i = 0; i < git_tree_entrycount(tree) && result == 0; i++) {
		const git_tree_entry *stored = git_tree_entry_byindex(tree, i);
		struct entry entry = { .id = git_tree_entry_id(stored),
				       .mode = git_tree_entry_filemode(stored) };
		struct node *node;

		entry.name = stored_name_read(git_tree_entry_name(stored), &entry.chunked);
		if (!entry.name || generated_is(entry.name))
			continue;
		node = node_find(folder, entry.name);
		if (node)
			met[node - folder->inner] = true;
		result = compare_entry(at, node, &entry, depth);
	}
	git_tree_free(tree);
	if (result == 0)
		count_new(at, folder, met);
	return result;
}

int tally_changed(struct checkpoint_repo *repo, const struct checkpoint_repo_item *since,
		  const struct node *root, uint64_t *ret_changed, struct error *err)
{
	struct comparing at = { .repo = repo, .err = err };
	git_tree *files = NULL;
	git_blob *manifest = NULL;
	int result;

	if (checkpoint_repo_git(repo, err) < 0 ||
	    checkpoint_repo_parts(repo, &since->tree, &files, &manifest, err) < 0)
		return -1;
	result = compare(&at, root, git_tree_id(files), 0);
	git_tree_free(files);
	git_blob_free(manifest);
	if (result == 0)
		*ret_changed = at.changed;
	return result;
}
