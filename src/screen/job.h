/*
 * Work that takes a while, in a process of its own, so that the screen goes on meanwhile: an action
 * on a loop, or a command of ringfence that prints JSON. The process does not end with the screen:
 * an action that has begun is finished.
 */
#ifndef SCREEN_JOB_H
#define SCREEN_JOB_H

#include "ops/op_action.h"
#include "util/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct job {
	pid_t pid; /* 0 if nothing is running */
	int fd;    /* becomes readable, and ends when the work is done */
	struct buffer out;
};

enum { JOB_BYTES = 16 << 20 };

#define JOB_INIT ((struct job){ .fd = -1 })

/* The outcome of an action. */
struct job_outcome {
	enum op_status status;
	struct op_action_result result;
	struct error err;
};

/* Starts an action. Returns 0, or -1 with err set. */
int job_start_action(struct job *job, const struct op_action_request *request, struct error *err);

/* Starts `ringfence WORDS...`; words end with NULL. Returns 0, or -1 with err set. */
int job_start_command(struct job *job, const char *const *words, struct error *err);

/* Reads what is there, without waiting. Returns whether the work is done; then it must be ended. */
bool job_read(struct job *job);

/* End the job. The caller releases the result (op_action_release()), or the JSON, which is NULL
 * with err set if the command failed. */
void job_end_action(struct job *job, struct job_outcome *ret_outcome);
json_t *job_end_command(struct job *job, struct error *err);

/* Forgets the job, which goes on by itself. */
void job_forget(struct job *job);

#endif
