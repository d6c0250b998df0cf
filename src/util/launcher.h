/*
 * A launcher: a process that stays where this one was when it was made, and starts others there.
 *
 * This process may move to namespaces of its own, such as the view of a draft. A program that needs
 * the host's, such as a container engine, is then started by the launcher. Its process is a child
 * of this one all the same.
 */
#ifndef UTIL_LAUNCHER_H
#define UTIL_LAUNCHER_H

#include "util/error.h"

#include <stddef.h>
#include <sys/types.h>

struct launcher;

/* Runs in the new process, with the argument's bytes and this descriptor; its result is the exit
 * status. */
typedef int launcher_fn(const void *argument, size_t size, int fd);

enum { LAUNCHER_ARGUMENT = 1 << 16 }; /* the most bytes of an argument */

/* Makes a launcher, or returns NULL with err set. It ends with this process. */
struct launcher *launcher_new(struct error *err);
void launcher_free(struct launcher *launcher);

/*
 * Runs a function of this program in a new child of this process. fd: passed on, or -1. Without a
 * launcher (NULL), the child is an ordinary one. Returns its pid, or -1 with err set.
 */
pid_t launcher_run(const struct launcher *launcher, launcher_fn *run, const void *argument,
		   size_t size, int fd, struct error *err);

#endif
