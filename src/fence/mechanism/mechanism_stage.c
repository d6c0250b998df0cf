/* Builds the file tree on a stage, for mechanisms that need a finished one: see mechanism.h and
 * stage.h. */
#include "fence/fence_result.h"
#include "fence/mechanism/mechanism.h"
#include "fence/tree/stage.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct building {
	struct mechanism_start *start;
	const struct tree *tree;
	mechanism_ready_fn *ready;
	pid_t parent;
	int stage;  /* pidfd of the process that entered the stage */
	char *root; /* path of the tree, or NULL with err set */
	struct error err;
};

int mechanism_stay_with(const struct mechanism_start *start, pid_t parent, struct error *err)
{
	struct itimerval most = { .it_value = { .tv_sec = (time_t)(mechanism_setup_ms(start->plan) /
								   1000) } };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
	    setitimer(ITIMER_REAL, &most, NULL) < 0)
		return error_sys(err, "tie the process to ringfence");
	return 0;
}

void mechanism_stand_alone(void)
{
	struct itimerval never = { 0 };

	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	setitimer(ITIMER_REAL, &never, NULL);
}

/*
 * After root switched to another user, root owns /proc/self until the next execve(), and no
 * namespace can be set up. Making the process dumpable fixes that, but also lets that user inspect
 * it. So nothing of root's may be left in it.
 */
static int make_dumpable(unsigned int first_closed, struct error *err)
{
	env_wipe();
	if (syscall(SYS_close_range, first_closed, ~0U, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return error_sys(err, "separate from root's own process");
	return 0;
}

int mechanism_enter_stage(const struct mechanism_start *start, unsigned int first_closed,
			  struct error *err)
{
	const struct fence_identity *identity = &start->plan->identity;

	if (identity->switched && make_dumpable(first_closed, err) < 0)
		return -1;
	return stage_enter(identity, err);
}

static int run_builder(void *argument)
{
	struct building *how = argument;

	if (mechanism_stay_with(how->start, how->parent, &how->err) == 0 &&
	    stage_join(&how->start->plan->identity, how->stage, &how->err) == 0)
		how->root = tree_build(how->tree, how->start->program, &how->err);
	if (how->root) /* before this process exits, because the child is waiting */
		how->ready(how->start, how->root);
	return how->root ? 0 : FENCE_EXIT_NOT_SET_UP;
}

/* Returns 0, or -1 with how->err set. */
static int build(struct building *how)
{
	AUTO_FD process = (int)syscall(SYS_pidfd_open, how->start->child, 0);
	int status = 0;

	how->stage = process;

	pid_t builder = process < 0 ? -1 : process_borrow(run_builder, how, 0);

	if (builder < 0)
		return error_sys(&how->err, "start building the file tree");
	while (waitpid(builder, &status, 0) < 0 && errno == EINTR)
		;
	if (mechanism_complained("", status, &how->err))
		return -1;
	if (WIFSIGNALED(status))
		return error_set(&how->err,
				 "no fence: the process that builds the file tree was killed");
	return how->root ? 0 : -1;
}

void mechanism_build(struct mechanism_start *start, const struct tree *tree,
		     mechanism_ready_fn *ready)
{
	struct building how = { .start = start, .tree = tree, .ready = ready, .parent = getpid() };

	if (build(&how) < 0) {
		mechanism_complain(start, &how.err);
		process_kill(start->child);
	}
	free(how.root);
}
