/* A plan at work, as long as it lasts: what the parts of a session share. */
#ifndef FENCE_RUN_SESSION_H
#define FENCE_RUN_SESSION_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "fence/run/relay.h"
#include "fence/run/run_record.h"
#include "fence/run/terminal.h"
#include "fence/run/way_out.h"
#include "fence/watch/denial.h"
#include "fence/watch/limit.h"

#include <signal.h>
#include <sys/resource.h>

struct session {
	const struct fence_plan *plan;
	struct fence_result *result;
	struct run_record run;
	struct terminal terminal;
	struct relay *relay;
	struct denial_log denials;
	struct way_out way_out;
	struct limit_set limiter;
	struct wire_use use;
	struct rusage spent;
	struct buffer complaints;
	int control;
	enum wire_state wire; /* how far it is with init */
	int complaints_fd;
	int signals;
	int abstract; /* a socket of the host that init must not reach */
	pid_t child;
	int child_status;
	bool child_gone, control_gone;
	bool running, ended; /* the command was started; its end is known */
	bool lifeline_gone;
	bool exited; /* nothing is left inside but init, which ends too */
	bool had_children;
	uint64_t deadline_ms; /* of the set-up, then of the command, then of its grace; 0: none */
	sigset_t saved_mask;
};

/* Starts the mechanism, and writes what init is to do while that is at work. Returns 0, or -1 with err
 * set. */
int session_start(struct session *session, struct error *err);

#endif
