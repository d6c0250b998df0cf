/*
 * Loops and batches as metrics, in the text format of Prometheus, version 0.0.4.
 *
 * The number of series is bounded: a loop or a batch that has ended has series of its own only if
 * it is among the newest ones; all that go on have them, up to METRICS_MOST. Labels are escaped and
 * cut.
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "util/buffer.h"
#include "util/error.h"

#include <stddef.h>
#include <stdint.h>

enum { METRICS_NEWEST = 20, METRICS_MOST = 500, METRICS_LABEL = 200 };

/* The type of the text, for HTTP. */
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends the metrics of all loops and batches in a state folder. newest: how many of those that
 * have ended. Returns 0, or -1 with err set. */
int metrics_write(const char *state, size_t newest, int64_t now_ms, struct buffer *out,
		  struct error *err);

/* Appends a label's value with its quotes. */
void metrics_label(struct buffer *out, const char *value);

#endif
