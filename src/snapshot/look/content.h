/*
 * Reads the contents of files into a repository. The owner of the files may change, replace or
 * remove them at any time: each is opened by a single name in an open folder, never through a
 * symlink, and never blocks.
 *
 * A file larger than CONTENT_PIECE is stored in chunks of that size, each named by its offset in
 * hexadecimal, and its length is stored as "size"; chunks of zeros are omitted. So memory use is
 * bounded, a hole costs nothing, and a change costs only the chunks that changed.
 */
#ifndef SNAPSHOT_LOOK_CONTENT_H
#define SNAPSHOT_LOOK_CONTENT_H

#include "snapshot/store/node.h"
#include "snapshot/store/pack.h"

#include <sys/stat.h>

enum { CONTENT_PIECE = 4 << 20 };

/* live: an agent is working, so a recent stat does not prove that the content is unchanged. */
struct content {
	struct pack *pack;
	bool live;
	char *room;     /* CONTENT_PIECE + 1 bytes */
	uint64_t read;  /* bytes read */
	uint64_t files; /* files read */
	uint64_t torn;  /* files that changed while they were read */
};

/*
 * Opens an entry of a folder for reading. If its owner lacks permission, temporarily grants it (but
 * not while an agent is working) and sets *ret_lent; content_restore_mode() restores the mode.
 */
int content_open(const struct content *content, int folder, const struct node *node, int flags,
		 bool *ret_lent);
void content_restore_mode(int fd, const struct node *node);

/* Fills a node from the result of lstat(). */
void content_set_stat(const struct stat *status, struct node *node);

/* Reports whether the content must be the same as when `known` was read. */
bool content_looks_same(const struct node *known, const struct node *node);

/*
 * Reads a file or a symlink into the repository and completes the node; an unreadable one becomes
 * NODE_SKIPPED. Returns 0, or -1 with err set if the repository cannot be written.
 */
int content_file(struct content *content, int folder, struct node *node, struct error *err);
int content_link(struct content *content, int folder, struct node *node, struct error *err);

#endif
