/* The table of mechanisms, and shared helpers: see mechanism.h. */
#include "fence/mechanism/mechanism.h"

#include "fence/watch/limit.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct mechanism mechanisms[] = {
#define MECHANISM_ENTRY(id)                                         \
	[MECHANISM_##id] = { .name = #id,                           \
			     .detect = mechanism_##id##_detect,     \
			     .plan = mechanism_##id##_plan,         \
			     .start = mechanism_##id##_start,       \
			     .mount = mechanism_##id##_mount,       \
			     .classify = mechanism_##id##_classify, \
			     .end = mechanism_##id##_end },
	MECHANISM_LIST(MECHANISM_ENTRY)
#undef MECHANISM_ENTRY
};

_Static_assert(sizeof mechanisms / sizeof *mechanisms == MECHANISM_COUNT,
	       "every mechanism has an entry");

const struct mechanism *mechanism_find(const char *name)
{
	for (size_t i = 0; i < MECHANISM_COUNT; i++)
		if (strcmp(mechanisms[i].name, name) == 0)
			return &mechanisms[i];
	return NULL;
}

const struct mechanism *mechanism_choose(bool image, char **ret_why)
{
	static const enum mechanism_id best[] = { MECHANISM_bwrap, MECHANISM_podman,
						  MECHANISM_docker };
	enum { COUNT = sizeof best / sizeof *best };
	struct error first = { 0 };
	struct error later;

	*ret_why = NULL;
	for (size_t i = image ? 1 : 0; i < COUNT; i++) {
		const struct mechanism *at = &mechanisms[best[i]];

		if (at->detect(first.text[0] ? &later : &first) == 0) {
			*ret_why = first.text[0] ? mem_dup(first.text) : NULL;
			return at;
		}
	}
	return &mechanisms[best[image ? 1 : 0]]; /* whose remedy is the one to follow */
}

bool mechanism_shares_host(const struct mechanism *mechanism)
{
#define ID(name) MECHANISM_##name,
	static const enum mechanism_id sharing[] = { FENCE_MECHANISMS_SHARING(ID) };
#undef ID

	for (size_t i = 0; i < sizeof sharing / sizeof *sharing; i++)
		if (mechanism == &mechanisms[sharing[i]])
			return true;
	return false;
}

uint64_t mechanism_setup_ms(const struct fence_plan *plan)
{
	return MECHANISM_SETUP_MS + MECHANISM_SETUP_MS_PER_RULE * plan->rule_count;
}

int mechanism_check_program(const struct fence_plan *plan, const char *program, struct error *err)
{
	AUTO_FREE char *real = realpath(program, NULL);
	const struct fence_rule *rule = real ? fence_plan_decide(plan, real) : NULL;

	if (rule && rule->access == WIRE_WRITE)
		return error_with(
			err, ERROR_REFUSED,
			"no fence: the command could replace '%s'; install it outside the folders "
			"that the command may write",
			real);
	return 0;
}

int mechanism_refuse_image(const struct fence_plan *plan, struct error *err)
{
	if (!plan->spec->image)
		return 0;
	return error_with(
		err, ERROR_REFUSED,
		"the image '%.200s' needs a container, and the fence is '%s': choose it with "
		"--fence podman or --fence docker, or remove the image (--image none)",
		plan->spec->image, plan->mechanism->name);
}

int mechanism_prepare_child(const struct mechanism_start *start, struct error *err)
{
	sigset_t none;

	const int wanted[WIRE_FD_END] = { start->stdio[0], start->stdio[1], start->complaints,
					  start->control, start->stdio[2] };

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL); /* if ignored, wait() would not work */
	setsid();                 /* ringfence passes on signals to its process group */

	if (fd_place(wanted, WIRE_FD_END) < 0)
		return error_sys(err, "place the descriptors");
	return limit_enter(start->limiter, err);
}

static const char own_complaint[] = "ringfence: ";

void mechanism_complain(const struct mechanism_start *start, const struct error *err)
{
	dprintf(start->complaints, "%s%s", own_complaint, err->text);
}

bool mechanism_complained(const char *complaints, int status, struct error *err)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		error_set(err, "no fence: setup timed out (is a file system hanging?)");
		return true;
	}
	if (strncmp(complaints, own_complaint, strlen(own_complaint)) != 0)
		return false;
	error_set(err, "%s", complaints + strlen(own_complaint));
	return true;
}
