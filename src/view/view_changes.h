/*
 * The changes of a loop: the files that differ from when it began, the diff of one or all of them,
 * and signs that they weaken the checks. They are those of the project, work tree or draft as it is
 * now; of a loop that has ended, those of its last checkpoint.
 *
 * ringfence-snapshot compares, which takes a while in a large project. So a comparison is a job:
 *
 *	view_changes_start(&request, &job, &err);
 *	... wait until job.work.answer is readable, with others ...
 *	view_changes_end_files(&job, &changes, &err);
 *
 * Paths and diffs are untrusted text, and not escaped.
 */
#ifndef VIEW_VIEW_CHANGES_H
#define VIEW_VIEW_CHANGES_H

#include "loop/client.h"
#include "snapshot/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	VIEW_CHANGES_MOST = 10000,    /* files of a list; findings */
	VIEW_CHANGES_BYTES = 4 << 20, /* of a diff */
	VIEW_CHANGES_LIST = 64 << 20, /* of a list as ringfence-snapshot prints it */
};

enum view_changes_kind { VIEW_CHANGES_FILES, VIEW_CHANGES_DIFF, VIEW_CHANGES_FINDINGS };

struct view_changes_request {
	const char *state; /* Ringfence's state folder */
	const struct client_loop *loop;
	enum view_changes_kind kind;
	const char *path; /* of a diff: this file or folder alone; NULL: all */
};

struct view_changes_job {
	struct snapshot_job work;
	int output;
};

#define VIEW_CHANGES_JOB_INIT ((struct view_changes_job){ SNAPSHOT_JOB_INIT, -1 })

struct view_change {
	char *path, *from; /* from: the earlier path of a renamed file, or NULL */
	char *status;      /* added, deleted, modified, renamed, mode */
	bool binary;
	uint64_t added, removed; /* lines */
	uint64_t bytes;          /* of the new content */
};

struct view_changes {
	struct view_change *items; /* in the order of their paths */
	size_t count;
	size_t unlisted;         /* files beyond VIEW_CHANGES_MOST */
	uint64_t added, removed; /* lines of all files */
};

struct view_diff {
	struct buffer text; /* as git prints it */
	bool cut;           /* it is longer than VIEW_CHANGES_BYTES: whole lines of its beginning */
};

/* Begins a request to ringfence-snapshot about the checkpoints of a loop. */
void view_changes_begin(const char *state, const struct client_loop *loop, const char *task,
			struct snapshot_work *ret_work);

/* Returns whether an agent may be changing the files of the loop. */
bool view_changes_live(const char *state, const struct client_loop *loop);

/* Returns 0, or -1 with err set: ERROR_NOT_FOUND if the loop has no checkpoint yet. */
int view_changes_start(const struct view_changes_request *request, struct view_changes_job *ret_job,
		       struct error *err);

/* Wait for a job, by its kind, and end it. Return 0, or -1 with err set. */
int view_changes_end_files(struct view_changes_job *job, struct view_changes *ret_changes,
			   struct error *err);
int view_changes_end_diff(struct view_changes_job *job, struct view_diff *ret_diff,
			  struct error *err);

/* An array of objects with kind, action, path, line, says and evidence, which the caller owns. */
int view_changes_end_findings(struct view_changes_job *job, json_t **ret_findings,
			      struct error *err);

/* Kills a job if it is running. */
void view_changes_cancel(struct view_changes_job *job);

void view_changes_release(struct view_changes *changes);
void view_changes_release_diff(struct view_diff *diff);

#endif
