/*
 * The manifest of a checkpoint: what a tree of git cannot hold. Full modes, hard links, pipes, and what was
 * skipped, with the reason.
 *
 * Records end with a NUL, since paths hold any other byte:
 *
 *	ringfence 1
 *	modes 644 755 755	of files, executable files and folders that have no record
 *	m 600 PATH		a mode; the project's own folder has an empty path
 *	h 1 PATH		one of the names of file 1
 *	p 644 PATH		a named pipe
 *	s a socket: PATH	skipped, and why
 */
#ifndef SNAPSHOT_STORE_MANIFEST_H
#define SNAPSHOT_STORE_MANIFEST_H

#include "snapshot/store/node.h"
#include "util/error.h"

/* Appends the manifest of a tree. */
void manifest_write(struct node *root, struct buffer *out);

/* Completes a tree that has names, kinds (files, folders, links) and, of files, the bit 0100. Returns 0, or
 * -1 with err set: it is malformed, or does not fit the tree. */
int manifest_read(const char *bytes, size_t size, struct node *root, struct error *err);

#endif
