/* Signs in the differences between two trees that they weaken the checks (detect/detect.h). */
#ifndef SNAPSHOT_UNDO_FINDINGS_H
#define SNAPSHOT_UNDO_FINDINGS_H

#include "snapshot/undo/differ.h"
#include "util/text/json.h"

/* `actions` are changes to the default actions (detect_policy_change()). Findings whose action is
 * "off" are left out. Both functions return 0, or -1 with err set. */

/* Prints the findings for users or, with style DIFFER_JSON, as JSON. */
int findings_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct list *actions, const struct differ_options *options, FILE *out,
		   struct error *err);

/* Writes the first findings to an answer, and which of them the checks do not see, because they are
 * in pinned files (pinned.h). */
int findings_write(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct list *actions, const struct list *pinned, struct json *json,
		   struct error *err);

/* Writes to an answer what becomes of a line of which no check notices a change. */
int findings_write_untested(const struct list *actions, struct json *json, struct error *err);

#endif
