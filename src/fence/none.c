/*
 * No fence at all: the user's explicit and ugly wish. ringfence-init still supervises the command
 * (lifeline, signals, stragglers), but nothing is confined and nothing is proven.
 */

#include "fence/fence_mechanism.h"
#include "fence/fence_result.h"

#include <stdio.h>
#include <unistd.h>

int none_detect(struct error *err)
{
	(void)err;
	return 0;
}

int none_plan(struct fence_plan *plan, struct error *err)
{
	if (plan->spec->listen_count)
		return error_set(
			err,
			"--listen needs a fence with its own network; without a fence the host's ports are there anyway");
	if (plan->spec->net == FENCE_NET_LIST)
		return error_set(
			err,
			"--allow needs a fence with its own network; without a fence every host can be reached anyway");
	if (plan->identity.mapped)
		return error_set(
			err,
			"without a fence root would run the command as root; become a plain user first");
	plan->weaker = FENCE_WEAKER_NO_FENCE;
	return 0;
}

int none_start(const struct fence_start *start, pid_t *ret_pid, struct error *err)
{
	pid_t child = fork();

	if (child < 0)
		return error_sys(err, "start a process");
	if (child == 0) {
		char *const arguments[] = { (char *)"ringfence-init", NULL };
		char *const environment[] = { NULL };

		if (fence_mechanism_prepare_child(start, err) == 0) {
			execve(start->plan->init, arguments, environment);
			error_sys(err, "start '%s'", start->plan->init);
		}
		dprintf(2, "%s", err->text);
		_exit(FENCE_EXIT_NOT_SET_UP);
	}
	*ret_pid = child;
	return 0;
}

void none_classify(const char *complaints, int status, struct error *err)
{
	error_set(err, "ringfence-init ended early (status %d) %s", status, complaints);
}
