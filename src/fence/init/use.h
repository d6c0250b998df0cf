/* What a run has used, as far as only init knows it. */
#ifndef FENCE_INIT_USE_H
#define FENCE_INIT_USE_H

#include "fence/init/order.h"

/* Processes and threads that there are, init not among them; 0 if that is not known. */
uint64_t use_left(void);

/* When all else is dead: fills in what was written, how many processes there were, and whether a
 * private file system is full. `counters` is open on init's own /proc/PID/io. */
void use_read(const struct order *order, int counters, struct wire_use *use);

#endif
