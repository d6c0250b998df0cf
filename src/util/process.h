/* Child processes and programs. */
#ifndef UTIL_PROCESS_H
#define UTIL_PROCESS_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Kills a child and, at the same instant, the process group that it leads. One by one, a process
 * of the group could be left behind: if this process is killed in between, or if that process
 * waits for one that is dead.
 */
void process_kill(pid_t child);

/*
 * Kills all children of this process and waits until none is left. Orphaned descendants become its
 * children (it must be process 1 or a subreaper) and are killed in the next round.
 */
void process_end_children(void);

/* Finds a program in PATH, for a command in a fence: one that runs outside is found by taint_find()
 * or process_find_system(). Returns its path, which the caller frees, or NULL. */
char *process_find(const char *name);

/* Finds the system's own program, never one from PATH: the file whose full path the environment
 * variable holds, or the one in a system folder. Returns its path, which the caller frees, or
 * NULL. */
char *process_find_system(const char *name, const char *variable);

/* Finds one of our own programs: next to this one, or in the installation folder. The caller frees
 * *ret_path. Returns 0, or -1 with err set. */
int process_beside(const char *name, char **ret_path, struct error *err);

/*
 * Runs a program, by its path, in the folder /, and captures its stdout; stdin and stderr are
 * /dev/null. Returns its exit status, or -1 if it could not be started or was killed after most_ms.
 */
int process_output(const char *program, char *const *arguments, char *const *environment,
		   uint64_t most_ms, struct buffer *output);

/*
 * Runs a program, by its path, with these bytes as its stdin, in the folder / and in a process
 * group of its own; stdout and stderr are /dev/null. Returns its exit status, or -1 with errno if
 * it could not be started or was killed, after most_ms (ETIMEDOUT) or by a signal (ECHILD).
 */
int process_feed(const char *program, char *const *arguments, char *const *environment,
		 const void *input, size_t size, uint64_t most_ms);

/*
 * Runs a function in a new process and in new namespaces (flags: CLONE_NEW*). Returns its pid, or
 * -1 with errno.
 *
 * A borrowed process shares this one's memory, and this one is suspended until it execs or exits,
 * so nothing is copied. A forked process has a copy.
 */
pid_t process_borrow(int (*run)(void *), void *argument, int flags);
pid_t process_fork(int (*run)(void *), void *argument, int flags);

/*
 * Becomes a program, in the folder /, with no signal blocked and only these descriptors: wanted[i]
 * becomes i (fd_place()). For a process that process_borrow() has made. Returns, with errno, only
 * if that fails.
 */
void process_become(const char *program, char *const *arguments, char *const *environment,
		    const int *wanted, int count);

#endif
