/*
 * Lists of tasks, in the formats that people have, as one model. Pure functions on bytes.
 *
 *	markdown	boxes: `- [ ] task`; nested boxes belong to the task above them
 *	plan		sections `### Task N: title` with boxes, and `## Validation Commands`
 *	prd		prd.json: {"userStories": [...]}
 *	beads		one JSON object in each line, with `id` and `status`
 *	github		issues, as `gh issue list --json number,title,body,state` prints them
 *	yaml		our own: a list of maps (docs/work.md)
 *
 * Whatever is left out or not understood becomes a note, "FILE:LINE: sentence". A list that would
 * be run in a wrong way (two tasks with one id, a dependency that does not exist) is an error.
 */
#ifndef WORKLIST_WORKLIST_H
#define WORKLIST_WORKLIST_H

#include "util/buffer.h"
#include "util/error.h"
#include "worklist/worklist_model.h"

#include <jansson.h>

/* Adds the items of a list. path: its name, for notes and prompts. Returns 0, or -1 with err set.
 */
int worklist_add(struct worklist *list, const char *path, const char *bytes, size_t size,
		 struct error *err);

/* Resolves the dependencies, when all lists are there. Returns 0, or -1 with err set: one does not
 * exist, or they form a circle. */
int worklist_finish(struct worklist *list, struct error *err);

/* A task as it was when the list was read. */
struct worklist_task {
	const char *id, *title; /* title: NULL for any */
};

/*
 * Writes a list, whose bytes these are now, with these tasks marked as done or not done; no other
 * byte differs. A task is found by its id, and not marked if it has another title by now. Adds a
 * sentence for each one that is not found to `problems`. Returns how many were marked, which leaves
 * out those that are marked already, or that the format cannot mark; if that is 0, nothing is
 * written. Returns -1 with err set if the list cannot be read or is too large.
 */
long worklist_tick_all(const char *path, const char *bytes, size_t size,
		       const struct worklist_task *tasks, size_t count, bool done,
		       struct buffer *ret_bytes, struct list *problems, struct error *err);

/* The same for one item. Returns 1 or 0, or -1 with err set, also if it is not found. */
int worklist_tick(const char *path, const char *bytes, size_t size, const char *id, bool done,
		  struct buffer *ret_bytes, struct error *err);

/* Returns an item as JSON, for the journal and for other programs. The caller owns it. */
json_t *worklist_item_json(const struct worklist *list, const struct worklist_item *item);

#endif
