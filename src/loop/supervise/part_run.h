/* One run of a part of the loop (loop_part.h): of an agent, or of a reviewer. */
#ifndef LOOP_SUPERVISE_PART_RUN_H
#define LOOP_SUPERVISE_PART_RUN_H

#include "loop/run/work.h"
#include "loop/supervise/supervisor.h"
#include "util/buffer.h"

/* Gives a part its prompt, of which a copy is kept beside its output. Returns 0, or -1 with err
 * set. */
int part_run_prompt(struct work *work, struct buffer *prompt, struct error *err);

/* Runs a part to its end, and records it. Returns 0, or -1 with err set. */
int part_run(struct supervisor *sup, struct work *work, struct error *err);

#endif
