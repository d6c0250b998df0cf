/*
 * Checkpoints of a project, seen by those who ask for them: the supervisor and the commands. The work is done
 * by ringfence-snapshot, a process of its own; what it is told and what it answers is all that others
 * know of it.
 *
 * A checkpoint is taken without any help of the project: no hook, filter, attribute or configuration of it is
 * looked at, no symlink is followed, and ignore rules are those of the first checkpoint.
 */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H

#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a piece of work is told, as KEY=VALUE; snapshot_begin() makes the first ones. */
struct snapshot_work {
	struct list arguments;
};

/* A piece of work under way. */
struct snapshot_job {
	pid_t pid;  /* 0: there is none */
	int answer; /* readable when it has ended */
};

#define SNAPSHOT_JOB_INIT ((struct snapshot_job){ .answer = -1 })

/* name: of a work in the table of main.c. state: Ringfence's own folder. */
void snapshot_begin(struct snapshot_work *work, const char *name, const char *state,
		    const char *project, const char *loop);
void snapshot_tell(struct snapshot_work *work, const char *key, const char *value);
void snapshot_tell_number(struct snapshot_work *work, const char *key, int64_t value);
void snapshot_release(struct snapshot_work *work);

/* Starts it. output: its stdout (-1: none). It ends when this process does, and holds `lock` (-1: none) until
 * then. Returns 0, or -1 with err set. */
int snapshot_start(const struct snapshot_work *work, int output, int lock,
		   struct snapshot_job *ret_job, struct error *err);

/* Waits for its end. Returns 0 with its answer, which is the caller's; or -1 with err set: it says why it
 * failed, with its status, or was killed. */
int snapshot_end(struct snapshot_job *job, json_t **ret_answer, struct error *err);

/* Both; for those who have nothing else to do. */
int snapshot_run(const struct snapshot_work *work, int output, json_t **ret_answer,
		 struct error *err);

/* Where the checkpoints of a project are; the caller frees. */
char *snapshot_place(const char *state, const char *project);

#endif
