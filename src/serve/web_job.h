/*
 * Processes that answer a request each, so that the server never waits for a disk, for git or for a
 * loop. At most so many run at a time; others wait in a queue, and beyond that they are refused.
 *
 * A process reads its request from descriptor 0 and writes its answer to descriptor 1. One that
 * only reads dies with the server, and is killed if it takes too long or nobody waits for it any
 * more. One that acts is never killed.
 */
#ifndef SERVE_WEB_JOB_H
#define SERVE_WEB_JOB_H

#include "util/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	WEB_JOB_READING = 6, /* at a time */
	WEB_JOB_ACTING = 4,
	WEB_JOB_RUNNING = WEB_JOB_READING + WEB_JOB_ACTING,
	WEB_JOB_MOST = 64, /* running and waiting */
	WEB_JOB_READ_MS = 60 * 1000,
	WEB_JOB_ACT_MS = 300 * 1000, /* then the answer is not waited for */
};

/* Called once, when a job has ended: with its answer, which the function owns; or with -1. */
typedef void web_job_fn(void *context, int answer, bool timed_out);

struct web_job {
	bool used, acts;
	uint64_t number;     /* the order of the queue */
	int request, answer; /* memory files */
	pid_t pid;           /* 0: it waits */
	int pidfd;
	uint64_t until_ms;
	web_job_fn *done; /* NULL: nobody waits for it */
	void *context;
};

struct web_job_list {
	int program;       /* of ringfence */
	const char *state; /* the state folder */
	struct web_job jobs[WEB_JOB_MOST];
	uint64_t next;
};

void web_job_init(struct web_job_list *jobs, int program, const char *state);

/* Kills those that only read. */
void web_job_close(struct web_job_list *jobs);

/* Queues a job. Returns it, or NULL with err set: ERROR_BUSY if there are too many. */
struct web_job *web_job_add(struct web_job_list *jobs, bool acts, const char *request, size_t size,
			    web_job_fn *done, void *context, struct error *err);

/* Nobody waits for this job any more. */
void web_job_abandon(struct web_job *job);

/* Adds the descriptors to wait for to an array with room for WEB_JOB_RUNNING. Returns the number;
 * *timeout_ms (-1: none) is lowered to the first deadline. */
size_t web_job_poll(const struct web_job_list *jobs, struct pollfd *fds, int *timeout_ms);

/* Ends the jobs that are over, and starts the next ones. */
void web_job_work(struct web_job_list *jobs);

/* Starts a part of ringfence that serves this server: `ringfence serve-part NAME STATE`. It leads a
 * process group of its own. Returns its pid, or -1 with errno. */
pid_t web_job_start(const struct web_job_list *jobs, const char *name, int input, int output,
		    bool dies_with_us);

#endif
