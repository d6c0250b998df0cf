/* Removing loops that have stopped, with their logs, checkpoints and work trees. */
#ifndef OPS_OP_CLEAN_H
#define OPS_OP_CLEAN_H

#include "ops/op.h"
#include "util/list.h"

#include <stdint.h>

/* One loop, or all that began at least so long ago. */
struct op_clean_request {
	const char *state;   /* Ringfence's own folder */
	const char *loop;    /* an id; NULL: by age */
	const char *project; /* by age: of this project; NULL: of every one */
	int64_t older_ms;
	int64_t now_ms; /* since 1970 */
	bool branches;  /* also a branch whose commits no other branch has */
	struct op_answer answer;
};

struct op_clean_result {
	struct op_question question; /* the loops that are meant */
	struct list removed;         /* ids */
	struct list kept_branches;   /* ids of loops whose branch stays */
	uint64_t freed_bytes;
};

/* OP_UNCHANGED: no loop is old enough. OP_RUNNING: the loop is at work. When it fails,
 * `removed` has the loops that are gone already. */
enum op_status op_clean(const struct op_clean_request *request, struct op_clean_result *ret_result,
			struct error *err);
void op_clean_release(struct op_clean_result *result);

#endif
