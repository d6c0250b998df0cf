/* Signs in the differences between two trees that they weaken the checks (detect/detect.h). */
#ifndef SNAPSHOT_UNDO_FINDINGS_H
#define SNAPSHOT_UNDO_FINDINGS_H

#include "snapshot/undo/differ.h"

/* Prints the findings for users or, with style DIFFER_JSON, as JSON. Returns 0, or -1 with err
 * set. */
int findings_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct differ_options *options, FILE *out, struct error *err);

#endif
