/* A batch as JSON, for people and other programs. */
#ifndef BATCH_BATCH_REPORT_H
#define BATCH_BATCH_REPORT_H

#include "batch/batch_state.h"
#include "util/error.h"

#include <jansson.h>

/* Returns the batch with this id, without its tasks; status: in one word. The caller owns it. */
json_t *batch_report_summary(const char *id, const char *status, const struct batch_state *state);

/* The same, with its tasks. */
json_t *batch_report_json(const char *id, const char *status, const struct batch_state *state);

/* Writes state.json. Returns 0, or -1 with err set. */
int batch_report_write(const char *folder, const struct batch_state *state, struct error *err);

#endif
