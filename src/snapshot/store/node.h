/*
 * A tree of files in memory: the contents of a project or of a checkpoint.
 *
 * The entries of a folder are sorted by name. A skipped file is in the tree, with the reason, so
 * that nothing is dropped silently. A node's name belongs to its folder.
 */
#ifndef SNAPSHOT_STORE_NODE_H
#define SNAPSHOT_STORE_NODE_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NODE_ID = 20, NODE_DEEPEST = 256 };

/* Stored in files: never change the order. */
enum node_kind {
	NODE_FILE,
	NODE_FOLDER,
	NODE_LINK,    /* symbolic */
	NODE_FIFO,    /* named pipe */
	NODE_SKIPPED, /* not saved; see `why` */
	NODE_IGNORED, /* excluded by the ignore rules; exists, and is left alone */
	NODE_KINDS
};

/* Why a node was skipped. Manifests store the texts of node_why_text(). */
enum node_why {
	NODE_WHY_UNKNOWN,
	NODE_WHY_SOCKET,
	NODE_WHY_DEVICE,
	NODE_WHY_PERMISSION,
	NODE_WHY_UNREADABLE,
	NODE_WHY_BUSY,
	NODE_WHY_LARGE,
	NODE_WHY_DEEP,
	NODE_WHY_FILE_SYSTEM,
	NODE_WHY_DELETED, /* only in a layer (look/tree_layer.h): hides what is below */
	NODE_WHYS
};

struct node {
	const char *name;
	enum node_kind kind;
	mode_t mode;    /* the twelve permission bits */
	bool chunked;   /* a large file: the object is a tree of chunks */
	bool closed;    /* a folder whose entries were not read (tree_reader.h) */
	bool opaque;    /* a folder of a layer: hides the one below (look/tree_layer.h) */
	bool unsure;    /* may change without a visible change of its stat */
	char seen;      /* stat'ed ahead (look/ahead.h), and unchanged */
	char hollow;    /* during a restore: an enum hollow (look/hollow.h) */
	uint32_t group; /* shared by the hard links of a file; 0 if it has one name */
	unsigned char id[NODE_ID]; /* the object with the content */
	enum node_why why;
	uint64_t size, device, inode, links;
	int64_t modified_ns, changed_ns;
	char *names; /* of a folder: storage for the names of its entries */
	struct node *inner;
	size_t count;
	uint32_t staged; /* during a restore: the number of its temporary file */
};

const char *node_why_text(enum node_why why);

/* Returns NODE_WHY_UNKNOWN for any other text. */
enum node_why node_why_parse(const char *text, size_t size);

/* Frees what the node owns, but not the node. */
void node_release(struct node *node);

/* Appends an entry; call node_sort() when all are added. */
struct node *node_add(struct node *folder);
void node_sort(struct node *folder);

/* Inserts an entry in sorted order; the caller keeps owning the name. */
struct node *node_insert(struct node *folder, const char *name);

/* Returns the entry with this name, or NULL. */
struct node *node_find(const struct node *folder, const char *name);

/* Returns the node at a path ("a/b", or "" for the root), or NULL. */
struct node *node_at(struct node *root, const char *path);

/* An entry of each of two folders, with the same name; NULL in a folder that does not have it. */
struct node_pair {
	struct node *a, *b;
	size_t next_a, next_b;
};

/* Goes on to the next pair of entries, by name; a pair of zeros is before the first one. A folder
 * may be NULL. Returns false after the last pair. */
bool node_next_pair(const struct node *a, const struct node *b, struct node_pair *pair);

/* Makes a deep copy that owns its names. */
void node_copy(const struct node *from, struct node *ret_copy);

/*
 * Calls `look` for every node below a folder, parents first, with its path. Stops at the first
 * result that is not 0 and returns it.
 */
typedef int node_fn(void *context, struct node *node, const char *path);
int node_each(struct node *folder, node_fn *look, void *context);

/* Gives files that share a device and inode the same group number; files with one name get 0. */
void node_group(struct node *root);

/* Renumbers the groups of a tree, so that it shares none with another tree. */
void node_part_groups(struct node *root, const struct node *other);

/* Ungroups files whose hard links are not in the tree. */
void node_tidy_groups(struct node *root);

/* Reports whether two nodes have the same kind and content. Folders: only the kind is compared. */
bool node_same_content(const struct node *a, const struct node *b);

/* Appends "/name" to a path; node_path_cut() truncates it to its previous length. */
void node_path_add(struct buffer *path, const char *name);
void node_path_cut(struct buffer *path, size_t used);

enum { NODE_PATH_MAX = 1 << 17 };

#endif
