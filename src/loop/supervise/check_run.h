/* One run of a check. */
#ifndef LOOP_SUPERVISE_CHECK_RUN_H
#define LOOP_SUPERVISE_CHECK_RUN_H

#include "loop/run/work.h"
#include "util/buffer.h"

struct check_run_request {
	size_t index;
	const char *command;
	bool final;                /* the agent never sees it */
	bool apart;                /* not one of the loop's checks */
	const char *folder, *name; /* of its logs */
	const struct work_view *view;
	int64_t timeout_ms;    /* 0: that of the checks */
	struct buffer *output; /* gets what it printed; or NULL */
};

/* Runs a check. Returns its result, as an event has it, or NULL if the loop or this attempt has
 * ended instead; *ret_ended is then 0, or -1 with err set. */
json_t *check_run(struct supervisor *sup, const struct check_run_request *run, int *ret_ended,
		  struct error *err);

#endif
