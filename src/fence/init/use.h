/* Resource use of a run that only init knows. */
#ifndef FENCE_INIT_USE_H
#define FENCE_INIT_USE_H

#include "fence/init/order.h"

/* The number of living processes and threads, except init; 0 if unknown. */
uint64_t use_left(void);

/* Fills in the bytes written, the number of processes, their CPU time and memory, and whether a
 * private file system is full, once all else is dead. `counters` is open on init's own
 * /proc/PID/io. */
void use_read(const struct order *order, int counters, struct wire_use *use);

#endif
