/* Restores a project, or one path in it, from a checkpoint of a loop. */
#ifndef OPS_OP_ROLLBACK_H
#define OPS_OP_ROLLBACK_H

#include "fence/fence_found.h"
#include "ops/op.h"
#include "ops/op_draft_applied.h"
#include "util/list.h"

#include <jansson.h>
#include <stdint.h>

struct op_rollback_request {
	struct op_target target;
	int64_t checkpoint;
	const char *path; /* in the project, or NULL for all files */

	/* Abort a loop that is running in the project. This happens before the question, because
	 * the list of changes is not final while an agent works. */
	bool stop;
	struct op_answer answer;
};

struct op_rollback_result {
	struct client_loop loop;
	struct op_question question; /* the paths that will change */
	int64_t saved;               /* the checkpoint that holds the previous state */
	int64_t written, removed, adjusted;
	struct list kept; /* folders kept because of ignored or unreadable files */
	struct fence_found quarantined;
	enum op_draft_applied applied; /* what the user has taken over, which a rollback keeps */
	char *behind;    /* why the branch of a loop on a draft did not follow, or NULL */
	json_t *details; /* all numbers and lists, for JSON output; NULL until it is done */
};

/* Names what a rollback changes: "the project", "the loop's work tree '/x'", or the path. The
 * caller frees it. */
char *op_rollback_subject(const struct op_rollback_request *request,
			  const struct client_loop *loop);

/* Returns OP_NOT_FOUND if there is no such loop or checkpoint, or OP_RUNNING if a loop is running
 * and `stop` is not set. If a rollback is interrupted, the next one finishes it. */
enum op_status op_rollback(const struct op_rollback_request *request,
			   struct op_rollback_result *ret_result, struct error *err);
void op_rollback_release(struct op_rollback_result *result);

#endif
