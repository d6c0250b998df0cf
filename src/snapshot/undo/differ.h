/* Prints the differences between two trees, as text for users and for `git apply`, or as JSON. */
#ifndef SNAPSHOT_UNDO_DIFFER_H
#define SNAPSHOT_UNDO_DIFFER_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/list.h"

#include <stdio.h>

struct git_blob;

enum differ_style { DIFFER_PATCH, DIFFER_STAT, DIFFER_NAMES, DIFFER_JSON };

struct differ_options {
	enum differ_style style;
	bool color;
	bool terminal;      /* escape control characters as \xNN */
	int64_t most_bytes; /* of a patch in a file: no other file begins after so many; 0: all */
	struct list paths;  /* restrict to these and everything below; empty: no restriction */
};

/* Returns 0, or -1 with err set. */
int differ_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		 const struct differ_options *options, FILE *out, struct error *err);

/* Reads a file or a link, which must not be stored in pieces. The caller frees the blob. Returns 0,
 * or -1 with err set. */
int differ_blob(struct checkpoint_repo *repo, const struct node *node, struct git_blob **ret_blob,
		struct error *err);

/* Counts the added and removed lines of a change, and its bytes, and finds out whether it is
 * binary. Returns 0, or -1 with err set. */
struct changes_item;
int differ_count(struct checkpoint_repo *repo, struct changes_item *change, struct error *err);

/* Counts only its bytes. Returns 0, or -1 with err set. */
int differ_measure(struct checkpoint_repo *repo, struct changes_item *change, struct error *err);

/* Prints bytes; for a terminal, escapes the harmful ones. */
void differ_show(FILE *out, const char *bytes, size_t size, bool terminal);

/* Sets err for a failed write to stdout, with status ERROR_OUTPUT. Returns -1. */
int differ_output_failed(struct error *err);

#endif
