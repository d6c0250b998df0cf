/* Shared by the commands for drafts: running a command in one, and applying it. */
#ifndef CLI_DRAFTS_H
#define CLI_DRAFTS_H

#include "cli/loops.h"
#include "draft/draft_record.h"
#include "draft/draft_view.h"
#include "ops/op_draft_new.h"
#include "settings/effective.h"
#include "util/list.h"

struct fence_plan;
struct fence_result;

/* Opens the draft with this id for the command of effective->spec. Returns 0 with a record that the
 * caller releases, or -1 with err set. */
int drafts_open(const char *id, const struct effective *effective, struct draft_record *ret_record,
		struct error *err);

/* A new draft for the command of effective->spec, which is made while the fence is planned. The
 * caller releases its record. */
struct drafts_making {
	const struct effective *effective;
	struct op_draft_new new;
};

/* Operations of struct fenced_making. The context is a struct drafts_making. */
int drafts_begin(void *context, struct error *err);
int drafts_wait(void *context, struct error *err);
int drafts_make(void *context, struct fence_plan *before, const char **ret_folder,
		struct error *err);

/* Makes the copy of a project print now and then how far it is. `progress` outlives the request. */
struct drafts_progress {
	int64_t next_ms;
};
void drafts_notice_progress(struct draft_request *request, struct drafts_progress *progress);

/* Prints what takes so long. */
void drafts_notice_step(const char *what);

/* Returns that, or NULL where nobody looks on. */
snapshot_progress_fn *drafts_saving(void);

/* Prints why a draft is a copy, and what is not in it. */
void drafts_notice_made(const struct draft_made *made);

/* How a command ended. */
struct drafts_run {
	int code;            /* its exit status */
	struct list refused; /* hosts that it could not connect to */
};

/* Lists the hosts that a command was refused; the caller releases the list. */
void drafts_hosts(const struct fence_result *result, struct list *ret_hosts);

/* Saves the result of a command, and prints what it changed and how to go on. Returns the exit
 * status: the command's, or that of a failure. */
int drafts_leave(const char *state, struct draft_record *record, const struct drafts_run *run,
		 struct error *err);

/* Returns whether there is a draft with this id. */
bool drafts_exists(const struct loops_options *opts, const char *id);

/* Applies the draft that the first argument names, or only the paths that follow. Returns the exit
 * status. */
int drafts_apply(const struct loops_options *opts, struct error *err);

#endif
