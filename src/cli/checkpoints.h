/* What the commands for checkpoints share: which loop is meant, paths, the pager, and how work is asked for. */
#ifndef CLI_CHECKPOINTS_H
#define CLI_CHECKPOINTS_H

#include "cli/loops.h"
#include "snapshot/snapshot.h"

#define CHECKPOINTS_LOOP                                                               \
	OPTION_TEXT("loop", "LOOP", "another loop than the newest one of the project", \
		    struct loops_options, loop_id)

/* Finds the loop. Returns 0, or -1 with err set. */
int checkpoints_find(struct loops_options *asked, struct error *err);

/* Finds the loop, and begins a piece of work on its checkpoints. Returns 0, or -1 with err set. */
int checkpoints_begin(struct loops_options *asked, const char *name, struct snapshot_work *ret_work,
		      struct error *err);

/* A number of a checkpoint. Returns 0, or -1 with err set. */
int checkpoints_number(const char *text, struct error *err);

/* A path as it was given, as one in the project; the caller frees. NULL with err set. */
char *checkpoints_path(const struct loops_options *asked, const char *given, struct error *err);

/* Does the work with what it prints on stdout; on a terminal through the pager. Returns the exit status. */
int checkpoints_print(struct snapshot_work *work, bool pager, struct error *err);

#endif
