/* Removes stopped loops with their logs, checkpoints and work trees, old drafts, and old batches. A
 * loop that a batch still needs is not selected by its age. */
#ifndef OPS_OP_CLEAN_H
#define OPS_OP_CLEAN_H

#include "ops/op.h"
#include "util/list.h"

#include <stdint.h>

/* One loop, or all loops and drafts that began at least older_ms ago. */
struct op_clean_request {
	const char *state;   /* Ringfence's state folder */
	const char *loop;    /* an id, or NULL to select by age */
	const char *project; /* by age: only those of this project, or NULL for all */
	int64_t older_ms;
	int64_t now_ms; /* since 1970 */
	bool branches;  /* also remove a branch whose commits no other branch has */
	struct op_answer answer;
};

struct op_clean_result {
	struct op_question question; /* the selected loops and drafts */
	struct list removed;         /* ids */
	size_t drafts, batches;      /* how many of them are drafts, and work lists that were run */
	struct list kept_branches;   /* ids of loops whose branch was kept */
	uint64_t freed_bytes;
};

/* Returns OP_UNCHANGED if nothing is old enough, or OP_RUNNING if the loop is running. On failure,
 * `removed` lists what was removed before. */
enum op_status op_clean(const struct op_clean_request *request, struct op_clean_result *ret_result,
			struct error *err);
void op_clean_release(struct op_clean_result *result);

/* Returns a phrase such as "2 loops and 1 draft". The caller frees it. */
char *op_clean_count(size_t loops, size_t drafts);

#endif
