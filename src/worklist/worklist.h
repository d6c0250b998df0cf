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

/*
 * Writes a list, whose bytes these are now, with one item marked as done or not done; no other byte
 * differs. Items that were edited since are found by their id. Returns 1, or 0 if the list says so
 * already or its format cannot, or -1 with err set.
 */
int worklist_tick(const char *path, const char *bytes, size_t size, const char *id, bool done,
		  struct buffer *ret_bytes, struct error *err);

/* Returns an item as JSON, for the journal and for other programs. The caller owns it. */
json_t *worklist_item_json(const struct worklist *list, const struct worklist_item *item);

#endif
