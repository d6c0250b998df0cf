/* One command line in the fence, from its start to the end of everything that it started. */
#ifndef LOOP_RUN_WORK_H
#define LOOP_RUN_WORK_H

#include "agent/agent.h"
#include "loop/supervise/supervisor.h"

struct work {
	const char *command;
	const char *input; /* on its stdin */
	size_t size;
	int64_t timeout_ms;
	const char *
		folder; /* what it prints goes to FOLDER/NAMEstdout.log and FOLDER/NAMEstderr.log, what
			       became of it to FOLDER/NAMEreport.json */
	const char *name;
	const struct agent_format
		*format;     /* how its stdout is read as it comes; NULL: not at all */
	const char *session; /* RINGFENCE_SESSION in its environment; NULL: none */
	const char *keep;    /* RINGFENCE_KEEP: a folder that it may write to; NULL: none */
	const char *login;   /* RINGFENCE_LOGIN; NULL: none */
};

/* Has the supervisor watch what runs. */
void work_watch(struct supervisor *sup);

/* Runs it to its end, and answers others meanwhile. One that spends more than its budget is ended. What
 * it printed and said is in sup->run until work_forget(). Returns 0, or -1
 * with err set: it was not started. */
int work_run(struct supervisor *sup, const struct work *work, struct runner_result *ret_result,
	     struct error *err);

void work_forget(struct supervisor *sup);

/* What the agent of the present iteration had said when its supervisor was killed, from the transcript. The
 * caller releases it. */
void work_recall(const struct supervisor *sup, struct agent_summary *ret_heard);

#endif
