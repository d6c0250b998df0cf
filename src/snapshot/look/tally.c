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

/* Reports whether a git tree has this entry. */
static bool is_stored(const struct node *node)
{
	return is_content(node) || node->kind == NODE_FOLDER;
}

/* ---- the hash ---- */

static bool identify(const struct node *folder, unsigned char ret_id[NODE_ID]);

static void add_text(struct buffer *text, const struct node *node, const unsigned char *id)
{
	const char facts[] = { (char)('0' + node->kind),
			       node->kind == NODE_FILE && node->mode & 0100 ? '1' : '0' };

	buffer_add(text, node->name, strlen(node->name) + 1);
	buffer_add(text, facts, sizeof facts);
	buffer_add(text, id, NODE_ID);
}

/* Adds an entry. Returns false if it is generated, or generated files below it do not count. */
static bool add_entry(const struct node *node, struct buffer *text)
{
	unsigned char id[NODE_ID];
	bool whole = true;

	if (generated_is(node->name))
		return false;
	memcpy(id, node->id, NODE_ID);
	if (node->kind == NODE_FOLDER)
		whole = identify(node, id);
	add_text(text, node, id);
	return whole;
}

/*
 * Identifies what counts in a folder, by the folder's own id if everything does. Everything counts
 * in a closed folder (manifest.h).
 */
static bool identify(const struct node *folder, unsigned char ret_id[NODE_ID])
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT((size_t)1 << 31);
	char hex[SHA256_HEX];
	bool whole = true;

	for (size_t i = 0; i < folder->count; i++)
		if (is_stored(&folder->inner[i]) && !add_entry(&folder->inner[i], &text))
			whole = false;
	memcpy(ret_id, folder->id, NODE_ID);
	if (!whole) {
		sha256_hex(buffer_text(&text), text.used, hex);
		memcpy(ret_id, hex, NODE_ID); /* the first 80 bits suffice */
	}
	return whole;
}

void tally_hash(const struct node *root, char ret_hash[SHA256_HEX])
{
	unsigned char id[NODE_ID];

	identify(root, id);
	sha256_hex(id, sizeof id, ret_hash);
}

/* ---- comparing ---- */

struct comparing {
	struct tree_reader *reader;
	uint64_t changed;
	struct error *err;
};

/* Counts the files at and below a node. */
static int count_content(struct comparing *at, struct node *node)
{
	int result = 0;

	at->changed += is_content(node);
	if (node->kind != NODE_FOLDER)
		return 0;
	if (tree_reader_open(at->reader, node, at->err) < 0)
		return -1;
	for (size_t i = 0; i < node->count && result == 0; i++)
		if (!generated_is(node->inner[i].name))
			result = count_content(at, &node->inner[i]);
	return result;
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

static int compare(struct comparing *at, struct node *folder, const git_oid *id, int depth);

/* Compares an entry of the checkpoint with the current node of that name, or NULL. */
static int compare_entry(struct comparing *at, struct node *node, const struct entry *entry,
			 int depth)
{
	struct node empty = { .kind = NODE_FOLDER };
	bool same_kind = !node || (node->kind == NODE_FOLDER) == is_folder(entry);

	if (!same_kind && count_content(at, node) < 0)
		return -1;
	if (is_folder(entry))
		return compare(at, node && same_kind ? node : &empty, entry->id, depth + 1);
	at->changed += !node || !is_same(node, entry);
	return 0;
}

/* Counts entries that the checkpoint does not have. Its trees are sorted differently from nodes. */
static int count_new(struct comparing *at, const struct node *folder, const bool *met)
{
	int result = 0;

	for (size_t i = 0; i < folder->count && result == 0; i++)
		if (!met[i] && !generated_is(folder->inner[i].name))
			result = count_content(at, &folder->inner[i]);
	return result;
}

static int compare(struct comparing *at, struct node *folder, const git_oid *id, int depth)
{
	AUTO_FREE bool *met = NULL;
	git_tree *tree = NULL;
	int result = 0;

	if (memcmp(folder->id, id->id, NODE_ID) == 0)
		return 0;
	if (tree_reader_open(at->reader, folder, at->err) < 0)
		return -1;
	met = mem_zero((folder->count + 1) * sizeof *met);
	if (depth > NODE_DEEPEST || git_tree_lookup(&tree, at->reader->repo->repository, id) < 0)
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
	return result < 0 ? -1 : count_new(at, folder, met);
}

int tally_changed(struct tree_reader *reader, const struct checkpoint_repo_item *since,
		  struct node *root, uint64_t *ret_changed, struct error *err)
{
	struct comparing at = { .reader = reader, .err = err };
	git_tree *files = NULL;
	git_blob *manifest = NULL;
	int result;

	if (checkpoint_repo_parts(reader->repo, &since->tree, &files, &manifest, err) < 0)
		return -1;
	result = compare(&at, root, git_tree_id(files), 0);
	git_tree_free(files);
	git_blob_free(manifest);
	if (result == 0)
		*ret_changed = at.changed;
	return result;
}
