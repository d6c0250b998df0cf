/*
 * No fence, at the user's explicit request. ringfence-init still supervises the command (lifeline,
 * signals, stragglers), but nothing is confined or verified.
 */
#include "fence/fence_result.h"
#include "fence/mechanism/mechanism.h"

#include <stdio.h>
#include <unistd.h>

int mechanism_none_detect(struct error *err)
{
	(void)err;
	return 0;
}

int mechanism_none_plan(struct fence_plan *plan, struct error *err)
{
	if (mechanism_refuse_image(plan, err) < 0)
		return -1;
	if (plan->spec->listen_count)
		return error_set(
			err,
			"--listen needs a fence with its own network; without a fence, the command can use the host's ports");
	if (plan->spec->net == FENCE_NET_LIST)
		return error_set(
			err,
			"--allow needs a fence with its own network; without a fence, the command can reach every host");
	if (plan->identity.mapped)
		return error_set(
			err,
			"without a fence, the command would run as root; switch to a regular user first");
	plan->weaker = FENCE_WEAKER_NO_FENCE;
	return 0;
}

int mechanism_none_start(struct mechanism_start *start, struct error *err)
{
	pid_t child = fork();

	if (child < 0)
		return error_sys(err, "start a process");
	if (child == 0) {
		char *const arguments[] = { (char *)"ringfence-init", NULL };
		char *const environment[] = { NULL };

		if (mechanism_prepare_child(start, err) == 0) {
			execve(start->plan->init, arguments, environment);
			error_sys(err, "start '%s'", start->plan->init);
		}
		dprintf(2, "%s", err->text);
		_exit(FENCE_EXIT_NOT_SET_UP);
	}
	start->child = child;
	return 0;
}

int mechanism_none_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	(void)start;
	(void)tree;
	return error_set(err, "without a fence, there is no file tree to mount");
}

void mechanism_none_classify(const char *complaints, int status, struct error *err)
{
	error_set(err, "ringfence-init exited early (status %d) %s", status, complaints);
}

/* Init ends by the lifeline. */
void mechanism_none_end(struct mechanism_start *start, const int *status)
{
	(void)start;
	(void)status;
}
