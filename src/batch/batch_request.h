/* Requests of a person about one task of a batch. */
#ifndef BATCH_BATCH_REQUEST_H
#define BATCH_BATCH_REQUEST_H

#include "batch/batch_state.h"
#include "util/error.h"

/*
 * Reads a request about the task with this id: "retry" it if it has failed, or "pick" it among
 * candidates. Returns 1 with the event that records it, 0 if the request is not about a task, or -1
 * with err set if it is refused.
 */
int batch_request_read(const struct batch_state *state, const char *wish, const char *id,
		       enum batch_event *ret_event, struct error *err);

#endif
