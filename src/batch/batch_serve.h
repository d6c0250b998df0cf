/* Serves the requests of commands to a batch that runs. */
#ifndef BATCH_BATCH_SERVE_H
#define BATCH_BATCH_SERVE_H

#include "batch/batch_run.h"

/* Begins to listen in the batch's folder. Returns 0, or -1 with err set. */
int batch_serve_open(struct batch_run *run, struct error *err);
void batch_serve_close(struct batch_run *run);

#endif
