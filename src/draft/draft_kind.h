/* A kind of drafts: a table of operations that every kind must fill. */
#ifndef DRAFT_DRAFT_KIND_H
#define DRAFT_DRAFT_KIND_H

#include "draft/copied.h"
#include "draft/draft_kinds.h"
#include "draft/draft_view.h"
#include "util/error.h"

enum draft_layer_state {
	DRAFT_LAYER_SAME,   /* not changed, nor is anything below it */
	DRAFT_LAYER_FOLDER, /* a folder of the project; look at its entries */
	DRAFT_LAYER_OWN     /* made, replaced, changed or deleted, with everything below it */
};

/* Where the entry at a path of a draft comes from. */
enum draft_maker {
	DRAFT_MAKER_COMMAND,        /* a command made it */
	DRAFT_MAKER_COMMAND_MERGED, /* a command made the folder, which shows what is below as well
				     */
	DRAFT_MAKER_COPIED,         /* a file or folder of the project, or of a layer below */
	DRAFT_MAKER_BELOW,          /* the draft has nothing there: it is what is below */
	DRAFT_MAKER_UNKNOWN
};

/* A folder of a draft. */
struct draft_layer {
	int folder; /* descriptor of the upper layer's folder, or of the copy's */
	const struct copied_entry *copied;
	const struct draft_layer_root *root;
};

struct draft_layer_root {
	const struct draft_kind *kind;
	bool privileged; /* real root mounted the layer: its marks are other attributes */
	struct copied copied;
	struct draft_layer top;
};

struct draft_kind {
	const char *name;
	const char *mark; /* the folder with its files, which exists once it is complete */
	bool layered;     /* a view shows the project's files where the draft has none */

	/* Fills the folder of a new draft. */
	int (*prepare)(const struct draft_request *request, struct draft_made *made,
		       struct error *err);
	/* Adds the changes of another draft of this kind to a new one. */
	int (*seed)(const char *folder, const char *from, struct error *err);
	/* Shows the draft at the project's path, in the namespaces of a view. */
	int (*show)(const struct draft_view *view, struct error *err);
	/* Opens the record of what the draft has not changed, if there is one. */
	int (*open)(const char *folder, struct draft_layer_root *root, struct error *err);
	/* Reports what the draft has changed: see draft_layer_enter(). */
	enum draft_layer_state (*look)(const struct draft_layer *at, const char *name,
				       struct draft_layer *ret_inner);
	/* Reports where the entry at a path comes from (draft_own.h). Of a symlink, the answer has
	 * no meaning. */
	enum draft_maker (*maker)(const struct draft_layer_root *root, const char *path);
};

#define DRAFT_KIND_ID(id, mark, layered) DRAFT_KIND_##id,
enum { DRAFT_KINDS(DRAFT_KIND_ID) DRAFT_KIND_COUNT };
#undef DRAFT_KIND_ID

/* Returns a kind by its place in the list, the best first. */
const struct draft_kind *draft_kind_at(size_t i);

/* Returns a kind by its name, or NULL with err set. */
const struct draft_kind *draft_kind_find(const char *name, struct error *err);

/* Returns the kind of a draft, or NULL with err set. */
const struct draft_kind *draft_kind_of(const char *folder, struct error *err);

/* Opens a folder without following symlinks. Returns a descriptor, or -1 with err set. */
int draft_kind_open_folder(const char *path, struct error *err);

/* Replaces a folder, in this mount namespace, by an idmapped mount that shows root's files as the
 * view's user's. Returns 0, or -1 with err set. */
int draft_kind_lend(const struct draft_view *view, const char *path, struct error *err);

#define DRAFT_KIND_DECLARE(id, mark, layered)                                                    \
	int draft_##id##_prepare(const struct draft_request *request, struct draft_made *made,   \
				 struct error *err);                                             \
	int draft_##id##_seed(const char *folder, const char *from, struct error *err);          \
	int draft_##id##_show(const struct draft_view *view, struct error *err);                 \
	int draft_##id##_open(const char *folder, struct draft_layer_root *root,                 \
			      struct error *err);                                                \
	enum draft_layer_state draft_##id##_look(const struct draft_layer *at, const char *name, \
						 struct draft_layer *ret_inner);                 \
	enum draft_maker draft_##id##_maker(const struct draft_layer_root *root, const char *path);
DRAFT_KINDS(DRAFT_KIND_DECLARE)
#undef DRAFT_KIND_DECLARE

#endif
