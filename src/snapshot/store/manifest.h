/*
 * The manifest of a checkpoint records what a git tree cannot: full modes, hard links, named pipes,
 * and the files that were skipped, with the reason.
 *
 * Records end with a NUL, since a path can hold any other byte:
 *
 *	ringfence 2
 *	modes 644 755 755	usual modes of files, executable files and folders
 *	m 600 PATH		another mode; the project's own folder has an empty path
 *	h 1 PATH		one of the names of hard-linked file 1
 *	p 644 PATH		a named pipe
 *	s a socket: PATH	skipped, and why
 *	g PATH			a generated file or folder (generated.h), in no other one
 *
 * So a folder without a record below it contains only files, folders and symlinks with the usual
 * modes that count as work. Version 1 had no generated entries.
 */
#ifndef SNAPSHOT_STORE_MANIFEST_H
#define SNAPSHOT_STORE_MANIFEST_H

#include "snapshot/store/node.h"
#include "util/error.h"

enum { MANIFEST_FILES, MANIFEST_PROGRAMS, MANIFEST_FOLDERS, MANIFEST_CLASSES };

struct manifest_head {
	int version;
	mode_t usual[MANIFEST_CLASSES];
	size_t size; /* bytes before the first record */
};

/* Appends the manifest of a tree to `out`. The usual modes are those of `like`, or if it is NULL,
 * the most common ones; with closed folders, it must be the head that the tree was read with. */
void manifest_write(struct node *root, const struct manifest_head *like, struct buffer *out);

/* Returns 0, or -1 with err set if the manifest is malformed. */
int manifest_read_head(const char *bytes, size_t size, struct manifest_head *ret_head,
		       struct error *err);

/* Sets the usual modes of all entries of a folder. Files have their executable bit. */
void manifest_set_modes(const struct manifest_head *head, struct node *folder);

/* Finds the folder at a path, and reads its entries unless it is open. *ret_folder is NULL if it
 * does not exist. Returns 0, or -1 with err set. */
typedef int manifest_folder_fn(void *context, const char *path, struct node **ret_folder,
			       struct error *err);

/*
 * Applies the records to a tree that has names, kinds (files, folders, symlinks) and usual modes.
 * The folder that contains an entry with a record is found with `find`. Returns 0, or -1 with err
 * set if the manifest is malformed or does not match the tree.
 */
int manifest_read(const char *bytes, size_t size, struct node *root, manifest_folder_fn *find,
		  void *context, struct error *err);

#endif
