/* The state of a running plan, shared by the parts of a session. */
#ifndef FENCE_RUN_SESSION_H
#define FENCE_RUN_SESSION_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "fence/mechanism/mechanism.h"
#include "fence/run/relay.h"
#include "fence/run/run_record.h"
#include "fence/run/terminal.h"
#include "fence/run/way_out.h"
#include "fence/tree/grant.h"
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
	struct grant_list grants; /* of a command that shares the host's file tree */
	int home_lock;            /* see run_home.h; or -1 */
	struct wire_use use;
	struct rusage spent;
	struct buffer complaints;
	struct mechanism_start how;
	int control;
	enum wire_state wire; /* protocol state with init */
	int complaints_fd;
	int signals;
	int abstract; /* an abstract socket on the host that init must not reach */
	pid_t child;
	pid_t first; /* of the fence's processes: init, or the child above it */
	int child_status;
	bool child_gone, control_gone;
	bool running, ended; /* the command has started; its result is known */
	bool lifeline_gone;
	bool exited; /* only init is left inside, and it is about to exit */
	bool had_children;
	uint64_t deadline_ms; /* of the set-up, then the command, then its grace period; 0: none */
	sigset_t saved_mask;
};

/* Starts the mechanism, and writes the order for init while the mechanism sets up. Returns 0, or -1
 * with err set. */
int session_start(struct session *session, struct error *err);

#endif
