/*
 * Contents of files on their way into a repository. The files belong to somebody who may change, exchange or
 * remove them meanwhile: they are opened by one name in a folder that is open, never through a symlink, and
 * never waited for.
 *
 * A file above CONTENT_PIECE is kept in pieces of that size, each under its offset in hexadecimal digits, and
 * its length under "size"; pieces of zeros are left out. So memory is bounded, a hole costs nothing, and
 * a change costs what was changed.
 */
#ifndef SNAPSHOT_LOOK_CONTENT_H
#define SNAPSHOT_LOOK_CONTENT_H

#include "snapshot/store/node.h"
#include "snapshot/store/pack.h"

#include <sys/stat.h>

enum { CONTENT_PIECE = 4 << 20 };

/* Whoever can write is at work: what a look at the file does not tell is not trusted. */
struct content {
	struct pack *pack;
	bool live;
	char *room;     /* CONTENT_PIECE + 1 bytes */
	uint64_t read;  /* bytes */
	uint64_t files; /* that were read */
	uint64_t torn;  /* that changed meanwhile */
};

/* Opens an entry of a folder for reading. Where its owner has taken the right from themselves, it is lent for
 * the moment (not while somebody else is at work): *ret_lent says so, and content_give_back() takes it
 * back. */
int content_open(const struct content *content, int folder, const struct node *node, int flags,
		 bool *ret_lent);
void content_give_back(int fd, const struct node *node);

/* Fills a node with what lstat said. */
void content_look(const struct stat *status, struct node *node);

/* Can its content be what it was when it was known? */
bool content_looks_same(const struct node *known, const struct node *node);

/* Reads a file or a link into the repository, and completes the node; what cannot be read becomes
 * NODE_SKIPPED. Returns 0, or -1 with err set: the repository cannot be written. */
int content_file(struct content *content, int folder, struct node *node, struct error *err);
int content_link(struct content *content, int folder, struct node *node, struct error *err);

#endif
