/*
 * Samples, from outside, the resources that a fence's processes use, for limits that no control
 * group enforces.
 *
 * Processes are found by walking from parent to child, so other processes on the host cost nothing.
 * The kernel adds the bytes written by a dead process to its reaper, and init is the last reaper:
 * its counters and those of living processes add up to the total.
 */
#ifndef FENCE_WATCH_RESOURCE_USE_H
#define FENCE_WATCH_RESOURCE_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct resource_use {
	uint64_t memory;      /* resident; shared memory counts for each process */
	uint64_t memory_fair; /* shared memory counts once; only sampled from `fair_from` up */
	uint64_t written;
	uint64_t tasks;      /* processes and threads, except the first process and init */
	uint64_t most_files; /* open in one process */
	pid_t hidden;        /* a living process whose I/O counters are unreadable; 0: none */
};

struct resource_use_wanted {
	pid_t first;  /* the mechanism's process */
	bool is_init; /* `first` is init itself */
	int counters; /* descriptor of init's counters, or -1 */
	bool written, files;
	uint64_t fair_from; /* 0: never */
};

/* Reports whether this kernel lets us find child processes. */
bool resource_use_possible(void);

/* Lists the descendants of a process, parents first, up to a maximum. Returns their number; the
 * caller frees *ret_pids. */
size_t resource_use_processes(pid_t first, size_t most, pid_t **ret_pids);

/* Takes one sample. */
void resource_use_look(const struct resource_use_wanted *wanted, struct resource_use *ret_usage);

#endif
