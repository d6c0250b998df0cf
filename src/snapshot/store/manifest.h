/*
 * The manifest of a checkpoint records what a git tree cannot: full modes, hard links, named pipes,
 * and the files that were skipped, with the reason.
 *
 * Records end with a NUL, since a path can hold any other byte:
 *
 *	ringfence 1
 *	modes 644 755 755	defaults of files, executable files and folders
 *	m 600 PATH		a mode; the project's own folder has an empty path
 *	h 1 PATH		one of the names of hard-linked file 1
 *	p 644 PATH		a named pipe
 *	s a socket: PATH	skipped, and why
 */
#ifndef SNAPSHOT_STORE_MANIFEST_H
#define SNAPSHOT_STORE_MANIFEST_H

#include "snapshot/store/node.h"
#include "util/error.h"

/* Appends the manifest of a tree to `out`. */
void manifest_write(struct node *root, struct buffer *out);

/*
 * Completes a tree that has names, kinds (files, folders, links) and the executable bit of files.
 * Returns 0, or -1 with err set if the manifest is malformed or does not match the tree.
 */
int manifest_read(const char *bytes, size_t size, struct node *root, struct error *err);

#endif
