/* Processes below this one. */
#ifndef UTIL_PROCESS_H
#define UTIL_PROCESS_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Kills the children of this process and waits until it has none. Orphans further down become its
 * children (it must be process 1 or a sub-reaper) and are met on the next round.
 */
void process_end_children(void);

/* Where PATH has a program; the caller frees. NULL: nowhere. */
char *process_find(const char *name);

/* The system's own program, never one from PATH: the one that the environment variable names by its
 * full path, or the one in a folder of the system. The caller frees. NULL: nowhere. */
char *process_find_system(const char *name, const char *variable);

/* A program of our own: beside this one, or where it was installed to. The caller frees. Returns 0, or -1 with
 * err set. */
int process_beside(const char *name, char **ret_path, struct error *err);

/*
 * What a program (found in PATH) prints, with nothing to read and no complaints shown. Returns its exit
 * status, or -1 if it could not be started or took longer than the time; then it has been killed.
 */
int process_output(char *const *arguments, uint64_t most_ms, struct buffer *output);

/*
 * Runs a function in a new process and in new namespaces (flags: clone's CLONE_NEW*). Returns its id, or -1
 * with errno.
 *
 * A borrowed process has this one's memory, and this one waits until it starts another program or ends:
 * nothing is copied and nobody is woken. A forked one has a copy.
 */
pid_t process_borrow(int (*run)(void *), void *argument, int flags);
pid_t process_fork(int (*run)(void *), void *argument, int flags);

#endif
