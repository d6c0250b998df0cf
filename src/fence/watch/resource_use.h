/*
 * What the processes of a fence use, looked at from outside: for limits that no group keeps.
 *
 * They are found by walking from parent to child, so processes of the host cost nothing. The kernel
 * adds what a dead process wrote to whoever reaped it, and init reaps last: its own counters and those
 * of the living together are everything.
 */
#ifndef FENCE_WATCH_RESOURCE_USE_H
#define FENCE_WATCH_RESOURCE_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct resource_use {
	uint64_t memory;      /* resident; what is shared counts for each that has it */
	uint64_t memory_fair; /* what is shared counts once; only looked at from `fair_from` on */
	uint64_t written;
	uint64_t tasks;      /* processes and threads, without the first process and init */
	uint64_t most_files; /* open in one process */
	pid_t hidden;        /* a living process that does not show what it writes; 0: none */
};

struct resource_use_wanted {
	pid_t first;  /* the mechanism's process */
	bool is_init; /* it is init itself */
	int counters; /* init's counters, open; -1: none */
	bool written, files;
	uint64_t fair_from; /* 0: never */
};

/* Can processes be found on this kernel? */
bool resource_use_possible(void);

/* Processes below this one, parents first, without itself; at most so many. Returns how many; the caller
 * frees. */
size_t resource_use_processes(pid_t first, size_t most, pid_t **ret_pids);

/* Looks once. */
void resource_use_look(const struct resource_use_wanted *wanted, struct resource_use *ret_usage);

#endif
