/*
 * Control groups, version 1 and 2: a group for one run, below the group of this process.
 *
 * Nothing outside this process's own group is touched. If the kernel or the administrator does not
 * permit a group, none is made. A group's folder is locked while its ringfence lives; an unlocked
 * one was left by a killed ringfence, and is removed when the next group is made or the run is
 * recovered. Groups are unreachable from inside, where no cgroup file system is mounted.
 */
#ifndef FENCE_WATCH_CGROUP_H
#define FENCE_WATCH_CGROUP_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

/* The groups of this process as folders; NULL if there is no such hierarchy. */
struct cgroup_place {
	char *v2;
	char *v1[CGROUP_CONTROLLERS];
};

struct cgroup_part {
	char *folder;
	int version; /* 0: none */
	int lock;
	int procs; /* open for processes that join */
	uint64_t value;
};

struct cgroup {
	struct cgroup_part parts[CGROUP_CONTROLLERS];
	char *own;   /* version 2: the original group of this process, and ... */
	char *aside; /* ... the group that it has moved to, or NULL */
	int aside_lock;
};

#define CGROUP_INIT                                               \
	((struct cgroup){ .aside_lock = -1,                       \
			  .parts = { { .lock = -1, .procs = -1 }, \
				     { .lock = -1, .procs = -1 }, \
				     { .lock = -1, .procs = -1 } } })

/* Parses text in the format of /proc/self/mountinfo and /proc/self/cgroup. Finding no group is not
 * an error. */
void cgroup_place_read(const char *mounts, const char *membership, struct cgroup_place *ret_place);
void cgroup_place_find(struct cgroup_place *ret_place);
void cgroup_place_release(struct cgroup_place *place);

/*
 * For a process that is alone in its group of version 2, such as a new scope: moves it to a group
 * below, in which the processes that it starts are as well, and lets the group have limited groups.
 * cgroup_place_find() still finds the group above. Without effect if that is not possible.
 */
void cgroup_vacate(const struct cgroup_place *place);

/* Is this process the only one in a group of version 2? */
bool cgroup_alone_in(const char *folder);

/* Guesses whether groups for these limits can be made here; only cgroup_make() can tell. */
bool cgroup_likely(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS]);

/*
 * Makes as many groups with these limits (bytes, thousandths of a CPU, processes; 0: none) as
 * possible, and records them in group->parts.
 */
void cgroup_make(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS],
		 struct cgroup *group);

/* Moves a process into the groups; 0 is the calling one. Returns 0, or -1 with err set. */
int cgroup_adopt(const struct cgroup *group, pid_t process, struct error *err);

/* Checks that the limits are in force and that `member` is in every group. Returns 0, or -1 with
 * err set. */
int cgroup_check(const struct cgroup *group, pid_t member, struct error *err);

/* The peak use, and how often the limit was hit; 0 if unknown. */
uint64_t cgroup_peak(const struct cgroup *group, enum cgroup_controller controller);
uint64_t cgroup_trips(const struct cgroup *group, enum cgroup_controller controller);

/* Kills the remaining members and removes the groups. */
void cgroup_remove(struct cgroup *group);

/* Removes the groups of runs that were killed. */
void cgroup_recover(const struct cgroup_place *place);

#endif
