/* Limits and the seccomp filter: see confine.h. */
#include "fence/init/confine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.inc" /* filter_plain, filter_noticing, filter_tracing; made by filter_gen.c */

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

#define PROGRAM(steps) ((struct sock_fprog){ sizeof(steps) / sizeof *(steps), steps })

/* A call that is being looked at must not be begun again by every signal: Go sends itself hundreds. */
static int install_with_listener(const struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    program);
}

int confine_seccomp(enum confine_notice notice, int *ret_listener, struct error *err)
{
	struct sock_fprog plain = PROGRAM(filter_plain);
	struct sock_fprog asking = notice == CONFINE_TRACE ? PROGRAM(filter_tracing)
							   : PROGRAM(filter_noticing);

	*ret_listener = notice == CONFINE_SILENT ? -1 : install_with_listener(&asking);
	/* A kernel before 5.19, or a listener above us: without one, the plain filter is as strict. */
	if (*ret_listener < 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plain) < 0)
		return error_sys(err, "install the seccomp filter");
	return 0;
}
