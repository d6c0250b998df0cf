/* Processes below this one. */
#ifndef UTIL_PROCESS_H
#define UTIL_PROCESS_H

/*
 * Kills the children of this process and waits until it has none. Orphans further down become its
 * children (it must be process 1 or a sub-reaper) and are met on the next round.
 */
void process_end_children(void);

#endif
