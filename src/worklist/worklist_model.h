/* The model of a list of tasks: see worklist.h. */
#ifndef WORKLIST_WORKLIST_MODEL_H
#define WORKLIST_WORKLIST_MODEL_H

#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKLIST_ITEMS_MAX = 10000, WORKLIST_NOTES_MAX = 100, WORKLIST_BYTES_MAX = 4 << 20 };

enum worklist_format {
	WORKLIST_MARKDOWN,
	WORKLIST_PLAN,
	WORKLIST_PRD,
	WORKLIST_BEADS,
	WORKLIST_GITHUB,
	WORKLIST_YAML,
	WORKLIST_FORMATS
};

/* A place in the bytes of a list that says whether an item is done. */
struct worklist_mark {
	size_t at, size;         /* what is replaced; size 0: something is inserted */
	bool set;                /* it says that the item is done */
	const char *done, *open; /* by this */
};

struct worklist_item {
	char *id;     /* unique in all lists */
	char *title;  /* one line */
	char *prompt; /* for the agent */
	struct list checks, pins, files;
	struct list depends; /* ids; before worklist_finish(), also references such as #3 */
	int64_t priority;    /* lower ones are first */
	int64_t budget_nusd; /* 0: none of its own */
	char *agent, *model; /* or NULL */
	bool done;
	size_t file;   /* an index in the lists' files */
	size_t line;   /* from 1 */
	size_t number; /* in its file, from 1, or as the file says; for references */
	struct worklist_mark *marks;
	size_t mark_count; /* 0: the format has no such place */
};

/* All lists together. */
struct worklist {
	struct worklist_item *items;
	size_t count;
	struct list files;
	enum worklist_format *formats; /* of each file */
	struct list notes;
};

void worklist_model_release(struct worklist *list);

/* Returns the item with this id, or NULL. */
const struct worklist_item *worklist_model_find(const struct worklist *list, const char *id);

/* "markdown", "plan" and so on. */
const char *worklist_model_format(enum worklist_format format);

#endif
