/* Shared by all commands for checkpoints: finding the loop, paths, requests and the pager. */
#ifndef CLI_CHECKPOINTS_H
#define CLI_CHECKPOINTS_H

#include "cli/loops.h"
#include "snapshot/snapshot.h"

#define CHECKPOINTS_LOOP                                                                  \
	OPTION_TEXT("loop", "LOOP", "use this loop (default: the newest of the project)", \
		    struct loops_options, loop_id)

/* Finds the loop. Returns 0, or -1 with err set. */
int checkpoints_find(struct loops_options *opts, struct error *err);

/* Finds the loop and begins a request about its checkpoints. Returns 0, or -1 with err set. */
int checkpoints_begin(struct loops_options *opts, const char *name, struct snapshot_work *ret_work,
		      struct error *err);

/* Checks that text can be a checkpoint's number. Returns 0, or -1 with err set. */
int checkpoints_check_number(const char *text, struct error *err);

/* Converts a path from the command line to one relative to the project: the loop's, or
 * the given one. "" is the project itself. Returns NULL with err set if it is outside the project.
 * The caller frees the result. */
char *checkpoints_path(const struct loops_options *opts, const char *given, struct error *err);
char *checkpoints_path_in(const char *project, const char *given, struct error *err);

/* Runs the request with its output on stdout, through the pager on a terminal, but not through one
 * that an agent can change. Returns the exit status. */
int checkpoints_print(const struct loops_options *opts, struct snapshot_work *work, bool pager,
		      struct error *err);

#endif
