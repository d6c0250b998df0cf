/* Takes the changes of a draft over into the project, or undoes that. */
#ifndef OPS_OP_DRAFT_APPLY_H
#define OPS_OP_DRAFT_APPLY_H

#include "ops/op_draft.h"
#include "snapshot/snapshot.h"
#include "util/list.h"

/* A change that is not applied, or only in part. */
struct op_draft_apply_part {
	uint64_t number;
	char *choice; /* what of the file to apply (snapshot/undo/hunks.h), or NULL for nothing */
};

/* The parts of what a preview has shown that the user chose. They have reviewed every one of them,
 * so there is no question left. */
struct op_draft_apply_choice {
	const char *shown; /* the preview's */
	const struct op_draft_apply_part *parts;
	size_t count;
};

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
	const struct op_draft_apply_choice *choice; /* or NULL */
	/* Called every few seconds while a step takes long, with what is done; or NULL. */
	snapshot_progress_fn *progress;
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
struct op_draft_apply_output {
	int fd;
	bool terminal, color;
};
int op_draft_apply_show(const struct op_draft_apply_request *request,
			const struct op_draft_apply_result *result, enum path_group group,
			const struct op_draft_apply_output *output, struct error *err);

#endif
