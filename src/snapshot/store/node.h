/*
 * A tree of files in memory: what a project holds, or what a checkpoint says that it held.
 *
 * Entries of a folder are sorted by name. What is skipped or cannot be told is there with its reason, so
 * that nothing is lost without a word. Nodes are filled in place; names belong to their folder.
 */
#ifndef SNAPSHOT_STORE_NODE_H
#define SNAPSHOT_STORE_NODE_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NODE_ID = 20, NODE_DEEPEST = 256 };

/* Written into files: never change the order. */
enum node_kind {
	NODE_FILE,
	NODE_FOLDER,
	NODE_LINK,    /* symbolic */
	NODE_FIFO,    /* named pipe */
	NODE_SKIPPED, /* not kept; why says the reason */
	NODE_IGNORED, /* by the rules of the baseline: it is there, and left alone */
	NODE_KINDS
};

struct node {
	const char *name;
	enum node_kind kind;
	mode_t mode;    /* the twelve bits */
	bool chunked;   /* a large file: the object is a tree of pieces */
	bool unsure;    /* it may change without looking different */
	char seen;      /* it was looked at ahead (look/ahead.h), and is what was known */
	uint32_t group; /* hard links to one file have the same number; 0: one name only */
	unsigned char id[NODE_ID]; /* of the object with its content */
	const char *why;           /* a static text */
	uint64_t size, device, inode, links;
	int64_t modified_ns, changed_ns;
	char *names; /* of a folder: where the names of its entries are */
	struct node *inner;
	size_t count;
	uint32_t staged; /* on its way back into a project: the number of its draft */
};

/* Frees what a node holds, not the node. */
void node_release(struct node *node);

/* Room for one more entry, in the order of coming; node_sort() afterwards. */
struct node *node_add(struct node *folder);
void node_sort(struct node *folder);

/* A new entry at its place in the order; the name stays with the caller. */
struct node *node_insert(struct node *folder, const char *name);

/* The entry with this name, or NULL. */
struct node *node_find(const struct node *folder, const char *name);

/* The node at a path ("a/b"; empty: the folder itself), or NULL. */
struct node *node_at(struct node *root, const char *path);

/* A deep copy, with names of its own. */
void node_copy(const struct node *from, struct node *ret_copy);

/* Calls the function for every node below a folder, parents first, with its path. Returns 0, or the first
 * value that is not. */
typedef int node_fn(void *context, struct node *node, const char *path);
int node_each(struct node *folder, node_fn *look, void *context);

/* Hard links: files with the same device and inode get a group each; of one name, none. */
void node_group(struct node *root);

/* Are two nodes the same in content, and in rights? Folders: only what they are themselves. */
bool node_same_content(const struct node *a, const struct node *b);

/* Adds "/name" to a path, and takes it off again (to the length that it had). */
void node_path_add(struct buffer *path, const char *name);
void node_path_cut(struct buffer *path, size_t used);

enum { NODE_PATH_MAX = 1 << 17 };

#endif
