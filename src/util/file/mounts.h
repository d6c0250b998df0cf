/* The mount table of this process. */
#ifndef UTIL_FILE_MOUNTS_H
#define UTIL_FILE_MOUNTS_H

#include "util/error.h"

#include <stdint.h>

/* Called for each mount with its device (as in st_dev) and mount point. Returns 0 to continue, or
 * -1 with err set. */
typedef int mounts_fn(void *context, uint64_t device, const char *path, struct error *err);

/* Calls `look` for each mount. Returns 0, or -1 with err set, by the callback or because the table
 * cannot be read. */
int mounts_each(mounts_fn *look, void *context, struct error *err);

#endif
