/*
 * Drafts: rehearse a command, take its changes over into the project, undo that, or discard them.
 *
 *	op_draft_begin()	saves the project as the draft's base, and makes the draft
 *	draft_enter()		(draft/draft.h) then run the command in the fence
 *	op_draft_end()		saves the result; still in the view
 */
#ifndef OPS_OP_DRAFT_H
#define OPS_OP_DRAFT_H

#include "draft/draft.h"
#include "draft/draft_record.h"
#include "fence/fence_spec.h"
#include "ops/apply_changes.h"
#include "ops/op.h"
#include "util/list.h"

struct op_draft_begin_request {
	const char *state;
	const char *id;             /* an existing draft, or NULL for a new one */
	char *const *command;       /* for the record */
	struct draft_request draft; /* of the project; view.folder is set here */
	uint64_t most_bytes;        /* of all drafts: no new one is made above this; 0: no limit */
	int64_t age_ms;             /* a new draft removes spent ones that are older; 0: no limit */
};

/* How a new draft was made. */
struct op_draft_made {
	struct draft_made draft;
	size_t removed; /* spent drafts */
	uint64_t freed_bytes;
};

/* Creates a draft, or continues an existing one, and locks it. That of a running loop is not
 * locked: the command may only read it. Returns OP_NOT_FOUND if there is no such draft, or
 * OP_RUNNING if another command runs in it. The caller releases the record. *ret_made is about a
 * new draft, also if this fails. */
enum op_status op_draft_begin(const struct op_draft_begin_request *request,
			      struct draft_record *ret_record, struct op_draft_made *ret_made,
			      struct error *err);

/* All that a draft has changed so far. */
struct op_draft_summary {
	struct apply_changes changes; /* as apply would show them */
	bool ignored;                 /* also ignored files, which are not in the list */
};

/* Finds the mounts that show the private git directory of a loop, if this is the draft of one and
 * it has such a directory; read-only if the record is not locked. The caller releases them. Returns
 * 0, or -1 with err set. */
int op_draft_covers(const char *state, const struct draft_record *record,
		    struct fence_covers *ret_covers, struct error *err);

/* Saves the result of the command, with its exit status. The caller releases the changes. */
enum op_status op_draft_end(const char *state, struct draft_record *record, int64_t code,
			    struct op_draft_summary *ret_summary, struct error *err);

/* A change that is not applied, or only in part. */
struct op_draft_part {
	uint64_t number;
	char *choice; /* what of the file to apply (snapshot/undo/hunks.h), or NULL for nothing */
};

/* The parts of what a preview has shown that the user chose. They have reviewed every one of them,
 * so there is no question left. */
struct op_draft_choice {
	const char *shown; /* the preview's */
	const struct op_draft_part *parts;
	size_t count;
};

/* Reports whether the files of a loop's draft were applied, as a whole or in parts, and not taken
 * back. */
bool op_draft_is_applied(const char *state, const struct client_loop *loop);

/* Finds the draft of a command or of a loop. The record of a loop's draft cannot be written.
 * Returns 0, or -1 with err set; the status is ERROR_NOT_FOUND if there is none. */
int op_draft_find(const char *state, const char *id, struct draft_record *ret_record,
		  struct error *err);

/* Lists all drafts of commands, and the drafts of the loops of a project, or of all loops if
 * project is NULL; the oldest first. Returns 0, or -1 with err set. */
int op_draft_list(const char *state, const char *project, struct draft_records *ret_records,
		  struct error *err);

struct op_draft_apply_request {
	const char *state;
	const char *id;
	const struct list *paths; /* only these, relative to the project; empty: everything */
	bool undo;                /* take back the last apply that is left */
	bool dry;                 /* change nothing */
	bool hunks;               /* preview the hunks of each file */
	bool ignored;             /* also apply ignored files; an undo always takes them back */
	struct op_answer answer;  /* to the questions about all groups */
	struct op_answer answers[PATH_GROUP_COUNT]; /* to the question about each group */
	const struct op_draft_choice *choice;       /* or NULL */
	/* Called every few seconds while a step takes long, with what is done; or NULL. */
	void (*progress)(const char *what);
};

struct op_draft_apply_result {
	struct draft_record record;
	int64_t from, to;             /* the checkpoints between which the changes are */
	struct apply_changes changes; /* as they would be made, or have been */
	json_t *pins;                 /* that the agent changed (apply_pins.h); or NULL */
	char *shown;                  /* stands for exactly these, in the project as it is now */
	/* About the files of each group that needs a yes; without items if there are none. */
	struct op_question questions[PATH_GROUP_COUNT];
	enum path_group asked; /* with OP_ASKS: the first group that waits for an answer */
	struct list left;      /* the paths of groups that were declined; they stay in the draft */
	struct list conflicts; /* a sentence each */
	struct list merged;    /* files with changes of both sides */
	struct list kept;      /* folders that hold ignored files */
	uint64_t written, removed, adjusted;
	bool recovered; /* an interrupted operation was completed first */
};

/* Returns OP_UNCHANGED if there is nothing to do, everything was declined, or `dry` is set;
 * OP_REFUSED if there are conflicts; OP_RUNNING if a command runs in the draft, or a loop in the
 * project. A group that is declined stays in the draft, and the rest is applied. */
enum op_status op_draft_apply(const struct op_draft_apply_request *request,
			      struct op_draft_apply_result *ret_result, struct error *err);
void op_draft_apply_release(struct op_draft_apply_result *result);

/* Prints what changes in a group, as a patch. result: of op_draft_apply(), which asks. Returns 0,
 * or -1 with err set. */
struct op_draft_output {
	int fd;
	bool terminal, color;
};
int op_draft_show(const struct op_draft_apply_request *request,
		  const struct op_draft_apply_result *result, enum path_group group,
		  const struct op_draft_output *output, struct error *err);

/* Finds the checkpoint of the last apply that was not taken back: 0 if the draft is not applied.
 * Returns 0, or -1 with err set. */
int op_draft_find_apply(const char *state, const struct draft_record *record, int64_t *ret_number,
			struct error *err);

/* Removes a draft with its checkpoints, and adds the freed bytes. */
enum op_status op_draft_discard(const char *state, const char *id, uint64_t *bytes,
				struct error *err);

#endif
