/* The table of mechanisms, made from one list, so that a missing operation is an undeclared name;
 * and what they share. */
#include "fence/fence_mechanism.h"

#include "fence/watch/limit.h"
#include "util/fd.h"

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

int fence_mechanism_prepare_child(const struct fence_start *start, struct error *err)
{
	sigset_t none;

	const int wanted[WIRE_FD_END] = { start->stdio[0], start->stdio[1], start->complaints,
					  start->control, start->stdio[2] };

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL); /* ignored, nobody could wait for anybody */
	setsid(); /* a signal to the caller's process group is for ringfence, which passes it on */

	if (fd_place(wanted, WIRE_FD_END) < 0)
		return error_sys(err, "place the descriptors");
	return limit_enter(start->limiter, err);
}
