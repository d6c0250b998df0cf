/* Limits and the seccomp filter: see confine.h. */
#include "fence/init/confine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.inc" /* filter_steps; made by filter_gen.c */

/* A fork bomb ends here. Threads count, so a parallel build needs some room. */
enum { MOST_PROCESSES = 2048 };

static int lower(int resource, rlim_t most, const char *name, struct error *err)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return error_sys(err, "read the limit of %s", name);
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit(resource, &limit) < 0)
		return error_sys(err, "set the limit of %s", name);
	return 0;
}

int confine_limits(struct error *err)
{
	if (lower(RLIMIT_CORE, 0, "core files", err) < 0 ||
	    lower(RLIMIT_RTPRIO, 0, "real-time priority", err) < 0 ||
	    lower(RLIMIT_NPROC, MOST_PROCESSES, "processes", err) < 0)
		return -1;
	return 0;
}

int confine_seccomp(struct error *err)
{
	struct sock_fprog program = {
		.len = sizeof filter_steps / sizeof *filter_steps,
		.filter = filter_steps,
	};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_sys(err, "install the seccomp filter");
	return 0;
}
