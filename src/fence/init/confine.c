/* Limits and the seccomp filters: see confine.h. */
#include "fence/init/confine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.inc" /* known_calls, refused_calls; made by filter_gen.c */

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

static int install(struct sock_filter *steps, size_t count, struct error *err)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = steps };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_sys(err, "install the seccomp filter");
	return 0;
}

int confine_seccomp(struct error *err)
{
	if (install(known_calls, sizeof known_calls / sizeof *known_calls, err) < 0 ||
	    install(refused_calls, sizeof refused_calls / sizeof *refused_calls, err) < 0)
		return -1;
	return 0;
}
