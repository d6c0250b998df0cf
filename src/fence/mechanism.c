/* The table of mechanisms, made from one list, so that a missing operation is an undeclared name;
 * and what they share. */
#include "fence/fence.h"
#include "fence/watch/limit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct fence_mechanism mechanisms[] = {
#define FENCE_ENTRY(id)                                   \
	[FENCE_MECHANISM_##id] = { .name = #id,           \
				   .detect = id##_detect, \
				   .plan = id##_plan,     \
				   .start = id##_start,   \
				   .classify = id##_classify },
	FENCE_MECHANISMS(FENCE_ENTRY)
#undef FENCE_ENTRY
};

_Static_assert(sizeof mechanisms / sizeof *mechanisms == FENCE_MECHANISM_COUNT,
	       "every mechanism has its entry");

const struct fence_mechanism *fence_mechanism_find(const char *name)
{
	if (strcmp(name, "auto") == 0)
		return &mechanisms[FENCE_MECHANISM_bwrap];
	for (size_t i = 0; i < FENCE_MECHANISM_COUNT; i++)
		if (strcmp(mechanisms[i].name, name) == 0)
			return &mechanisms[i];
	return NULL;
}

int fence_prepare_child(const struct fence_start *start, struct error *err)
{
	sigset_t none;

	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int wanted[WIRE_FD_END] = {
		start->stdio[0] >= 0 ? start->stdio[0] : null,
		start->stdio[1] >= 0 ? start->stdio[1] : null,
		start->complaints,
		start->control,
		start->stdio[2] >= 0 ? start->stdio[2] : null,
	};

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL); /* ignored, nobody could wait for anybody */
	setsid(); /* a signal to the caller's process group is for ringfence, which passes it on */

	/* First all of them out of the way, then each to its place. */
	for (int i = 0; i < WIRE_FD_END; i++)
		if ((wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, WIRE_FD_END)) < 0)
			return error_sys(err, "place descriptor %d", i);
	for (int i = 0; i < WIRE_FD_END; i++)
		if (dup2(wanted[i], i) < 0)
			return error_sys(err, "place descriptor %d", i);
	return limit_enter(start->limiter, err);
}
