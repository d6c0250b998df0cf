/* Reads trees: see tree_reader.h. */
#include "snapshot/store/tree_reader.h"

#include "snapshot/base/libgit.h"
#include "snapshot/store/stored_name.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- one folder ---- */

/* Reads the size of a chunked file. */
static int read_size(struct checkpoint_repo *repo, const git_oid *id, uint64_t *ret_size)
{
	git_tree *tree = NULL;
	git_blob *blob = NULL;
	const git_tree_entry *entry = NULL;
	int result = -1;

	if (git_tree_lookup(&tree, repo->repository, id) == 0)
		entry = git_tree_entry_byname(tree, "size");
	if (entry && git_blob_lookup(&blob, repo->repository, git_tree_entry_id(entry)) == 0) {
		AUTO_FREE char *text = strndup(git_blob_rawcontent(blob),
					       (size_t)git_blob_rawsize(blob));

		*ret_size = text ? strtoull(text, NULL, 10) : 0;
		result = 0;
	}
	git_blob_free(blob);
	git_tree_free(tree);
	return result;
}

int64_t tree_reader_size(const struct checkpoint_repo *repo, const struct node *file)
{
	git_object_t type;
	git_oid id;
	size_t size;

	if (file->chunked)
		return (int64_t)file->size;
	memcpy(id.id, file->id, NODE_ID);
	return git_odb_read_header(&size, &type, repo->odb, &id) < 0 ? -1 : (int64_t)size;
}

static int read_entry(struct checkpoint_repo *repo, const git_tree_entry *entry, bool chunked,
		      struct node *node, struct error *err)
{
	git_filemode_t mode = git_tree_entry_filemode_raw(entry);

	memcpy(node->id, git_tree_entry_id(entry)->id, NODE_ID);
	node->chunked = chunked;
	node->kind = chunked                     ? NODE_FILE
		     : mode == GIT_FILEMODE_TREE ? NODE_FOLDER
		     : mode == GIT_FILEMODE_LINK ? NODE_LINK
						 : NODE_FILE;
	node->closed = node->kind == NODE_FOLDER;
	node->mode = mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644;
	if (chunked && (mode != GIT_FILEMODE_TREE ||
			read_size(repo, git_tree_entry_id(entry), &node->size) < 0))
		return libgit_error("read a large file from a checkpoint", err);
	return 0;
}

static int read_entries(struct checkpoint_repo *repo, const git_tree *tree, struct node *folder,
			struct buffer *names, struct error *err)
{
	int result = 0;
	bool chunked;

	for (size_t i = 0; i < git_tree_entrycount(tree) && result == 0; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const char *name = stored_name_read(git_tree_entry_name(entry), &chunked);

		if (!name)
			return error_set(err, "a checkpoint holds an invalid file name");
		buffer_add(names, name, strlen(name) + 1);
		result = read_entry(repo, entry, chunked, node_add(folder), err);
	}
	return result;
}

/* Gives the entries of a folder their names, which it takes over, and sorts them. */
static void set_names(struct node *folder, struct buffer *names)
{
	size_t at = 0;

	folder->names = names->data;
	names->data = NULL;
	for (size_t i = 0; i < folder->count; i++) {
		folder->inner[i].name = folder->names ? folder->names + at : "";
		at += strlen(folder->inner[i].name) + 1;
	}
	node_sort(folder);
}

int tree_reader_open(struct tree_reader *reader, struct node *folder, struct error *err)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT((size_t)1 << 31);
	git_tree *tree = NULL;
	git_oid id;
	int result;

	if (!folder->closed)
		return 0;
	memcpy(id.id, folder->id, NODE_ID);
	if (git_tree_lookup(&tree, reader->repo->repository, &id) < 0)
		return libgit_error("read a checkpoint", err);
	reader->trees++;
	folder->closed = false;
	result = read_entries(reader->repo, tree, folder, &names, err);
	git_tree_free(tree);
	set_names(folder, &names);
	manifest_set_modes(&reader->head, folder);
	return result;
}

/* ---- trees ---- */

static int check_depth(size_t depth, struct error *err)
{
	return depth > NODE_DEEPEST
		       ? error_set(err, "a checkpoint has more than %d levels of folders",
				   NODE_DEEPEST)
		       : 0;
}

int tree_reader_at(struct tree_reader *reader, struct node *root, const char *path,
		   struct node **ret_node, struct error *err)
{
	struct node *at = root;

	while (at && *path) {
		size_t size = strcspn(path, "/");
		AUTO_FREE char *name = strndup(path, size);

		if (at->kind == NODE_FOLDER && tree_reader_open(reader, at, err) < 0)
			return -1;
		at = name && at->kind == NODE_FOLDER ? node_find(at, name) : NULL;
		path += size;
		path += *path == '/';
	}
	*ret_node = at;
	return 0;
}

struct visiting {
	struct tree_reader *reader;
	node_fn *look; /* NULL: only open */
	void *context;
	struct error *err;
};

static size_t depth_of(const char *path)
{
	size_t depth = 1;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static int visit(void *context, struct node *node, const char *path)
{
	const struct visiting *at = context;

	if (node->closed && (check_depth(depth_of(path), at->err) < 0 ||
			     tree_reader_open(at->reader, node, at->err) < 0))
		return -1;
	return at->look ? at->look(at->context, node, path) : 0;
}

int tree_reader_each(struct tree_reader *reader, struct node *folder, node_fn *look, void *context,
		     struct error *err)
{
	struct visiting at = { reader, look, context, err };

	if (tree_reader_open(reader, folder, err) < 0)
		return -1;
	return node_each(folder, visit, &at);
}

int tree_reader_open_all(struct tree_reader *reader, struct node *folder, struct error *err)
{
	return tree_reader_each(reader, folder, NULL, NULL, err);
}

/* ---- differences ---- */

struct pair {
	struct tree_reader *old_reader, *new_reader;
	bool same_modes; /* closed folders with equal ids are equal */
	struct error *err;
};

static int open_folders(const struct pair *at, struct node *old, struct node *new, size_t depth);

static int open_one(struct tree_reader *reader, struct node *node, struct error *err)
{
	return node && node->kind == NODE_FOLDER ? tree_reader_open_all(reader, node, err) : 0;
}

/* Opens a node of each tree with the same name; one may be NULL. */
static int open_nodes(const struct pair *at, struct node *old, struct node *new, size_t depth)
{
	if (old && new && old->kind == NODE_FOLDER &&new->kind == NODE_FOLDER)
		return open_folders(at, old, new, depth + 1);
	return open_one(at->old_reader, old, at->err) < 0 ||
			       open_one(at->new_reader, new, at->err) < 0
		       ? -1
		       : 0;
}

static int open_folders(const struct pair *at, struct node *old, struct node *new, size_t depth)
{
	struct node_pair next = { 0 };

	if (at->same_modes && old->closed && new->closed &&memcmp(old->id, new->id, NODE_ID) == 0)
		return 0;
	if (check_depth(depth, at->err) < 0 || tree_reader_open(at->old_reader, old, at->err) < 0 ||
	    tree_reader_open(at->new_reader, new, at->err) < 0)
		return -1;
	while (node_next_pair(old, new, &next))
		if (open_nodes(at, next.a, next.b, depth) < 0)
			return -1;
	return 0;
}

int tree_reader_open_differing(struct tree_reader *old_reader, struct node *old,
			       struct tree_reader *new_reader, struct node *new, struct error *err)
{
	struct pair at = { .old_reader = old_reader,
			   .new_reader = new_reader,
			   .same_modes = memcmp(old_reader->head.usual, new_reader->head.usual,
						sizeof old_reader->head.usual) == 0,
			   .err = err };

	return open_folders(&at, old, new, 0);
}

/* ---- checkpoints ---- */

struct starting {
	struct tree_reader *reader;
	struct node *root;
};

static int find_folder(void *context, const char *path, struct node **ret_folder, struct error *err)
{
	const struct starting *at = context;
	struct node *node;

	if (tree_reader_at(at->reader, at->root, path, &node, err) < 0)
		return -1;
	*ret_folder = node && node->kind == NODE_FOLDER ? node : NULL;
	return *ret_folder ? tree_reader_open(at->reader, node, err) : 0;
}

/* Opens what the manifest records. A manifest of version 1 does not record everything. */
static int apply_manifest(struct tree_reader *reader, const char *bytes, size_t size,
			  struct node *root, struct error *err)
{
	struct starting starting = { reader, root };

	if (manifest_read_head(bytes, size, &reader->head, err) < 0 ||
	    tree_reader_open(reader, root, err) < 0 ||
	    manifest_read(bytes, size, root, find_folder, &starting, err) < 0)
		return -1;
	return reader->head.version == 1 ? tree_reader_open_all(reader, root, err) : 0;
}

int tree_reader_start(struct tree_reader *reader, struct checkpoint_repo *repo, const git_oid *tree,
		      struct node *ret_root, struct error *err)
{
	struct node root = { .name = "", .kind = NODE_FOLDER, .closed = true };
	git_blob *manifest = NULL;
	git_tree *files = NULL;
	int result;

	*reader = (struct tree_reader){ .repo = repo };
	if (checkpoint_repo_parts(repo, tree, &files, &manifest, err) < 0)
		return -1;
	memcpy(root.id, git_tree_id(files)->id, NODE_ID);
	git_tree_free(files);
	result = apply_manifest(reader, git_blob_rawcontent(manifest),
				(size_t)git_blob_rawsize(manifest), &root, err);
	git_blob_free(manifest);
	if (result < 0) {
		node_release(&root);
		return -1;
	}
	*ret_root = root;
	return 0;
}

int tree_reader_load(struct checkpoint_repo *repo, const git_oid *tree, struct node *ret_root,
		     struct error *err)
{
	struct tree_reader reader;
	struct node root;

	if (tree_reader_start(&reader, repo, tree, &root, err) < 0)
		return -1;
	if (tree_reader_open_all(&reader, &root, err) < 0) {
		node_release(&root);
		return -1;
	}
	*ret_root = root;
	return 0;
}
