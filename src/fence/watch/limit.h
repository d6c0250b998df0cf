/*
 * Limits of a run: what is asked for, what keeps it here, and whether it was run into.
 *
 *	memory, cpus, processes	a control group (cgroup.h) where there can be one; else watching, the
 *				choice of CPUs, and the fence's own user namespace
 *	open-files, file-size	limits of the process
 *	tmp-size		the size of the fence's own file systems
 *	disk			watching (resource_use.h)
 *	time			the session's clock
 *
 * A limit that cannot be kept is a refusal that names it, unless the user accepted that. What is
 * kept is read back before the command starts: here what only the host sees, and by init's canary
 * "limits" the rest.
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
	int counters;          /* init's own; -1: not needed, or not there yet */
	unsigned int watched;  /* a bit for each limit that a look tells something about */
	unsigned int suspects; /* a bit for each limit that the last look found exceeded */
	pid_t suspect;         /* a process that did not show what it writes */
	bool hidden;           /* the run was ended for that */
	uint64_t most_files;   /* that a process was seen to have open */
	uint64_t next_ms;      /* when to look again; 0: nothing is watched */
	struct fence_use seen; /* the highest of what was looked at */
};

#define LIMITER_INIT ((struct limit_set){ .group = CGROUP_INIT, .counters = -1 })

/* Chooses what keeps each limit, and makes the groups. Returns 0, or -1 with err set: one cannot be
 * kept. result->limits and its warnings are filled. */
int limit_begin(struct limit_set *limiter, const struct fence_plan *plan,
		struct fence_result *result, struct error *err);

/* What init must do, and read back. */
void limit_describe(const struct limit_set *limiter, struct wire_limits *ret_limits);

/* The size of each of the fence's own file systems; 0: the kernel's choice. Memory bounds it too, as
 * their files are in memory. */
uint64_t limit_tmp_size(const struct fence_spec *spec);

/* In the child that becomes the mechanism. Returns 0, or -1 with err set. */
int limit_enter(const struct limit_set *limiter, struct error *err);

/* Reads the groups back. Returns 0, or -1 with err set. */
int limit_check(const struct limit_set *limiter, pid_t child, struct error *err);

/* From when on to look, and one look: the limit that the run must end for, or FENCE_LIMIT_COUNT. */
void limit_watch(struct limit_set *limiter, uint64_t now_ms);
enum fence_limit limit_look(struct limit_set *limiter, pid_t child, uint64_t now_ms);

/* Has the kernel ended a process for want of memory in the group? It may have been init. */
bool limit_killed(const struct limit_set *limiter);

/* When all is over: what was used, and what was run into. */
void limit_settle(const struct limit_set *limiter, const struct rusage *spent,
		  const struct wire_use *use, struct fence_result *result);

/* Removes the groups. */
void limit_end(struct limit_set *limiter);

#endif
