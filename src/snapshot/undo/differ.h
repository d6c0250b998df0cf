/*
 * What is different between two trees, as text for people and for `git apply`, or as JSON.
 */
#ifndef SNAPSHOT_UNDO_DIFFER_H
#define SNAPSHOT_UNDO_DIFFER_H

#include "snapshot/store/checkpoint_repo.h"
#include "util/list.h"

#include <stdio.h>

enum differ_style { DIFFER_PATCH, DIFFER_STAT, DIFFER_NAMES, DIFFER_JSON };

struct differ_options {
	enum differ_style style;
	bool color;
	bool terminal;     /* what a terminal could take for a command is shown as \xNN */
	struct list paths; /* only these, and what is below them; none: all */
};

/* Prints the differences. Returns 0, or -1 with err set. */
int differ_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		 const struct differ_options *options, FILE *out, struct error *err);

/* Prints bytes, as they are or so that a terminal can show them. */
void differ_show(FILE *out, const char *bytes, size_t size, bool terminal);

/* Sets err, with the status ERROR_OUTPUT, when stdout could not be written. Returns -1. */
int differ_output_failed(struct error *err);

#endif
