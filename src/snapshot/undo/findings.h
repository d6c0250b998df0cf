/* Signs in the differences between two trees that they weaken the checks (detect/detect.h). */
#ifndef SNAPSHOT_UNDO_FINDINGS_H
#define SNAPSHOT_UNDO_FINDINGS_H

#include "snapshot/undo/differ.h"
#include "util/text/json.h"

/* Prints the findings for users or, with style DIFFER_JSON, as JSON. Returns 0, or -1 with err
 * set. */
int findings_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct differ_options *options, FILE *out, struct error *err);

/* Writes the first findings to an answer, with their actions: the defaults, and changes to them
 * (detect_policy_change()). Returns 0, or -1 with err set. */
int findings_write(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct list *changes, struct json *json, struct error *err);

#endif
