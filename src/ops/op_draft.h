/*
 * Drafts: rehearse a command, list what it has changed, or discard it. op_draft_apply.h takes the
 * changes over.
 *
 *	op_draft_open()		opens a draft; op_draft_new.h makes one
 *	draft_enter()		(draft/draft.h) then run the command in the fence
 *	op_draft_end()		saves the result; still in the view
 */
#ifndef OPS_OP_DRAFT_H
#define OPS_OP_DRAFT_H

#include "draft/draft_record.h"
#include "fence/fence_spec.h"
#include "ops/apply_changes.h"
#include "ops/op.h"

struct op_draft_open_request {
	const char *state;
	const char *id;
	const char *project;
	char *const *command; /* for the record */
};

/* Opens a draft for another command, and locks it. That of a running loop is not locked, and may
 * only be read. Returns OP_NOT_FOUND if there is no such draft, or OP_RUNNING if another command
 * runs in it. The caller releases the record. */
enum op_status op_draft_open(const struct op_draft_open_request *request,
			     struct draft_record *ret_record, struct error *err);

/* Returns a command as a line for a shell, cut if it is very long. The caller frees it. */
char *op_draft_line(char *const *command);

/* All that a draft has changed so far. */
struct op_draft_summary {
	struct apply_changes changes; /* as apply would show them */
	bool ignored;                 /* also ignored files, which are not in the list */
};

/* Adds what shows git in the draft of a loop as its agent sees it: the mounts of the private git
 * directory, read-only if the record is not locked, or a rule that makes .git read-only. Returns 0,
 * or -1 with err set. */
int op_draft_show_git(const char *state, const struct draft_record *record, struct fence_spec *spec,
		      struct error *err);

/* Saves the result of the command, with its exit status. The caller releases the changes. */
enum op_status op_draft_end(const char *state, struct draft_record *record, int64_t code,
			    struct op_draft_summary *ret_summary, struct error *err);

/* Describes the draft of a loop, whose record cannot be written. Returns 0, or -1 without one. */
int op_draft_of_loop(const struct client_loop *loop, struct draft_record *ret_record);

/* Finds the draft of a command or of a loop. The record of a loop's draft cannot be written.
 * Returns 0, or -1 with err set; the status is ERROR_NOT_FOUND if there is none. */
int op_draft_find(const char *state, const char *id, struct draft_record *ret_record,
		  struct error *err);

/* Lists all drafts of commands, and the drafts of the loops of a project, or of all loops if
 * project is NULL; the oldest first. Returns 0, or -1 with err set. */
int op_draft_list(const char *state, const char *project, struct draft_records *ret_records,
		  struct error *err);

/* Locks a draft, so that nothing runs in it. Returns 0, or -1 with err set; the status is
 * ERROR_BUSY if something does. */
int op_draft_lock(const char *state, struct draft_record *record, struct error *err);

/* Finds the pinned files that the agent changed (apply_pins.h), if this is the draft of a loop. The
 * caller releases the list. Returns 0, or -1 with err set. */
int op_draft_find_pins(const char *state, const struct draft_record *record, json_t **ret_pins,
		       struct error *err);

/* Removes a draft with its checkpoints, and adds the freed bytes. */
enum op_status op_draft_discard(const char *state, const char *id, uint64_t *bytes,
				struct error *err);

#endif
