/* One command line in the fence, until everything that it started has ended. */
#ifndef LOOP_RUN_WORK_H
#define LOOP_RUN_WORK_H

#include "agent/agent.h"
#include "loop/supervise/supervisor.h"

/* A throw-away view of the project (verification.h). */
struct work_view {
	const char *folder; /* of the view's own changes (draft/draft.h) */
	const char *over;   /* the draft that the loop works on, or NULL */
	const char *front;  /* files in place of the agent's, or NULL */
};

struct work {
	const char *command;
	bool final;                   /* a final check: it sees the folder that is held out */
	const struct work_view *view; /* where it runs; NULL: where the agent works */
	const char *input;            /* for its stdin */
	size_t size;
	int64_t timeout_ms;
	const char *
		/*
		 * For the output, FOLDER/NAMEstdout.log and FOLDER/NAMEstderr.log, and
		 * FOLDER/NAMEreport.json.
		 */
		folder;
	const char *name;
	const struct agent_format *format; /* parses stdout as it arrives, or NULL */
	const char *session;               /* RINGFENCE_SESSION in its environment, or NULL */
	const char *keep;                  /* RINGFENCE_KEEP: a folder that it may write, or NULL */
	const char *login;                 /* RINGFENCE_LOGIN, or NULL */
};

/* Makes the supervisor watch the run. */
void work_watch(struct supervisor *sup);

/*
 * Runs the command to its end, while the supervisor keeps answering. A run that exceeds its budget
 * is stopped. Its output and messages stay in sup->run until work_forget(). A view that is not
 * there, because the process that mounts it died, is tried again (retry.h). Returns 0, or -1 with
 * err set if it was not started.
 */
int work_run(struct supervisor *sup, const struct work *work, struct runner_result *ret_result,
	     struct error *err);

void work_forget(struct supervisor *sup);

/* Stops the run that is under way, if there is one: gracefully, or at once. */
void work_stop(struct supervisor *sup, enum supervisor_cut cut, bool now);

/* Returns the name of the output files of the part that runs in this step (struct work). The
 * caller frees it. */
char *work_name(const struct supervisor *sup);

/*
 * Reads from the log what the part that ran in this step had reported when its supervisor was
 * killed. The caller releases it.
 */
void work_recall(const struct supervisor *sup, struct agent_summary *ret_heard);

#endif
