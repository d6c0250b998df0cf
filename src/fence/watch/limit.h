/*
 * Limits of a run: the requested values, the means that enforce them here, and which were hit.
 *
 *	memory, cpus, processes	a control group (cgroup.h) if possible; otherwise sampling, CPU
 *				affinity, and the fence's own user namespace
 *	open-files, file-size	resource limits of the process
 *	tmp-size		the size of the fence's own file systems
 *	disk			sampling (resource_use.h)
 *	time			the session's clock
 *
 * A limit that cannot be enforced is refused by name, unless the user accepted that. Limits are
 * read back before the command starts: those that only the host sees here, the others by init's
 * canary "limits".
 */
#ifndef FENCE_WATCH_LIMIT_H
#define FENCE_WATCH_LIMIT_H

#include "fence/fence_plan.h"
#include "fence/fence_result.h"
#include "fence/watch/cgroup.h"

#include <sys/resource.h>

struct limit_set {
	const struct fence_plan *plan;
	struct fence_limited limits[FENCE_LIMIT_COUNT];
	struct cgroup group;
	int counters;          /* init's I/O counters; -1 if not needed or not yet received */
	unsigned int watched;  /* bits of the limits that sampling can observe */
	unsigned int suspects; /* bits of the limits that the last sample exceeded */
	pid_t suspect;         /* a process whose I/O counters were unreadable */
	bool hidden;           /* the run was ended because of that */
	uint64_t most_files;   /* highest number of open files seen in one process */
	uint64_t next_ms;      /* time of the next sample; 0: nothing is watched */
	struct fence_use seen; /* highest values sampled */
};

#define LIMITER_INIT ((struct limit_set){ .group = CGROUP_INIT, .counters = -1 })

/* Chooses the means that enforces each limit, and makes the control groups. Fills in result->limits
 * and adds warnings. Returns 0, or -1 with err set if a limit cannot be enforced. */
int limit_begin(struct limit_set *limiter, const struct fence_plan *plan,
		struct fence_result *result, struct error *err);

/* Fills in the limits that init must set or read back. */
void limit_describe(const struct limit_set *limiter, struct wire_limits *ret_limits);

/* The size of each of the fence's own file systems; 0: the kernel's default. The memory limit also
 * bounds it, because their files are in memory. */
uint64_t limit_tmp_size(const struct fence_spec *spec);

/* Enters the limits, in the child that becomes the mechanism. Returns 0, or -1 with err set. */
int limit_enter(const struct limit_set *limiter, struct error *err);

/* The same for a process that a container engine has started; 0 is the calling one. Returns 0, or
 * -1 with err set. */
int limit_adopt(const struct limit_set *limiter, pid_t process, struct error *err);

/* Checks the groups by reading them back. Returns 0, or -1 with err set. */
int limit_check(const struct limit_set *limiter, pid_t child, struct error *err);

/* limit_watch() schedules the first sample. limit_look() takes one, and returns the limit for which
 * the run must end, or FENCE_LIMIT_COUNT. `first` is init, or the process above it. */
void limit_watch(struct limit_set *limiter, uint64_t now_ms);
enum fence_limit limit_look(struct limit_set *limiter, pid_t first, bool is_init, uint64_t now_ms);

/* Reports whether the kernel has killed a process in the group, possibly init, for lack of
 * memory. */
bool limit_killed(const struct limit_set *limiter);

/* At the end of the run, fills in the resources used and the limits hit. */
void limit_settle(const struct limit_set *limiter, const struct rusage *spent,
		  const struct wire_use *use, struct fence_result *result);

/* Removes the groups. */
void limit_end(struct limit_set *limiter);

#endif
