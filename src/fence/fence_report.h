/* The JSON report of a run, and the copy kept for `ringfence suggest`. */
#ifndef FENCE_FENCE_REPORT_H
#define FENCE_FENCE_REPORT_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "util/buffer.h"

/* Appends the report; plan may be NULL. */
void fence_report_write(const struct fence_plan *plan, const struct fence_result *result,
			struct buffer *out);

/* Saves the report for `ringfence suggest` if something was denied; otherwise removes the one saved
 * for this project. */
void fence_report_keep(const struct fence_plan *plan, const struct fence_result *result,
		       const struct buffer *json);

/* Returns the path of the saved report. The caller frees it. */
char *fence_report_kept(const char *state, const char *project);

#endif
