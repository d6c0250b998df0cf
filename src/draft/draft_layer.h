/*
 * What a draft has changed, folder by folder.
 *
 * A view shows the changes together with a project that others may change meanwhile, or with a copy
 * of it. This tells which entries of a view are the draft's own.
 */
#ifndef DRAFT_DRAFT_LAYER_H
#define DRAFT_DRAFT_LAYER_H

#include "draft/copied.h"
#include "util/error.h"

enum draft_layer_state {
	DRAFT_LAYER_SAME,   /* not changed, nor is anything below it */
	DRAFT_LAYER_FOLDER, /* a folder of the project; look at its entries */
	DRAFT_LAYER_OWN     /* made, replaced, changed or deleted, with everything below it */
};

/* A folder of a draft. */
struct draft_layer {
	int folder; /* descriptor of the upper layer's folder, or of the copy's */
	const struct copied_entry *copied;
	const struct draft_layer_root *root;
};

struct draft_layer_root {
	const struct draft_kind *kind;
	struct copied copied;
	struct draft_layer top;
};

/* Opens a draft to see its changes. Returns 0, or -1 with err set. The caller releases the root in
 * both cases, and does not move it before. */
int draft_layer_open(const char *folder, struct draft_layer_root *ret_root, struct error *err);
void draft_layer_release(struct draft_layer_root *root);

/* Reports about an entry of a folder, also one that does not exist any more. If it is
 * DRAFT_LAYER_FOLDER, *ret_inner has a descriptor that the caller closes; otherwise -1. */
enum draft_layer_state draft_layer_enter(const struct draft_layer *at, const char *name,
					 struct draft_layer *ret_inner);

#endif
