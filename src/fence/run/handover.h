/*
 * The descriptors of ringfence-init where it cannot inherit them, because a container engine starts
 * it: it connects to a socket in a folder that the engine shows inside, and receives them.
 *
 *	FOLDER/socket	listens for one connection
 */
#ifndef FENCE_RUN_HANDOVER_H
#define FENCE_RUN_HANDOVER_H

#include "fence/run/wire.h"
#include "util/error.h"

#include <sys/types.h>

/* The folder inside. */
#define HANDOVER_FOLDER "/run/ringfence/handover"

/* Makes the socket in a folder. Returns it, or -1 with err set. */
int handover_listen(int folder, struct error *err);

/* Accepts init, which has just connected, and sends it these descriptors: fds[i] becomes i. Returns
 * its process id, with a pidfd in *ret_process, or -1 with err set. */
pid_t handover_give(int listener, const int fds[WIRE_FD_END], int *ret_process, struct error *err);

/* In init: takes the descriptors, unless it has inherited them. Returns 0, or -1 with errno. */
int handover_take(void);

#endif
