/* Building a list: internal to this folder. */
#ifndef WORKLIST_WORKLIST_BUILD_H
#define WORKLIST_WORKLIST_BUILD_H

#include "util/error.h"
#include "worklist/worklist_model.h"

#include <jansson.h>

/* A list that is read. */
struct worklist_build {
	struct worklist *list;
	const char *path;
	const char *bytes; /* valid UTF-8, ends in NUL */
	size_t size;
	size_t first;        /* the first item of this file */
	size_t line, offset; /* of a line that was looked up; from 0 */
	struct error *err;
};

/* Adds an item of the file at this line. Returns it, or NULL with err set if there are too many. It
 * is valid until the next one is added. */
struct worklist_item *worklist_build_item(struct worklist_build *build, size_t line);

/* Adds a note, unless there are too many. */
void worklist_build_note(struct worklist_build *build, size_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the title: the text without white space around it, in one line. */
void worklist_build_title(struct worklist_item *item, const char *text, size_t size);

/* Sets the id: the given one, or one made of the title. One that another item of the file has gets
 * a number. */
void worklist_build_id(struct worklist_build *build, struct worklist_item *item, const char *given);

/* Adds a place that says whether the item is done. Its texts are constants. */
void worklist_build_mark(struct worklist_item *item, const struct worklist_mark *mark);

/* Adds what prose says about dependencies: "depends on #3", "blocked by: T1 and T2". */
void worklist_build_references(struct worklist_item *item, const char *text);

/* Sets the prompt of an item: the title, the text (may be NULL), and that it is one of a list. */
void worklist_build_prompt(struct worklist_build *build, struct worklist_item *item,
			   const char *text);

/* The readers. All return 0, or -1 with err set. */
int worklist_markdown_read(struct worklist_build *build);
int worklist_plan_read(struct worklist_build *build);
int worklist_prd_read(struct worklist_build *build, const json_t *root);
int worklist_github_read(struct worklist_build *build, const json_t *root);
int worklist_beads_read(struct worklist_build *build);
int worklist_yaml_read(struct worklist_build *build);

/* Reports whether the text has sections of a plan. */
bool worklist_plan_is(const char *bytes, size_t size);

#endif
