/* The JSON report of a run. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "fence/fence.h"

/* Replaces the file at path by the report, all or nothing. Returns 0, or -1 with err set. */
int report_write(const char *path, const struct fence_plan *plan, const struct fence_result *result, struct error *err);

/* The same for a run that was refused before there was a plan; `why` may be err itself. */
int report_write_refused(const char *path, int code, struct error *why);

#endif
