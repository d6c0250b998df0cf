/* The report of a run as JSON, and the copy that is kept for `ringfence suggest`. */
#ifndef FENCE_FENCE_REPORT_H
#define FENCE_FENCE_REPORT_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "util/buffer.h"

/* Appends the report; plan may be NULL. */
void fence_report_write(const struct fence_plan *plan, const struct fence_result *result,
			struct buffer *out);

/* Keeps a report for `ringfence suggest` if something was denied. If nothing was, removes the one
 * that is kept for this project. */
void fence_report_keep(const struct fence_plan *plan, const struct fence_result *result,
		       const struct buffer *json);

/* The path of the kept report; the caller frees. */
char *fence_report_kept(const char *state, const char *project);

#endif
