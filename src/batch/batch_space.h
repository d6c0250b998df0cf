/* Disk space: drafts of loops whose result is in that of another one. */
#ifndef BATCH_BATCH_SPACE_H
#define BATCH_BATCH_SPACE_H

#include "batch/batch_run.h"

/* Removes the drafts that nothing needs any more, unless the user wants to keep them. Checkpoints
 * and commits stay. One that is in use, or cannot be removed, is left for the next time. */
void batch_space_free(struct batch_run *run);

#endif
