/*
 * The client of ringfence-snapshot, for the supervisor and the commands. All work on checkpoints
 * and git repositories happens in that separate process; callers pass it a request and read its
 * answer.
 *
 * Taking a checkpoint trusts nothing in the project: no hook, filter, attribute or git
 * configuration of the project is read, no symlink is followed, and the ignore rules are those
 * recorded with the first checkpoint.
 */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H

#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

/* The kinds of the checkpoints after an apply of a draft, and after an undo of a whole one. */
#define SNAPSHOT_APPLY   "apply"
#define SNAPSHOT_UNAPPLY "unapply"

/*
 * A request: a task and its arguments as KEY=VALUE. snapshot_begin() sets the arguments that every
 * task needs.
 */
struct snapshot_work {
	struct list arguments;
};

/* A running task. */
struct snapshot_job {
	pid_t pid;  /* 0 if nothing is running */
	int answer; /* becomes readable when the task has ended */
};

#define SNAPSHOT_JOB_INIT ((struct snapshot_job){ .answer = -1 })

/* name: a task in the table of main.c. state: Ringfence's state folder. */
void snapshot_begin(struct snapshot_work *work, const char *name, const char *state,
		    const char *project, const char *loop);
void snapshot_tell(struct snapshot_work *work, const char *key, const char *value);
void snapshot_tell_number(struct snapshot_work *work, const char *key, int64_t value);
void snapshot_release(struct snapshot_work *work);

/*
 * Starts the task. output: its stdout, or -1. It is killed when this process dies, and holds `lock`
 * (or -1) until it ends. Returns 0, or -1 with err set.
 */
int snapshot_start(const struct snapshot_work *work, int output, int lock,
		   struct snapshot_job *ret_job, struct error *err);

/*
 * Waits for the task to end. Returns 0 with its answer, which the caller releases; or -1 with err
 * set to the error and status that the task reported, or to ERROR_DIED and the signal that killed
 * it.
 */
int snapshot_end(struct snapshot_job *job, json_t **ret_answer, struct error *err);

/* Tells what takes so long. */
#define SNAPSHOT_SAVING "saving the project as it is now (later only what changes is read)"
typedef void snapshot_progress_fn(const char *what);

/* Waits until the task has ended, and calls `progress`, unless it is NULL, every few seconds. */
void snapshot_await(const struct snapshot_job *job, snapshot_progress_fn *progress,
		    const char *what);

/* Kills the task if it is running, and forgets its answer. */
void snapshot_cancel(struct snapshot_job *job);

/* Starts the task and waits for it. */
int snapshot_run(const struct snapshot_work *work, int output, json_t **ret_answer,
		 struct error *err);

/* Runs a task whose output is JSON, and returns the output, which the caller releases, or NULL with
 * err set. */
json_t *snapshot_read(const struct snapshot_work *work, struct error *err);

/* Returns the path of a project's checkpoint repository; the caller frees it. */
char *snapshot_place(const char *state, const char *project);

#endif
