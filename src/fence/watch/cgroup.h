/*
 * Control groups of the kernel, version 1 and 2: a group for one run, below the one that this process
 * is in.
 *
 * Nothing outside of the own group is touched, and where the kernel or its administrator does not
 * allow a group, there is none. The folder of a group is locked while its ringfence lives; one that
 * nobody holds is left from a ringfence that was killed, and is removed when the next group is made
 * or the run is recovered. No group can be reached from inside: cgroup file systems are not mounted
 * there.
 */
#ifndef FENCE_WATCH_CGROUP_H
#define FENCE_WATCH_CGROUP_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

/* Where this process is, as folders; NULL where there is no such hierarchy. */
struct cgroup_place {
	char *v2;
	char *v1[CGROUP_CONTROLLERS];
};

struct cgroup_part {
	char *folder;
	int version; /* 0: there is none */
	int lock;
	int procs; /* open, for whoever joins */
	uint64_t value;
};

struct cgroup {
	struct cgroup_part parts[CGROUP_CONTROLLERS];
	char *own;   /* version 2: the folder that this process was in, and ... */
	char *aside; /* ... where it has moved to; NULL: it has not */
	int aside_lock;
};

#define CGROUP_INIT                                               \
	((struct cgroup){ .aside_lock = -1,                       \
			  .parts = { { .lock = -1, .procs = -1 }, \
				     { .lock = -1, .procs = -1 }, \
				     { .lock = -1, .procs = -1 } } })

/* Reads where this process is from texts in the format of /proc/self/mountinfo and /proc/self/cgroup.
 * Nothing found is no error. */
void cgroup_place_read(const char *mounts, const char *membership, struct cgroup_place *ret_place);
void cgroup_place_find(struct cgroup_place *ret_place);
void cgroup_place_release(struct cgroup_place *place);

/* Could a group for these limits be made here? (A guess: cgroup_make is the proof.) */
bool cgroup_likely(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS]);

/*
 * Makes groups with these limits (bytes, thousandths of a CPU, processes; 0: none), as many of them as
 * can be had; what is there afterwards is in group->parts.
 */
void cgroup_make(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS],
		 struct cgroup *group);

/* Moves the calling process in. Returns 0, or -1 with err set. */
int cgroup_join(const struct cgroup *group, struct error *err);

/* Are the limits in force, and is this process in every part? -1 with err set if not. */
int cgroup_check(const struct cgroup *group, pid_t member, struct error *err);

/* The highest use so far, and how often the limit was met; 0 where that is not known. */
uint64_t cgroup_peak(const struct cgroup *group, enum cgroup_controller controller);
uint64_t cgroup_trips(const struct cgroup *group, enum cgroup_controller controller);

/* Ends what is left in the group and removes it. */
void cgroup_remove(struct cgroup *group);

/* Removes the groups of runs that were killed. */
void cgroup_recover(const struct cgroup_place *place);

#endif
