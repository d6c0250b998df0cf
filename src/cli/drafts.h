/* Shared by the commands for drafts: running a command in one, and applying it. */
#ifndef CLI_DRAFTS_H
#define CLI_DRAFTS_H

#include "cli/loops.h"
#include "draft/draft_record.h"
#include "fence/fence_plan.h"
#include "settings/effective.h"

/* A command's stay in a draft. */
struct drafts_stay {
	struct draft_record record;
	struct fence_plan before; /* for the project itself */
};

/* Opens the draft with this id, or a new one if id is NULL, and moves this process to its writable
 * view, so that effective->spec runs there. Returns 0 with a stay that the caller releases, or -1 with err
 * set. */
int drafts_enter(const char *id, struct effective *effective, struct drafts_stay *ret_stay,
		 struct error *err);
void drafts_release(struct drafts_stay *stay);

/* Saves the result of a command that ended with this status, and prints what it changed and how to
 * go on. Returns the exit status: the command's, or that of a failure. */
int drafts_leave(const char *state, struct draft_record *record, int code, struct error *err);

/* Removes a new draft in which no command has run, and releases its record. */
void drafts_abandon(const char *state, struct draft_record *record);

/* Returns whether there is a draft with this id. */
bool drafts_exists(const struct loops_options *opts, const char *id);

/* Applies the draft that the first argument names, or only the paths that follow. Returns the exit
 * status. */
int drafts_apply(const struct loops_options *opts, struct error *err);

#endif
